#!/usr/bin/env python3
"""The study adder-width in PyTorch: an independent implementation that uses a GPU if there is one.

    adder_width.py OUT.json DATASET VARIANT... [--patch 4 --depth 4 --steps 2800 --batch 64 ...]

A VARIANT is HEAD_WIDTHxHEADS-ARITHMETIC-ATTENTION as in `attnscope train --study adder-width`:
64x1-multiplicative-softmax, 8x8-adder-adder-identity. The networks, their initial values (other random
numbers), gradients and optimiser are those of docs/training.md: AdamW, cosine schedule with warm-up,
gradients clipped at norm 1, adder layers with a LayerNorm after each, X - W as the gradient of their
weights (rescaled as AdderNet's), HardTanh to their inputs, the sign to queries and keys. All seeds of a
variant are trained together, as one more axis of every tensor.

OUT.json has for each variant the test accuracy of each seed and, at each checkpoint, for each seed and
layer the means over heads and test images of: the equivalent rank (threshold 0.9) of A and of A + I, the
entropy of rows divided by ln N, and the rank at the temperature that gives each map a mean entropy of
0.8 ln N (0.6 with --at-entropy 0.6). `maps` has entropy and rank of every map at the end. --model
FILE.h5 writes the network of the first seed in the program's own layout; it needs python3-h5py and
../models/fashion-softmax.h5, whose description it takes over.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
EPS = 1e-6  # timm's eps of LayerNorm
ADAM_EPS, BETA1, BETA2, DECAY, CLIP = 1e-8, 0.9, 0.999, 0.05, 1.0


if DEVICE == "cuda":  # without storing the differences of all pairs of rows
    from adder_width_gpu import clamped, distances, signs
else:

    def distances(a, b):
        """[.., T, O]: L1 distances of rows of a [.., T, c] and b [.., O, c]."""
        return (a.unsqueeze(-2) - b.unsqueeze(-3)).abs().sum(-1)

    def signs(a, b, g):
        """[.., T, c]: the sum over o of g[t, o] sign(a[t] - b[o])."""
        return (g.unsqueeze(-1) * (a.unsqueeze(-2) - b.unsqueeze(-3)).sign()).sum(-2)

    def clamped(a, b, g):
        """[.., T, c]: the sum over o of g[t, o] HardTanh(a[t] - b[o])."""
        return (g.unsqueeze(-1) * (a.unsqueeze(-2) - b.unsqueeze(-3)).clamp(-1, 1)).sum(-2)


class AdderScores(torch.autograd.Function):
    """-scale |q_i - k_j|_1 with its exact gradient (Adder, Eq. 7, 23)."""

    @staticmethod
    def forward(ctx, q, k, scale):
        ctx.save_for_backward(q, k)
        ctx.scale = scale
        return distances(q, k) * -scale

    @staticmethod
    def backward(ctx, g):
        q, k = ctx.saved_tensors
        g = g * -ctx.scale
        return signs(q, k, g), signs(k, q, g.transpose(-1, -2)), None


class AdderLayer(torch.autograd.Function):
    """-sum_i |x_i - W_oi| with X - W to the weights and HardTanh(W - X) to the inputs (Eq. 4-6)."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return -distances(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        to_weights = g.transpose(-1, -2) @ x - w * g.sum(-2).unsqueeze(-1)
        return -clamped(x, w, g), to_weights


