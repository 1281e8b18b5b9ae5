#!/usr/bin/env python3
"""Writes recipe.json: what PyTorch and torchvision compute for the parts of a recipe (smoothed and
mixed labels, dropout, also of attention weights, stochastic depth, mixup, CutMix, RandAugment, random
erasing, repeated augmentation, the learning rate's schedule, the average of the weights, the conversion
of a trained DeiT), for the tests to agree with.

Numbers come from MT19937's raw output (make_training.py) and from the program's own random numbers,
which are transcribed here. Run: python3 make_recipe.py
Made with PyTorch 1.13.1, torchvision 0.14.1 and Pillow 9.4.
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from PIL import Image
from torchvision.transforms import InterpolationMode, RandomErasing, autoaugment

from make_training import CASES, Network, examples, rounded, shapes, uniform, values, window

BITS = (1 << 64) - 1


def mixed_bits(value):
    value = (value + 0x9E3779B97F4A7C15) & BITS
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & BITS
    return value ^ (value >> 31)


class Numbers:
    """RandomNumbers of core/training/learned_parameters/random_numbers.h."""

    def __init__(self, seed):
        self.key = mixed_bits(seed)

    def of(self, what):
        if isinstance(what, str):
            code = 0xCBF29CE484222325
            for byte in what.encode():
                code = ((code ^ byte) * 0x100000001B3) & BITS
            what = code
        return Numbers(self.key ^ mixed_bits((what + 1) & BITS))

    def bits(self, index):
        return mixed_bits((self.key + index) & BITS)

    def uniform(self, index):
        return ((self.bits(index) >> 11) + 0.5) * 2.0**-53

    def below(self, count, index):
        return int(self.uniform(index) * count)

    def normal(self, index):
        radius = np.sqrt(-2 * np.log(self.uniform(2 * index)))
        return radius * np.cos(2 * np.pi * self.uniform(2 * index + 1))


# --- labels: F.cross_entropy ----------------------------------------------------


def smoothing():
    cases = []
    for seed, classes, smoothed, share in [(1, 5, 0.1, 1), (2, 10, 0.0, 0.3), (3, 10, 0.1, 0.7),
                                           (4, 3, 0.4, 0.0), (5, 2, 0.9, 1)]:
        logits = (4 * uniform(seed, (6, classes))).requires_grad_()
        first = torch.arange(6) % classes
        second = (torch.arange(6) * 3 + 1) % classes
        target = first
        if share < 1:
            target = share * F.one_hot(first, classes) + (1 - share) * F.one_hot(second, classes)
        loss = F.cross_entropy(logits, target, label_smoothing=smoothed, reduction="sum")
        (0.25 * loss).backward()
        cases.append({"seed": seed, "classes": classes, "smoothing": smoothed, "share": share,
                      "first": first.tolist(), "second": second.tolist() if share < 1 else [],
                      "loss": loss.item(), "weight": 0.25, "gradient": rounded(logits.grad)})
    return cases


# --- omissions: F.dropout and torchvision.ops.stochastic_depth -------------------


def check_dropout(p):
    """F.dropout is x * mask / (1 - p), and so is its gradient."""
    x = uniform(1, (40, 30)).requires_grad_()
    torch.manual_seed(3)
    y = F.dropout(x, p)
    torch.manual_seed(3)
    mask = (F.dropout(torch.ones(40, 30), p) != 0).double()
    y.backward(uniform(2, (40, 30)))
    assert torch.allclose(y, x * mask / (1 - p), rtol=1e-15, atol=0)
    assert torch.allclose(x.grad, uniform(2, (40, 30)) * mask / (1 - p), rtol=1e-15, atol=0)


def check_stochastic_depth(p):
    x = uniform(1, (40, 3, 2))
    torch.manual_seed(3)
    y = torchvision.ops.stochastic_depth(x, p, "row")
    torch.manual_seed(3)
    kept = torchvision.ops.stochastic_depth(torch.ones(40, 1, 1), p, "row") != 0
    assert torch.allclose(y, x * kept / (1 - p), rtol=1e-15, atol=0)


def check_attention_dropout(p):
    """nn.MultiheadAttention multiplies the map after softmax by mask / (1 - p)."""
    heads, tokens, width = 2, 5, 6
    module = torch.nn.MultiheadAttention(width, heads, dropout=p, batch_first=True)
    x = uniform(1, (3, tokens, width))
    torch.manual_seed(3)
    y, _ = module(x, x, x)
    torch.manual_seed(3)
    mask = F.dropout(torch.ones(3 * heads, tokens, tokens), p).unflatten(0, (3, heads))
    qkv = F.linear(x, module.in_proj_weight, module.in_proj_bias)
    q, k, v = qkv.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
    weights = (q @ k.transpose(-1, -2) / np.sqrt(width // heads)).softmax(-1)
    wanted = module.out_proj((mask * weights @ v).transpose(1, 2).flatten(2))
    assert torch.allclose(y, wanted, rtol=1e-10, atol=1e-12)


class Regularised(Network):
    """Drops numbers of the embedding, attention weights, and numbers and whole examples of both
    branches, where the program's random numbers do."""

    def __init__(self, case, parameters, numbers, dropout, attention, drop_path):
        super().__init__(case, parameters)
        self.numbers, self.dropout, self.last = numbers, dropout, drop_path
        self.attention_dropout, self.lengths = attention, None

    def dropped(self, weights):
        p, mask = self.attention_dropout, torch.ones_like(weights)
        if p == 0:
            return weights
        linformer = self.case["mechanism"] == "linformer"
        for example, numbers in enumerate(self.numbers):
            own = numbers.of("omission").of(2 * self.layer + 1).of("attention")
            queries = self.lengths[example] if self.lengths else weights.shape[2]
            keys = self.lengths[example] if self.lengths else weights.shape[3]
            for head in range(weights.shape[1]):
                drawn = own.of(head).of(0) if linformer else own.of(head)
                for i in range(queries):
                    for j in range(keys):
                        kept = drawn.uniform(i * keys + j) >= p
                        mask[example, head, i, j] = kept / (1 - p)
        return weights * mask

    def masked(self, x, place, drop_path):
        mask = torch.ones_like(x)
        for example, numbers in enumerate(self.numbers):
            own = numbers.of("omission").of(place)
            tokens = self.lengths[example] if self.lengths else x.shape[1]
            for i in range(tokens * x.shape[2]):
                kept = own.uniform(i) >= self.dropout
                mask[example, i // x.shape[2], i % x.shape[2]] = kept / (1 - self.dropout)
            mask[example] *= (own.of("path").uniform(0) >= drop_path) / (1 - drop_path)
        return x * mask

    def block(self, inner, x, layer):
        if layer == 0:
            x = self.masked(x, 0, 0)
        self.layer = layer
        return inner(x, layer)

    def image_block(self, x, layer, stage=""):
        return self.block(super().image_block, x, layer)

    def text_block(self, x, layer):
        return self.block(super().text_block, x, layer)

    def linear(self, x, name, *rest):
        y = super().linear(x, name, *rest)
        for branch, ends in enumerate([("attn.proj", "attn.c_proj"), ("mlp.fc2", "mlp.c_proj")]):
            if name.endswith(ends):
                path = self.last * self.layer / (self.case["layers"] - 1)
                y = self.masked(y, 2 * self.layer + 1 + branch, path)
        return y


def networks():
    """The loss and all gradients of a network with dropout, stochastic depth and mixed labels."""
    cases = []
    for name, dropout, attention, drop_path, smoothed, share in [
            ("softmax", 0.3, 0.0, 0.0, 0.0, 1), ("softmax", 0.0, 0.0, 0.6, 0.1, 1),
            ("first_multiplicative", 0.2, 0.0, 0.5, 0.1, 0.3),
            ("text_softmax", 0.25, 0.0, 0.5, 0.1, 1), ("texts_softmax", 0.3, 0.0, 0.5, 0.0, 1),
            ("softmax", 0.0, 0.4, 0.0, 0.0, 1), ("adder_identity", 0.0, 0.3, 0.0, 0.0, 1),
            ("first_multiplicative", 0.0, 0.5, 0.0, 0.0, 1), ("linformer", 0.0, 0.3, 0.0, 0.0, 1),
            ("synthesizer", 0.0, 0.3, 0.0, 0.0, 1), ("talking_heads", 0.0, 0.3, 0.0, 0.0, 1),
            ("text_softmax", 0.1, 0.5, 0.2, 0.0, 1), ("text_talking_heads", 0.0, 0.4, 0.0, 0.0, 1),
            ("texts_adder", 0.0, 0.4, 0.0, 0.0, 1)]:
        case = {**CASES[name], "layers": 2}
        parameters = values(case)
        inputs, targets = examples(case, 4, 7)
        numbers = [Numbers(5).of(i) for i in range(4)]
        network = Regularised(case, parameters, numbers, dropout, attention, drop_path)
        if case["kind"] == "texts":
            network.lengths = [1 + (i * 5 + 7) % case["context"] for i in range(4)]
        logits = network.logits(inputs)
        wanted = targets
        if share < 1:
            hot = F.one_hot(targets, case["classes"])
            wanted = share * hot + (1 - share) * hot.flip(0)
        loss = F.cross_entropy(logits, wanted, label_smoothing=smoothed)
        loss.backward()
        of = lambda t: torch.zeros_like(t) if t.grad is None else t.grad
        cases.append({"name": name, **case, "dropout": dropout,
                      "attention_dropout": attention, "drop_path": drop_path,
                      "smoothing": smoothed, "share": share, "loss": loss.item(),
                      "gradients": {n: rounded(of(t)) for n, t in parameters.items()}})
    return cases


# --- DAFT's biases: the entropy of Eq. 10 and the samples of Eq. 11 ----------------


def window_biases(own):
    """DAFT, Eq. 9."""
    r = own("r").flatten(1)
    centred = r - r.mean(-1, keepdim=True)
    deviation = centred.square().mean(-1, keepdim=True).sqrt()
    return own("gamma")[:, None] * centred / deviation + own("beta")[:, None]


class WithGumbelNoise(Network):
    """Multiplies the biases by F.gumbel_softmax(w, 0.5), whose exponential numbers are given."""

    def image_block(self, x, layer, stage=""):
        self.layer = layer
        return super().image_block(x, layer, stage)

    def window_biases(self, own, tokens):
        w = window_biases(own)
        numbers = Numbers(6).of("gumbel").of(self.layer)
        drawn = torch.tensor([[-np.log(numbers.of(head).uniform(i)) for i in range(w.shape[1])]
                              for head in range(len(w))])
        theirs = torch.Tensor.exponential_
        torch.Tensor.exponential_ = lambda self: self.copy_(drawn)
        product = w * F.gumbel_softmax(w, tau=0.5)
        torch.Tensor.exponential_ = theirs
        # gamma and beta for which Eq. 9 leaves the product as it is.
        mean = product.mean(-1)
        given = {"r": product, "beta": mean,
                 "gamma": (product - mean[:, None]).square().mean(-1).sqrt()}
        self.case = {**self.case, "mechanism": "daft-conv"}
        return super().window_biases(given.__getitem__, tokens)


def biases():
    cases = []
    for name, noise, weight in [("daft_conv", False, 0.3), ("daft_local", False, 0.001),
                                ("daft_one_hot", True, 0.0), ("daft_one_hot", True, 0.2)]:
        case = {**CASES[name], "layers": 2}
        parameters = values(case)
        inputs, targets = examples(case, 4, 7)
        network = (WithGumbelNoise if noise else Network)(case, parameters)
        loss = F.cross_entropy(network.logits(inputs), targets)
        entropy = sum(torch.distributions.Categorical(
            logits=window_biases(lambda n: parameters[f"blocks.{layer}.attn.{n}"])).entropy().sum()
            for layer in range(2))
        (loss + weight * entropy).backward()
        of = lambda t: torch.zeros_like(t) if t.grad is None else t.grad
        cases.append({"name": name, **case, "noise": noise, "weight": weight, "loss": loss.item(),
                      "entropy": entropy.item(),
                      "gradients": {n: rounded(of(t)) for n, t in parameters.items()}})
    return cases


# --- DAFT's conversion of a trained DeiT (Section 5.1): load_state_dict --------------


class Drawing(torch.nn.Module):
    """A converted network with values drawn by torch.nn.init from the program's random numbers."""

    def __init__(self, case, seed):
        super().__init__()
        for name, shape in shapes(case).items():
            self.draw(name, shape, Numbers(seed).of("beginning").of(name))

    def draw(self, name, shape, numbers):
        def drawn(of):
            return lambda tensor, *range: tensor.copy_(torch.tensor(
                [of(i, *range) for i in range_of(tensor)]).reshape(tensor.shape))

        range_of = lambda tensor: range(tensor.numel())
        theirs = torch.Tensor.uniform_, torch.Tensor.normal_
        torch.Tensor.uniform_ = drawn(lambda i, low, high: low + (high - low) * numbers.uniform(i))
        torch.Tensor.normal_ = drawn(lambda i, mean, deviation: mean + deviation * numbers.normal(i))
        tensor = torch.zeros(shape)
        if name.endswith(".r"):
            torch.nn.init.normal_(tensor)
        elif name.endswith((".to_q.weight", ".to_k.weight", ".qkv.weight")):
            torch.nn.init.xavier_uniform_(tensor)
        torch.Tensor.uniform_, torch.Tensor.normal_ = theirs
        module = self
        *path, last = name.split(".")
        for part in path:
            if not hasattr(module, part):
                module.add_module(part, torch.nn.Module())
            module = getattr(module, part)
        module.register_parameter(last, torch.nn.Parameter(tensor))


def conversions():
    """Values, loss and gradients of DAFT with the weights of a DeiT but for its positions, class token,
    queries and keys."""
    cases, seed = [], 3
    trained = CASES["softmax"]
    for mechanism, full_keys in [("daft-conv", False), ("daft-local", True)]:
        case = {**window(mechanism, 3, 3, 2, trained, full_keys), "layers": trained["layers"],
                "class_token": False, "positions": False}
        network = Drawing(case, seed)
        state = {n: t.detach() for n, t in values(trained).items() if n not in ("cls_token", "pos_embed")}
        for name in [n for n in state if ".qkv." in n]:
            v = state[name].chunk(3)[2]
            if full_keys:
                drawn = network.state_dict()[name].chunk(3)
                state[name] = torch.cat([drawn[0], drawn[1], v])
            else:
                del state[name]
                state[name.replace("qkv", "to_v")] = v
        missing, unexpected = network.load_state_dict(state, strict=False)
        assert not unexpected
        assert all(name.rsplit(".attn.")[1].split(".")[0] in ("to_q", "to_k", "r", "gamma", "beta")
                   for name in missing)
        parameters = dict(network.named_parameters())
        inputs, targets = examples(case, 4, 7)
        loss = F.cross_entropy(Network(case, parameters).logits(inputs), targets)
        loss.backward()
        cases.append({"name": mechanism, **case, "trained": trained, "drawn_from": seed,
                      "loss": loss.item(),
                      "values": {n: rounded(t) for n, t in parameters.items()},
                      "gradients": {n: rounded(t.grad) for n, t in parameters.items()}})
    return cases


# --- mixed images: timm's Mixup by batches ---------------------------------------


def mixing():
    """x = lam x + (1 - lam) x.flip(0), or a box of x.flip(0), with lam corrected to its area."""
    cases = []
    for height, width, share, row, column in [(7, 5, 0.3, 3, 2), (6, 8, 0.75, 0, 7), (28, 28, 0.5, 9, 27),
                                              (9, 9, 0.0, 4, 4), (8, 8, 1.0, 2, 2)]:
        x = uniform(11, (4, 2, height, width))
        blended = share * x + (1 - share) * x.flip(0)
        ratio = np.sqrt(1 - share)
        tall, wide = int(height * ratio), int(width * ratio)
        top, bottom = (int(n) for n in np.clip([row - tall // 2, row + tall // 2], 0, height))
        left, right = (int(n) for n in np.clip([column - wide // 2, column + wide // 2], 0, width))
        cut = x.clone()
        cut[:, :, top:bottom, left:right] = x.flip(0)[:, :, top:bottom, left:right]
        cases.append({"height": height, "width": width, "share": share, "row": row, "column": column,
                      "box": [top, bottom, left, right],
                      "box_share": 1 - (bottom - top) * (right - left) / (height * width),
                      "blended": rounded(blended[:, :, ::3, ::3]), "cut": rounded(cut[:, :, ::3, ::3])})
    return cases


def shares():
    """The share of numbers of Beta(alpha, alpha) below each tenth."""
    torch.manual_seed(1)
    tenths = torch.arange(1, 10) / 10
    return [{"alpha": alpha, "below": (torch.distributions.Beta(alpha, alpha).sample((400000,))[:, None]
                                       < tenths).double().mean(0).tolist()}
            for alpha in [0.2, 0.8, 1.0, 3.0]]


# --- repeated augmentation: a sampler of torch.utils.data --------------------------


class Repeated(torch.utils.data.Sampler):
    """Each index several times in a row, and as many of them as there are images (Hoffer et al. 2020;
    DeiT's RASampler for one process)."""

    def __init__(self, order, repeats):
        self.order, self.repeats = order, repeats

    def __len__(self):
        return len(self.order)

    def __iter__(self):
        return iter(torch.tensor(self.order).repeat_interleave(self.repeats)[:len(self)].tolist())


def random_order(numbers, count):
    """RandomOrder of core/training/data/random_order.h."""
    half = 1
    while 1 << 2 * half < count:
        half += 1
    mask, keys = (1 << half) - 1, [numbers.bits(i) for i in range(6)]

    def mixed(value):
        left, right = value >> half, value & mask
        for key in keys:
            left, right = right, left ^ mixed_bits(key ^ right) & mask
        return left << half | right

    order = []
    for value in map(mixed, range(count)):
        while value >= count:
            value = mixed(value)
        order.append(value)
    return order


def repetition():
    cases, images, batch, seed = [], 60, 20, 5
    for repeats in [1, 3, 7]:
        batches = []
        for epoch in range(3):
            order = random_order(Numbers(seed).of("order").of(epoch), images)
            loader = torch.utils.data.DataLoader(range(images), batch, sampler=Repeated(order, repeats))
            batches += [indices.tolist() for indices in loader]
        cases.append({"repeats": repeats, "batch": batch, "seed": seed, "batches": batches})
    return cases


# --- random erasing: torchvision on normalised images ------------------------------


class Drawn:
    """Replaces the numbers that RandomErasing draws by those of an image."""

    def __init__(self, numbers):
        self.numbers, self.trial, self.ranges = numbers, -1, 0
        self.theirs = torch.rand, torch.randint, torch.Tensor.uniform_, torch.Tensor.normal_

    def __enter__(self):
        torch.rand = lambda size: torch.tensor([self.numbers.uniform(0)])
        torch.randint = lambda low, high, size: torch.tensor([self.place(high)])
        torch.Tensor.uniform_ = lambda tensor, low, high: tensor.fill_(self.between(low, high))
        torch.Tensor.normal_ = lambda tensor: self.noise(tensor)

    def __exit__(self, *_):
        torch.rand, torch.randint, torch.Tensor.uniform_, torch.Tensor.normal_ = self.theirs

    def own(self):
        return self.numbers.of("box").of(self.trial)

    def between(self, low, high):
        self.trial += self.ranges % 2 == 0
        self.ranges += 1
        self.places = 2
        return low + (high - low) * self.own().uniform((self.ranges + 1) % 2)

    def place(self, count):
        self.places += 1
        return self.own().below(count, self.places - 1)

    def noise(self, tensor):
        noise = self.numbers.of("noise")
        flat = [noise.normal(i) for i in range(tensor.numel())]
        return tensor.copy_(torch.tensor(flat).reshape(tensor.shape))


def erasing():
    cases = []
    for probability, fill, height, width in [(1.0, "noise", 12, 9), (1.0, "zero", 7, 16),
                                             (0.5, "noise", 8, 8), (1.0, "noise", 3, 4)]:
        module = RandomErasing(p=probability, scale=(0.02, 1 / 3), ratio=(0.3, 1 / 0.3),
                               value="random" if fill == "noise" else 0)
        for seed in range(6):
            image = uniform(31, (2, height, width))
            with Drawn(Numbers(seed)):
                made = module(image)
            places = [i for i, (a, b) in enumerate(zip(made.flatten(), image.flatten())) if a != b]
            cases.append({"probability": probability, "fill": fill, "height": height, "width": width,
                          "seed": seed, "places": places, "values": rounded(made.flatten()[places])})
    return cases


# --- RandAugment: torchvision on PIL pictures -------------------------------------


MAGNITUDES = [0, 5, 9, 17, 30]


def augmentation():
    kinds = {"identity": "Identity", "shear_x": "ShearX", "shear_y": "ShearY",
             "translate_x": "TranslateX", "translate_y": "TranslateY", "rotate": "Rotate",
             "brightness": "Brightness", "colour": "Color", "contrast": "Contrast",
             "sharpness": "Sharpness", "posterise": "Posterize", "solarise": "Solarize",
             "autocontrast": "AutoContrast", "equalise": "Equalize"}
    cases = []
    for height, width, channels in [(28, 28, 1), (23, 40, 3)]:
        raw = uniform(21, (height, width, channels))
        pixels = ((raw + 2) ** 2 * 13 + 15).floor().numpy().astype(np.uint8)
        picture = Image.fromarray(pixels.squeeze())
        space = autoaugment.RandAugment()._augmentation_space(31, (height, width))
        for name, theirs in kinds.items():
            magnitudes, signed = space[theirs]
            for magnitude in MAGNITUDES:
                for negative in [False, True] if signed else [False]:
                    amount = float(magnitudes[magnitude]) if magnitudes.ndim > 0 else 0.0
                    made = np.asarray(autoaugment._apply_op(
                        picture, theirs, -amount if negative else amount,
                        InterpolationMode.NEAREST, None)).astype(np.int64).flatten()
                    # Sums of the bytes, weighed by their places: any other byte changes them.
                    places = np.arange(1, len(made) + 1)
                    cases.append({"height": height, "width": width, "channels": channels,
                                  "name": name, "magnitude": magnitude, "negative": negative,
                                  "sum": int(made.sum()), "weighed": int((made * places).sum()),
                                  "squares": int((made * made * (places % 251)).sum())})
    return cases


def drawn_augmentation():
    """RandAugment with its draws replaced by the program's."""
    cases = []
    picture_of = lambda raw: Image.fromarray(((raw + 2) ** 2 * 13 + 15).floor().numpy().astype(np.uint8))
    for operations, magnitude in [(1, 30), (2, 9), (4, 17)]:
        module, theirs = autoaugment.RandAugment(operations, magnitude), torch.randint
        for seed in range(8):
            numbers, chosen = Numbers(seed), []

            def drawn(count, size):
                if count == 2:  # the sign, which some operations lack
                    return torch.tensor([numbers.below(2, 2 * len(chosen) - 1)])
                chosen.append(numbers.below(count, 2 * len(chosen)))
                return torch.tensor(chosen[-1:])

            torch.randint = drawn
            made = np.asarray(module(picture_of(uniform(21, (23, 40, 3))))).astype(np.int64).flatten()
            torch.randint = theirs
            places = np.arange(1, len(made) + 1)
            cases.append({"operations": operations, "magnitude": magnitude, "seed": seed,
                          "sum": int(made.sum()), "weighed": int((made * places).sum()),
                          "squares": int((made * made * (places % 251)).sum())})
    return cases


# --- the rate, and the average of the weights -------------------------------------


def schedules():
    cases = []
    for kind, highest, warm_up, steps in [("cosine", 0.002, 10, 60), ("cosine", 0.5, 0, 7),
                                          ("linear", 0.01, 4, 30), ("constant", 0.3, 5, 20)]:
        optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=highest)
        rates = torch.optim.lr_scheduler
        left = steps - warm_up
        after = {"cosine": lambda: rates.CosineAnnealingLR(optimiser, left),
                 "linear": lambda: rates.LinearLR(optimiser, 1.0, 0.0, left),
                 "constant": lambda: rates.ConstantLR(optimiser, 1.0)}[kind]
        if warm_up:
            rise = rates.LinearLR(optimiser, 1 / warm_up, 1.0, warm_up - 1)
            schedule = rates.SequentialLR(optimiser, [rise, after()], [warm_up])
        else:
            schedule = after()
        found = []
        for _ in range(steps):
            found.append(schedule.get_last_lr()[0])
            optimiser.step()
            schedule.step()
        cases.append({"schedule": kind, "highest": highest, "warm_up": warm_up, "steps": steps,
                      "rates": found})
    return cases


def averages():
    cases = []
    for decay in [0.9, 0.999]:
        network = torch.nn.Linear(4, 3, bias=False)
        averaged = torch.optim.swa_utils.AveragedModel(
            network, avg_fn=lambda old, new, _: decay * old + (1 - decay) * new)
        for step in range(12):
            with torch.no_grad():
                network.weight.copy_(uniform(40 + step, (3, 4)))
            averaged.update_parameters(network)
        cases.append({"decay": decay, "steps": 12, "values": averaged.module.weight.flatten().tolist()})
    return cases


def main():
    for p in [0.1, 0.5]:
        check_dropout(p)
        check_attention_dropout(p)
        check_stochastic_depth(p)
    made = {"torch": torch.__version__, "smoothing": smoothing(), "networks": networks(),
            "biases": biases(), "mixing": mixing(), "erasing": erasing(), "augmentation": augmentation(),
            "schedules": schedules(), "averages": averages(), "conversions": conversions(),
            "shares": shares(), "repetition": repetition(), "drawn_augmentation": drawn_augmentation()}
    pathlib.Path(__file__).with_name("recipe.json").write_text(
        json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