def images_of(folder, name):
    with gzip.open(f"{folder}/{name}-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(f"{folder}/{name}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images, labels.astype(np.int64)


def patches_of(images, size):
    """[n, patches, size²] of [n, 28, 28]."""
    n, side = len(images), 28 // size
    cut = images.reshape(n, side, size, side, size).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(cut.reshape(n, side * side, size * size))


class Networks:
    """Networks of all seeds, their tensors views into one matrix [seeds, numbers]."""

    def __init__(self, variant, options):
        shape, arithmetic, self.attention = variant.split("-", 2)
        self.head_width, self.heads = map(int, shape.split("x"))
        self.adder = arithmetic == "adder"
        self.width, self.depth, self.seeds = self.head_width * self.heads, options.depth, options.seeds
        self.tokens = (28 // options.patch) ** 2 + 1
        self.list, self.size = [], 0
        d, hidden = self.width, 4 * self.width
        self.add("cls_token", (1, 1, d), "small")
        self.add("pos_embed", (1, self.tokens, d), "small")
        self.add("patch_embed.proj.weight", (d, options.patch**2), "xavier")
        self.add("patch_embed.proj.bias", (d,), "zeros")
        for layer in range(self.depth):
            at = f"blocks.{layer}."
            self.norm(at + "norm1")
            self.linear(at + "attn.qkv", 3 * d, d, at + "attn.qkv_norm")
            if self.adder:
                self.norm(at + "attn.norm")
            self.linear(at + "attn.proj", d, d, at + "attn.proj_norm")
            self.norm(at + "norm2")
            self.linear(at + "mlp.fc1", hidden, d, at + "mlp.fc1_norm")
            self.linear(at + "mlp.fc2", d, hidden, at + "mlp.fc2_norm")
        self.norm("norm")
        self.add("head.weight", (10, d), "xavier")
        self.add("head.bias", (10,), "zeros")
        self.values = torch.cat([self.initial(one) for one in self.list], 1).to(DEVICE)

    def add(self, name, shape, start, adder=False):
        decays = len(shape) > 1 and name.endswith(".weight")
        self.list.append((name, shape, start, adder, decays, self.size))
        self.size += math.prod(shape)

    def norm(self, name, width=None):
        self.add(name + ".weight", (width or self.width,), "ones")
        self.add(name + ".bias", (width or self.width,), "zeros")

    def linear(self, name, outputs, inputs, norm):
        self.add(name + ".weight", (outputs, inputs), "normal" if self.adder else "xavier", self.adder)
        self.add(name + ".bias", (outputs,), "zeros")
        if self.adder:
            self.norm(norm, outputs)

    def initial(self, one):
        name, shape, start, *_ = one
        rows = []
        for seed in range(1, self.seeds + 1):
            made = torch.Generator().manual_seed(seed * 1000003 + sum(name.encode()) * 101 + len(rows))
            count = math.prod(shape)
            if start == "xavier":
                limit = math.sqrt(6 / (shape[0] + count // shape[0]))
                rows.append((torch.rand(count, generator=made) * 2 - 1) * limit)
            elif start in ("small", "normal"):
                rows.append(torch.randn(count, generator=made) * (0.02 if start == "small" else 1))
            else:
                rows.append(torch.full((count,), 1.0 if start == "ones" else 0.0))
        return torch.stack(rows)

    def tensors(self, values):
        return {
            name: values[:, at : at + math.prod(shape)].view(self.seeds, *shape)
            for name, shape, _, _, _, at in self.list
        }

    def layer_norm(self, t, name, x, stretches=1):
        if stretches > 1:  # queries, keys and values have norms of their own
            x = x.view(*x.shape[:-1], stretches, -1)
        x = torch.nn.functional.layer_norm(x, x.shape[-1:], eps=EPS)
        if stretches > 1:
            x = x.flatten(-2)
        return x * t[name + ".weight"].unsqueeze(1) + t[name + ".bias"].unsqueeze(1)

    def apply_linear(self, t, name, norm, x, stretches=1):
        bias = t[name + ".bias"].unsqueeze(1)
        if not self.adder:
            return torch.baddbmm(bias, x, t[name + ".weight"].transpose(1, 2))
        return self.layer_norm(t, norm, AdderLayer.apply(x, t[name + ".weight"]) + bias, stretches)

    def forward(self, t, patches, scores=None):
        """Logits [seeds, images, 10] of patches [seeds, images, patches, pixels]; the list `scores`
        takes the scores [seeds, images, heads, N, N] of each layer."""
        s, b, _, pixels = patches.shape
        n, d, h = self.tokens, self.width, self.heads
        x = patches.reshape(s, -1, pixels) @ t["patch_embed.proj.weight"].transpose(1, 2)
        x = (x + t["patch_embed.proj.bias"].unsqueeze(1)).view(s, b, n - 1, d)
        x = torch.cat([t["cls_token"].expand(s, b, 1, d), x], 2) + t["pos_embed"]
        x = x.reshape(s, b * n, d)
        deviation = math.sqrt(2 * self.head_width * (1 - 2 / math.pi))
        for layer in range(self.depth):
            at = f"blocks.{layer}."
            y = self.layer_norm(t, at + "norm1", x)
            y = self.apply_linear(t, at + "attn.qkv", at + "attn.qkv_norm", y, 3)
            y = y.view(s, b, n, 3, h, self.head_width).permute(3, 0, 1, 4, 2, 5)
            q, k, v = (one.reshape(s * b * h, n, self.head_width) for one in y)
            if self.attention == "softmax":
                found = q @ k.transpose(1, 2) / math.sqrt(self.head_width)
            else:
                found = AdderScores.apply(q, k, 1 / deviation)
            if scores is not None:
                scores.append(found.view(s, b, h, n, n))
            y = found.softmax(-1) @ v
            if self.attention == "adder-identity":
                y = y + v
            y = y.view(s, b, h, n, -1).transpose(2, 3).reshape(s, b * n, d)
            if self.adder:
                y = self.layer_norm(t, at + "attn.norm", y)
            x = x + self.apply_linear(t, at + "attn.proj", at + "attn.proj_norm", y)
            y = self.layer_norm(t, at + "norm2", x)
            y = self.apply_linear(t, at + "mlp.fc1", at + "mlp.fc1_norm", y)
            y = torch.nn.functional.gelu(y)
            x = x + self.apply_linear(t, at + "mlp.fc2", at + "mlp.fc2_norm", y)
        x = self.layer_norm(t, "norm", x.view(s, b, n, d)[:, :, 0])
        return torch.baddbmm(t["head.bias"].unsqueeze(1), x, t["head.weight"].transpose(1, 2))


def rates(options):
    warm, all_steps = options.warm_up, options.steps
    return [
        options.rate * (step + 1) / warm
        if step < warm
        else options.rate * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(all_steps - warm, 1)))
        for step in range(all_steps)
    ]


class Descent:
    """One step of all seeds; on a GPU it is recorded once and replayed."""

    def __init__(self, net, patches, labels, options):
        self.net, self.patches, self.labels = net, patches, labels
        seeds, size, steps = net.seeds, net.size, options.steps
        order = []
        for seed in range(1, seeds + 1):
            made = torch.Generator().manual_seed(seed)
            epochs = math.ceil(steps * options.batch / len(labels))
            every = torch.cat([torch.randperm(len(labels), generator=made) for _ in range(epochs)])
            order.append(every[: steps * options.batch].view(steps, options.batch))
        self.order = torch.stack(order, 1).to(DEVICE)  # [steps, seeds, batch]
        self.rates = torch.tensor(rates(options), device=DEVICE)
        self.step = torch.zeros((), dtype=torch.long, device=DEVICE)
        self.first = torch.zeros(seeds, size, device=DEVICE)
        self.second = torch.zeros(seeds, size, device=DEVICE)
        decays = [torch.full((math.prod(o[1]),), DECAY if o[4] else 0.0) for o in net.list]
        self.decays = torch.cat(decays).to(DEVICE)
        self.losses = torch.zeros(steps, seeds, device=DEVICE)
        self.graph = None

    def run(self):
        net = self.net
        chosen = self.order.index_select(0, self.step.view(1))[0]
        inputs, targets = self.patches[chosen], self.labels[chosen]
        leaves = {name: one.detach().requires_grad_() for name, one in net.tensors(net.values).items()}
        logits = net.forward(leaves, inputs)
        losses = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), targets, reduction="none"
        ).mean(1)
        gradients = torch.autograd.grad(losses.sum(), list(leaves.values()))
        gradient = torch.cat([one.reshape(net.seeds, -1) for one in gradients], 1)
        with torch.no_grad():
            for _, shape, _, adder, _, at in net.list:
                if adder:  # AdderNet's rescaling
                    part = gradient[:, at : at + math.prod(shape)]
                    length = part.norm(dim=1, keepdim=True).clamp_min(1e-12)
                    part *= math.sqrt(math.prod(shape)) / 5 / length
            length = gradient.norm(dim=1, keepdim=True)
            gradient *= torch.where(length > CLIP, CLIP / (length + 1e-6), torch.ones_like(length))
            self.losses.index_copy_(0, self.step.view(1), losses.unsqueeze(0))
            rate = self.rates.index_select(0, self.step.view(1))
            self.step += 1
            self.first.mul_(BETA1).add_(gradient, alpha=1 - BETA1)
            self.second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            unbias1 = 1 - BETA1**self.step.double()
            unbias2 = 1 - BETA2**self.step.double()
            size = (rate / unbias1).float()
            below = self.second.sqrt() / unbias2.sqrt().float() + ADAM_EPS
            net.values.mul_(1 - rate.float() * self.decays).sub_(size * self.first / below)

    def advance(self, steps):
        for _ in range(steps):
            if DEVICE == "cpu":
                self.run()
            elif self.graph:
                self.graph.replay()
            else:
                stream = torch.cuda.Stream()
                stream.wait_stream(torch.cuda.current_stream())
                kept = [one.clone() for one in (self.net.values, self.first, self.second)]
                with torch.cuda.stream(stream):
                    for _ in range(3):
                        self.run()
                torch.cuda.current_stream().wait_stream(stream)
                for one, before in zip((self.net.values, self.first, self.second), kept):
                    one.copy_(before)
                self.step.zero_()
                self.graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self.graph):
                    self.run()
                self.graph.replay()


def equivalent_rank(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    shares = np.cumsum(values) / values.sum()
    return int(np.searchsorted(shares, 0.9 * (1 - 1e-12)) + 1)


def softmax_at(scores, target):
    """softmax(scores / T), T by bisection so that the mean entropy of rows is target ln N."""
    n = scores.shape[-1]
    low = torch.full(scores.shape[:-2] + (1, 1), -12.0, dtype=scores.dtype, device=scores.device)
    high = -low
    for _ in range(60):
        middle = (low + high) / 2
        a = (scores / middle.exp()).softmax(-1)
        h = -(a * a.clamp_min(1e-300).log()).sum(-1).mean(-1)[..., None, None] / math.log(n)
        low, high = torch.where(h < target, middle, low), torch.where(h < target, high, middle)
    return a


@torch.no_grad()
def probe(net, patches, target, pool):
    scores = []
    net.forward(net.tensors(net.values), patches.expand(net.seeds, *patches.shape), scores)
    found = {name: [] for name in ("rank", "identity_rank", "entropy", "rank_at_entropy")}
    maps = []
    for one in scores:
        one = one.double()
        a, n = one.softmax(-1), one.shape[-1]
        h = -(a * a.clamp_min(1e-300).log()).sum(-1).mean(-1) / math.log(n)  # [seeds, images, heads]

        def ranks(all_maps):
            flat = all_maps.reshape(-1, n, n).cpu().numpy()
            return np.reshape(list(pool.map(equivalent_rank, flat)), h.shape)

        plain = ranks(a)
        found["rank"].append(plain.mean((1, 2)))
        found["identity_rank"].append(ranks(a + torch.eye(n, device=a.device)).mean((1, 2)))
        found["entropy"].append(h.mean((1, 2)).cpu().numpy())
        found["rank_at_entropy"].append(ranks(softmax_at(one, target)).mean((1, 2)))
        maps.append(np.stack([h.cpu().numpy(), plain]).reshape(2, -1).T.round(4).tolist())
    found = {name: np.stack(rows, 1).round(4).tolist() for name, rows in found.items()}  # [seed][layer]
    return found, maps


@torch.no_grad()
def accuracy(net, patches, labels):
    right = torch.zeros(net.seeds)
    t = net.tensors(net.values)
    for at in range(0, len(labels), 250):
        some = patches[at : at + 250]
        logits = net.forward(t, some.expand(net.seeds, *some.shape))
        right += (logits.argmax(-1) == labels[at : at + 250]).sum(1).cpu()
    return (right / len(labels)).tolist()


def write_model(path, variant, options, tensors, scale):
    import h5py

    shape, arithmetic, attention = variant.split("-", 2)
    head_width, heads = map(int, shape.split("x"))
    like = pathlib.Path(__file__).resolve().parent.parent / "models" / "fashion-softmax.h5"
    with h5py.File(like) as file:
        spec = json.loads(file.attrs["architecture"])
    spec.update(width=head_width * heads, layers=options.depth, arithmetic=arithmetic)
    spec["layer"]["attention"]["heads"] = heads
    spec["layer"]["mlp"]["width"] = 4 * head_width * heads
    spec["input"].update(patch_height=options.patch, patch_width=options.patch)
    spec["input"].update(mean=[float(scale[0])], std=[float(scale[1])])
    own = {} if attention == "softmax" else {"identity": attention.endswith("identity")}
    spec["mechanism"] = {"name": attention.split("-")[0], "parameters": own}
    with h5py.File(path, "w") as file:
        file.attrs.update(architecture=json.dumps(spec), format="attnscope-model",
                          format_version=1, name=pathlib.Path(path).stem)
        for name, numbers in tensors.items():
            if name == "patch_embed.proj.weight":
                numbers = numbers.reshape(-1, 1, options.patch, options.patch)
            file["tensors/" + name] = numbers


def train(variant, options, data, pool):
    net = Networks(variant, options)
    descent = Descent(net, data["train"], data["train_labels"], options)
    probes = data["test"][: options.probes]
    wanted = sorted({0, options.steps} | {
        round(options.steps ** (i / (options.checkpoints - 1))) for i in range(1, options.checkpoints)
    })
    result = {"variant": variant, "tokens": net.tokens, "numbers": net.size, "checkpoints": []}
    begin, done = time.time(), 0
    for step in wanted:
        descent.advance(step - done)
        done = step
        found, maps = probe(net, probes, options.at_entropy, pool)
        found.update(step=step, accuracy=accuracy(net, data["test"], data["test_labels"]))
        result["checkpoints"].append(found)
    result["maps"] = maps  # [layer][map][entropy, rank]
    result["seconds"] = round(time.time() - begin, 1)
    result["losses"] = descent.losses[:: max(options.steps // 50, 1)].cpu().numpy().round(4).tolist()
    if options.model:
        first = {name: t[0].cpu().numpy() for name, t in net.tensors(net.values).items()}
        write_model(options.model.replace("VARIANT", variant), variant, options, first, data["scale"])
    last = result["checkpoints"][-1]
    print(
        f"{variant}: {result['seconds']} s, right {np.mean(last['accuracy']):.4f}, rank"
        f" {np.mean(last['rank']):.2f}, with I {np.mean(last['identity_rank']):.1f}, entropy"
        f" {np.mean(last['entropy']):.3f}, rank at {options.at_entropy}"
        f" {np.mean(last['rank_at_entropy']):.2f}",
        flush=True,
    )
    return result


def main():
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("out")
    reader.add_argument("dataset")
    reader.add_argument("variants", nargs="+")
    for name, value in dict(patch=4, depth=4, steps=2800, batch=64, warm_up=100, seeds=3, probes=20,
                            checkpoints=8, tests=10000).items():
        reader.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    reader.add_argument("--rate", type=float, default=2e-3)
    reader.add_argument("--at-entropy", type=float, default=0.8)
    reader.add_argument("--model", help="FILE.h5, in which VARIANT is replaced")
    options = reader.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    images, labels = images_of(options.dataset, "train")
    mean, deviation = images[:1000].mean() / 255, images[:1000].std() / 255
    data = {"train_labels": torch.tensor(labels, device=DEVICE), "scale": (mean, deviation)}
    test, test_labels = (one[: options.tests] for one in images_of(options.dataset, "t10k"))
    data["test_labels"] = torch.tensor(test_labels, device=DEVICE)
    for name, some in (("train", images), ("test", test)):
        numbers = (patches_of(some, options.patch).astype(np.float32) / 255 - mean) / deviation
        data[name] = torch.tensor(numbers.astype(np.float32), device=DEVICE)
    device = torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu"
    results = {"options": vars(options), "device": device, "torch": torch.__version__, "variants": []}
    with ThreadPoolExecutor(8) as pool:
        for variant in options.variants:
            results["variants"].append(train(variant, options, data, pool))
            with open(options.out, "w") as file:
                json.dump(results, file)


if __name__ == "__main__":
    main()
