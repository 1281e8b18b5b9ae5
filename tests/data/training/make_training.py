#!/usr/bin/env python3
"""Writes gradients.json, curves.json and refinement.json: what PyTorch computes in float64 for small
networks, by autograd of the plain transcription of the equations, for the tests to agree with.

Parameters, images and texts come from MT19937's raw output, exact in float32, so that the tests
make the very same ones. Run: python3 make_training.py
"""
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def uniform(seed, shape):
    """(u >> 8) / 2^22 - 2 in [-2, 2), exact in float32."""
    generator = np.random.RandomState(seed)._bit_generator
    raw = np.array([generator.random_raw() for _ in range(int(np.prod(shape)))], dtype=np.uint64)
    return torch.from_numpy(((raw >> np.uint64(8)).astype(np.float64) * 2.0**-22 - 2.0).reshape(shape))


# --- gradients that are not derivatives: Adder, Eq. 5 and 6 --------------------


def passed(difference, form):
    if form == "sign":
        return difference.sign()
    return difference.clamp(-1, 1) if form == "hard_tanh" else difference


class Distances(torch.autograd.Function):
    """sum_c |a_ic - b_jc| of a [..., m, c] and b [..., n, c], with gradients of the given forms."""

    @staticmethod
    def forward(context, a, b, form_a, form_b):
        context.save_for_backward(a, b)
        context.forms = form_a, form_b
        return (a[..., :, None, :] - b[..., None, :, :]).abs().sum(-1)

    @staticmethod
    def backward(context, gradient):
        a, b = context.saved_tensors
        difference = a[..., :, None, :] - b[..., None, :, :]
        weighed = gradient[..., None]
        of_a = (weighed * passed(difference, context.forms[0])).sum(-2)
        of_b = -(weighed * passed(difference, context.forms[1])).sum(-3)
        while of_b.dim() > b.dim():
            of_b = of_b.sum(0)
        return of_a, of_b, None, None


def scaled_signs(x):
    """EcoFormer, Eq. 5, of rows of length 1; the sign's gradient is HardTanh's."""
    x = x / x.norm(dim=-1, keepdim=True)
    soft = x.clamp(-1, 1)
    return x.abs().mean(-1, keepdim=True) * (soft + (x.sign() - soft).detach())


def learned_codes(x, own):
    """EcoFormer, Eq. 10 and 11, of rows of length 1: [batch, head, token, bit]; the kernel's width is
    the mean squared distance, the sign's gradient HardTanh's, and A, mvec and anchor are fixed."""
    A, mean, anchor = (own("fast_attention.ksh." + name).detach() for name in ("A", "mvec", "anchor"))
    x = x / x.norm(dim=-1, keepdim=True)
    squares = (x[..., None, :] - anchor[:, None]).square().sum(-1)
    kernel = torch.exp(-squares / (2 * squares.mean((-2, -1), keepdim=True)))
    projected = (kernel - mean[:, None]) @ A.transpose(-1, -2)
    soft = projected.clamp(-1, 1)
    return soft + (projected.sign() - soft).detach()


def normal_numbers(*seeds):
    """Standard normal numbers of a MT19937 that C++'s std::seed_seq has seeded, by Box and Muller."""
    mask, size, count = 0xFFFFFFFF, 624, len(seeds)
    words, shift = [0x8B8B8B8B] * size, 11
    p = (size - shift) // 2
    q, rounds = p + shift, max(count + 1, size)
    mixed = lambda x: x ^ (x >> 27)
    for k in range(rounds):
        first = 1664525 * mixed(words[k % size] ^ words[(k + p) % size] ^ words[(k - 1) % size]) & mask
        own = count if k == 0 else k % size + (seeds[k - 1] if k <= count else 0)
        words[(k + p) % size] = (words[(k + p) % size] + first) & mask
        words[(k + q) % size] = (words[(k + q) % size] + first + own) & mask
        words[k % size] = (first + own) & mask
    for k in range(rounds, rounds + size):
        total = words[k % size] + words[(k + p) % size] + words[(k - 1) % size] & mask
        first = 1566083941 * mixed(total) & mask
        second = first - k % size & mask
        words[(k + p) % size] ^= first
        words[(k + q) % size] ^= second
        words[k % size] = second
    generator = np.random.RandomState()
    generator.set_state(("MT19937", words, size))
    raw = generator._bit_generator
    number = lambda: (raw.random_raw() + 0.5) / 2.0**32
    while True:
        radius = math.sqrt(-2 * math.log(number()))
        yield radius * math.cos(2 * math.pi * number())


def orthogonal_features(count, d, *seeds):
    """Performer's random features, Section 2.4: [count, d] in float32."""
    numbers = normal_numbers(*seeds)
    draw = lambda rows: np.array([[next(numbers) for _ in range(d)] for _ in range(rows)])
    blocks = []
    for _ in range(0, count, d):
        q, r = np.linalg.qr(draw(d))
        blocks.append(q * np.sign(np.diag(r)))
    rows = np.concatenate(blocks)[:count]
    for row in rows:
        row *= np.linalg.norm(draw(1))
    return torch.from_numpy(rows.astype(np.float32).astype(np.float64))


# --- networks --------------------


def simplex_threshold(scores, seen, power):
    """max(s / p - tau, 0)^p with the tau for which rows sum to 1, from the sorted scores."""
    x = scores.masked_fill(seen == 0, -1e4) / power
    ordered = x.sort(-1, descending=True).values
    count = torch.arange(1, x.shape[-1] + 1)
    mean = ordered.cumsum(-1) / count
    if power == 1:
        tau = mean - 1 / count
    else:
        spread = (ordered ** 2).cumsum(-1) / count - mean ** 2
        tau = mean - ((1 / count - spread).clamp(min=1e-300)).sqrt()
    last = (tau <= ordered).sum(-1, keepdim=True) - 1
    return (x - tau.gather(-1, last)).clamp(min=0) ** power


WEIGHTS = {
    "sigmoid": lambda s, seen, own: torch.sigmoid(
        s + own["bias"] - seen.sum(-1, keepdim=True).log()) * seen,
    "relu": lambda s, seen, own: F.relu(s) / seen.sum(-1, keepdim=True) * seen,
    "ssmax": lambda s, seen, own: (s * (own["factor"] * seen.sum(-1, keepdim=True).log()
                                        + own["offset"])
                                   ).masked_fill(seen == 0, -math.inf).softmax(-1),
    "sparsemax": lambda s, seen, own: simplex_threshold(s, seen, 1),
    "entmax": lambda s, seen, own: simplex_threshold(s, seen, 2),
    "softmax-sink": lambda s, seen, own: torch.cat(
        [s.masked_fill(seen == 0, -math.inf), torch.full_like(s[..., :1], own["sink"])], -1
    ).softmax(-1)[..., :-1],
    "forgetting": lambda s, seen, own: (s - own["rate"] * distances(s)).masked_fill(
        torch.ones_like(s).tril() == 0, -math.inf).softmax(-1),
    "retention": lambda s, seen, own: s * seen * (
        1 - 2.0 ** (-own["exponent"] - torch.arange(s.shape[1])))[:, None, None] ** distances(s),
}


def distances(scores):
    place = torch.arange(scores.shape[-1])
    return (place[:, None] - place).abs()


def focused(x, scale, power):
    """FLatten's features, over all channels of x [batch, head, token, channel]."""
    u = (x.transpose(1, 2).flatten(2).relu() + 1e-6) / F.softplus(scale)
    powers = u ** power
    powers = u.norm(dim=-1, keepdim=True) * powers / powers.norm(dim=-1, keepdim=True)
    return powers.unflatten(2, (x.shape[1], -1)).transpose(1, 2)


def over_tokens(x, there):
    """SimA: each channel of x [batch, head, token, channel] over its l1 norm."""
    return F.normalize(x * there, p=1, dim=-2)


# The logarithm of the decay of each head, the strength, and True for the delta rule.
RECURRENCES = {
    "gla": lambda p, heads: (torch.full((heads,), -p["rate"]), 1, False),
    "mamba2": lambda p, heads: (
        -p["step"] * (1 + 15 * torch.arange(heads) / max(heads - 1, 1)), p["step"], False),
    "gated-delta": lambda p, heads: (torch.full((heads,), -p["rate"]), p["beta"], True),
    "kda": lambda p, heads: (torch.full((heads,), -p["rate"]), p["beta"], True),
}


def recurrence(q, k, v, log_decay, strength, delta):
    """A state that decays and takes the values, token by token; all [batch, head, token, channel]."""
    decay = log_decay.exp()[:, None, None]
    state, outputs = torch.zeros(*q.shape[:2], q.shape[3], v.shape[3]), []
    for t in range(q.shape[2]):
        state = decay * state
        value = v[:, :, t]
        if delta:
            value = value - torch.einsum("bhcv,bhc->bhv", state, k[:, :, t])
        state = state + strength * k[:, :, t, :, None] * value[:, :, None]
        outputs.append(torch.einsum("bhcv,bhc->bhv", state, q[:, :, t]))
    return torch.stack(outputs, 2)


def gaussian(a, b):
    """exp(-|a - b|^2 / 2)."""
    return torch.exp(-(a[..., :, None, :] - b[..., None, :, :]).square().sum(-1) / 2)


def newton(kernel, iterations):
    """SOFT's approximate inverse, as in its authors' code."""
    largest = kernel.sum(-1).amax(-1)[..., None, None]
    kernel = kernel + 0.01 * torch.eye(kernel.shape[-1])
    inverse = 1.8 / largest**2 * kernel
    for _ in range(iterations):
        inverse = 2 * inverse - inverse @ kernel @ inverse
    return inverse


def nystrom(q, k, landmarks, iterations, divisor):
    """Nystroemformer's weights with the means of segments as landmarks."""
    tokens, scale = q.shape[2], 1 / math.sqrt(q.shape[3])
    sizes = [tokens // landmarks + (l >= landmarks - tokens % landmarks) for l in range(landmarks)]
    of_q, of_k = (torch.stack([part.mean(2) for part in x.split(sizes, 2)], 2) for x in (q, k))
    weights = lambda a, b: (scale * a @ b.transpose(-1, -2)).softmax(-1)
    middle, one = weights(of_q, of_k), torch.eye(landmarks)
    largest = middle.sum(-2).amax((-1, -2) if divisor == "layer" else -1)
    inverse = middle.transpose(-1, -2) / (largest[:, None] if largest.dim() == 1 else largest)[..., None, None]
    for _ in range(iterations):
        product = middle @ inverse
        inverse = 0.25 * inverse @ (13 * one - product @ (15 * one - product @ (7 * one - product)))
    return weights(q, of_k) @ inverse @ weights(of_q, k)


class Network:
    """`case`: what the tests build the same network of."""

    def __init__(self, case, parameters):
        self.case, self.p, self.there = case, parameters, None

    def norm(self, x, name, groups=1):
        eps = self.case["eps"]
        parts = x.unflatten(-1, (groups, -1))
        parts = F.layer_norm(parts, parts.shape[-1:], eps=eps).flatten(-2)
        return parts * self.p[name + ".weight"] + self.p[name + ".bias"]

    def linear(self, x, name, norm=None, groups=1):
        weight, bias = self.p[name + ".weight"], self.p[name + ".bias"]
        if norm is None:
            return F.linear(x, weight.flatten(1), bias)
        distances = Distances.apply(
            x.flatten(0, -2), weight, self.case["input_gradient"], self.case["weight_gradient"])
        y = -distances.unflatten(0, x.shape[:-1]) + bias
        return self.norm(y, norm, groups)

    def dropped(self, weights):
        """The weights [batch, head, query, key] after dropout, which make_recipe.py has."""
        return weights

    def attention(self, qkv, prefix):
        case = self.case
        if isinstance(qkv, tuple):  # DAFT's keys have one channel for each head of its biases
            q, k, v = (x.unflatten(-1, (1, -1)).transpose(1, 2) for x in qkv)
            k = k.repeat_interleave(v.shape[-1] // k.shape[-1], -1)
        else:
            q, k, v = qkv.unflatten(-1, (3, case["heads"], -1)).permute(2, 0, 3, 1, 4)
        tokens, width = q.shape[-2:]
        seen = torch.ones(tokens, tokens).tril() if case["causal"] else torch.ones(tokens, tokens)
        if self.there is not None:  # padding tokens are not keys
            seen = seen * self.there[:, None, None, :]
        own = lambda name: self.p[prefix + name]
        if case["mechanism"].startswith("daft"):  # DAFT, Eq. 4: one map per channel
            q, k, v = (x.transpose(1, 2).flatten(2) for x in (q, k, v))  # [batch, token, channel]
            if case["mechanism"] == "daft-full":
                w = own("w") if case["parameters"]["factors"] == 0 else own("pe0") @ own("pe1").T
                w = w[None]
            else:
                w = self.window_biases(own, tokens)
            if self.there is not None:
                k = k.masked_fill(self.there[..., None] == 0, -math.inf)
            elif case["causal"]:
                w = w.masked_fill(seen == 0, -math.inf)
            w = w.repeat_interleave(k.shape[-1] // len(w), 0)
            pairs = torch.exp(w.permute(1, 2, 0) + k[:, None])  # [batch, i, j, channel]
            return q.sigmoid() * (pairs * v[:, None]).sum(2) / pairs.sum(2)
        if case["mechanism"] == "hash":
            upstream, bias = case["parameters"]["mode"] == "upstream", 2
            if shared_queries(case):
                q = k = learned_codes(q, own)
                bits = case["parameters"]["bits"]
                bias = bits + 1 if upstream else 2 ** math.ceil(math.log2(bits + 1))
            else:
                q, k = scaled_signs(q), scaled_signs(k)
            products = q @ k.transpose(-1, -2) * seen
            total = (products + bias * seen).sum(-1, keepdim=True)
            weights = (products + bias * (torch.eye(tokens) if upstream else seen)) / total
        elif case["mechanism"] == "additive":
            u = own("importance")[:, None] if case["importances"] else q[..., :1, :]
            scores = (k @ u.transpose(-1, -2)).transpose(-1, -2) / math.sqrt(width)
            window = (case["windows"][int(prefix.split(".")[-3])] if case["windows"]
                      else case["parameters"].get("window", 0))
            if window:
                seen = seen - torch.ones(tokens, tokens).tril(-window)
            weights = scores.expand(-1, -1, tokens, -1).masked_fill(seen == 0, -math.inf).softmax(-1)
        elif case["mechanism"] == "performer":
            count, relu = case["parameters"]["features"], case["parameters"]["kernel"] == "relu"
            layer = int(prefix.split(".")[-3])
            omega = torch.stack([orthogonal_features(count, width, 1, layer, head)
                                 for head in range(case["heads"])])
            features = []
            for x in (q, k):
                x = x / width**0.25
                product = x @ omega.transpose(-1, -2)
                features.append(product.relu() + 1e-3 if relu
                                else (product - (x * x).sum(-1, keepdim=True) / 2).exp())
            weights = features[0] @ features[1].transpose(-1, -2) * seen
            weights = weights / weights.sum(-1, keepdim=True)
        elif case["mechanism"] == "cosformer":
            place = torch.arange(tokens) * math.pi / 2 / (case["parameters"]["span"] or tokens)
            weights = q.relu() @ k.relu().transpose(-1, -2) * (place[:, None] - place).cos() * seen
            weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-6)
        elif case["mechanism"] == "linformer":
            scores = q @ (own("E") @ k).transpose(-1, -2) / math.sqrt(width)
            weights = self.dropped(scores.softmax(-1)) @ own("F")
        elif case["mechanism"] == "synthesizer":
            kind = case["parameters"]["scores"]
            if kind == "random":
                scores = own("R").expand(len(q), -1, -1, -1)
            elif kind == "factorised":
                scores = (own("R1") @ own("R2").transpose(-1, -2)).expand(len(q), -1, -1, -1)
            else:
                hidden = (q @ own("W1").transpose(-1, -2) + own("b1")[:, None]).relu()
                scores = hidden @ own("W2").transpose(-1, -2) + own("b2")[:, None]
            weights = scores.masked_fill(seen == 0, -math.inf).softmax(-1)
        elif case["mechanism"] == "talking-heads":
            mix = lambda x, name: (torch.einsum("hg,bgij->bhij", own(name), x)
                                   + own(name + "_bias")[:, None, None])
            scores = mix(q @ k.transpose(-1, -2) / math.sqrt(width), "proj_l")
            weights = mix(scores.masked_fill(seen == 0, -math.inf).softmax(-1), "proj_w") * seen
        elif case["mechanism"] == "linear":
            weights = (1 + F.elu(q)) @ (1 + F.elu(k)).transpose(-1, -2) * seen
            weights = weights / weights.sum(-1, keepdim=True)
        elif case["mechanism"] in ("focused", "inline", "sima"):
            there = (torch.ones(len(q), tokens) if self.there is None else self.there)[:, None, :, None]
            count = there.sum(-2, keepdim=True)
            if case["mechanism"] == "focused":
                q, k = (focused(x, own("scale"), case["parameters"]["power"]) for x in (q, k))
                weights = q @ k.transpose(-1, -2) * seen
                weights = weights / (weights.sum(-1, keepdim=True) + 1e-6 * count)
            elif case["mechanism"] == "inline":
                scores = q @ k.transpose(-1, -2) / math.sqrt(width) * seen
                weights = (scores - scores.sum(-1, keepdim=True) / count + 1) / count * seen
            else:
                weights = over_tokens(q, there) @ over_tokens(k, there).transpose(-1, -2)
        elif case["mechanism"] == "agent":
            agents = self.area_means(q, case["parameters"]["agents"])
            product = lambda a, b: a @ b.transpose(-1, -2) / math.sqrt(width)
            gathered = product(agents, k).masked_fill(self.padding(), -math.inf).softmax(-1)
            weights = product(q, agents).softmax(-1) @ gathered
        elif case["mechanism"] in ("rala", "mlla"):
            weights = self.rotary(1 + F.elu(q), 1 + F.elu(k))
        elif case["mechanism"] in RECURRENCES:
            log_decay, strength, delta = RECURRENCES[case["mechanism"]](case["parameters"], len(q[0]))
            if delta:
                q, k = (x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt() for x in (q, k))
            output = recurrence(q / math.sqrt(width), k, v, log_decay, strength, delta)
            return output.transpose(1, 2).flatten(2)
        elif case["mechanism"] == "soft":
            q, k = q / width**0.25, k / width**0.25
            landmarks = self.area_means(q, case["parameters"]["landmarks"])
            inverse = newton(gaussian(landmarks, landmarks), case["parameters"]["iterations"])
            weights = (gaussian(q, landmarks) @ inverse
                       @ gaussian(landmarks, k).masked_fill(self.padding(), 0))
        elif case["mechanism"] == "nystrom":
            weights = nystrom(q, k, **case["parameters"])
        elif case["mechanism"] == "differential":
            lambdas = [own("lambda_" + name) for name in ("q1", "k1", "q2", "k2")]
            layer = int(prefix.split(".")[-3])
            factor = ((lambdas[0] @ lambdas[1]).exp() - (lambdas[2] @ lambdas[3]).exp()
                      + 0.8 - 0.6 * math.exp(-0.3 * layer))
            first, second = ((a @ b.transpose(-1, -2) / math.sqrt(a.shape[-1])).masked_fill(
                                 seen == 0, -math.inf).softmax(-1)
                             for a, b in zip(q.split([width - width // 2, width // 2], -1),
                                             k.split([width - width // 2, width // 2], -1)))
            weights = first - factor * second
        elif case["mechanism"] in WEIGHTS:
            scores = q @ k.transpose(-1, -2) / math.sqrt(width)
            weights = WEIGHTS[case["mechanism"]](scores, seen, case["parameters"])
        else:
            if case["mechanism"] == "adder":
                scale = -1 / math.sqrt(2 * width * (1 - 2 / math.pi))
                form = case["score_gradient"]
                scores = Distances.apply(q, k, form, form) * scale
            else:
                scores = q @ k.transpose(-1, -2) / math.sqrt(width)
            weights = scores.masked_fill(seen == 0, -math.inf).softmax(-1)
        if case["mechanism"] != "linformer":
            weights = self.dropped(weights)
        if case["identity"]:
            weights = weights + torch.eye(tokens)
        output = (weights @ v).transpose(1, 2).flatten(2)
        if case.get("parameters", {}).get("term"):
            output = output + self.convolved(v.transpose(1, 2).flatten(2), own("dwc"))
        return output

    def padding(self):
        """True for keys that fill up a text, [batch, 1, 1, key], or False."""
        return torch.zeros(()) > 0 if self.there is None else self.there[:, None, None, :] == 0

    def area_means(self, x, count):
        """The means of `count` areas of the tokens of x [batch, head, token, channel]: of a square
        of areas of the grid, or of parts of a text."""
        if self.case["kind"] == "texts":
            lengths = self.there.sum(1).long()
            return torch.stack([F.adaptive_avg_pool1d(one[:, :n].transpose(1, 2), count)
                                for one, n in zip(x, lengths)]).transpose(2, 3)
        prefix, side = int(self.case["class_token"]), self.case["side"] // self.case["patch"]
        grid = x[:, :, prefix:].transpose(2, 3).unflatten(3, (side, side)).flatten(0, 1)
        means = F.adaptive_avg_pool2d(grid, math.isqrt(count)).flatten(2)
        return means.unflatten(0, x.shape[:2]).transpose(2, 3)

    def turned(self, x, steps):
        """Pairs of channels of x [batch, head, token, channel] turned by the token's row, and as
        many by its column, times 10000^(-p / steps)."""
        tokens, pairs = x.shape[2], x.shape[3] // 4
        text = self.case["kind"] == "texts"
        prefix = 0 if text else int(self.case["class_token"])
        columns = tokens if text else self.case["side"] // self.case["patch"]
        place = torch.arange(tokens) - prefix
        frequencies = 10000.0 ** (-torch.arange(pairs) / max(steps, 1))
        angles = torch.cat([(place // columns)[:, None] * frequencies,
                            (place % columns)[:, None] * frequencies], -1)
        angles[:prefix] = 0
        first, second = x[..., :4 * pairs].unflatten(-1, (-1, 2)).unbind(-1)
        turned = torch.stack([first * angles.cos() - second * angles.sin(),
                              second * angles.cos() + first * angles.sin()], -1).flatten(-2)
        return torch.cat([turned, x[..., 4 * pairs:]], -1)

    def rotary(self, q, k):
        """RALA's and MLLA's weights of the features q and k."""
        heads, tokens, width = q.shape[1:]
        there = (torch.ones(len(q), tokens) if self.there is None else self.there)[:, None, :, None]
        count = there.sum(-2, keepdim=True)
        if self.case["mechanism"] == "rala":
            mean = (q * there).sum(-2, keepdim=True) / count
            scores = (k * mean).sum(-1) / math.sqrt(width)
            k = k * (scores.masked_fill(there[..., 0] == 0, -math.inf).softmax(-1)[..., None] * count)
            left, right = self.turned(q, width // 4 - 1), self.turned(k, width // 4 - 1)
        else:
            channels = heads * width
            left, right = (self.turned(x.transpose(1, 2).flatten(2)[:, None], channels // 4)
                           .unflatten(3, (heads, -1))[:, 0].transpose(1, 2) for x in (q, k))
        below = (q * (k * there).sum(-2, keepdim=True)).sum(-1, keepdim=True) + 1e-6 * count
        return left @ (right * there).transpose(-1, -2) / below

    def convolved(self, values, kernels):
        """The depthwise convolution of values [batch, token, channel] over the grid of patches;
        0 for the tokens before it."""
        prefix, side = int(self.case["class_token"]), self.case["side"] // self.case["patch"]
        grid = values[:, prefix:].transpose(1, 2).unflatten(2, (side, side))
        channels = grid.shape[1]
        kernels = kernels.repeat(channels // len(kernels), 1, 1)[:, None]
        near = F.conv2d(grid, kernels, padding=kernels.shape[-1] // 2, groups=channels)
        return F.pad(near.flatten(2).transpose(1, 2), (0, 0, prefix, 0))

    def window_biases(self, own, tokens):
        """DAFT, Eq. 7 and 9: w of each head of biases, [h, tokens, tokens]."""
        case, settings = self.case, self.case["parameters"]
        r = own("r").flatten(1)
        centred = r - r.mean(-1, keepdim=True)
        r = (own("gamma")[:, None] * centred / centred.square().mean(-1, keepdim=True).sqrt()
             + own("beta")[:, None])
        if case["mechanism"] == "daft-one-hot":  # Eq. 11's hard maximum with the gradient of the soft one
            soft = r * (r / 0.5).softmax(-1)
            hard = torch.where(r == r.max(-1, keepdim=True).values, r, torch.zeros(()))
            r = soft + (hard - soft).detach()
        half, local = settings["kernel"] // 2, case["mechanism"] == "daft-local"
        prefix = 0 if case["kind"].startswith("text") else int(case["class_token"])
        grid = settings["dimensions"] == 2
        columns = case["side"] // case["patch"] if grid else tokens
        rows = []
        for i in range(tokens):
            row = []
            for j in range(tokens):
                outside = min(i, j) >= prefix and local
                y, x = (j - prefix) // columns, (j - prefix) % columns
                y, x = y - (i - prefix) // columns, x - (i - prefix) % columns
                if min(i, j) >= prefix and abs(x) <= half and abs(y) <= (half if grid else 0):
                    row.append(r[:, ((y + half) * settings["kernel"] if grid else 0) + x + half])
                else:
                    row.append(torch.full((len(r),), -math.inf if outside else 0.0))
            rows.append(torch.stack(row, -1))
        return torch.stack(rows, 1)

    def pyramid(self, images):
        """Patches, then merged by 2 x 2 (Liu et al. 2021), with a depthwise 3 x 3 convolution after
        the first block of each stage (Chu et al. 2021); read by the mean."""
        case, p, whole = self.case, self.p, self.case
        patches = lambda x, k: F.unfold(x, k, stride=k).transpose(1, 2)
        self.case = {**case, "eps": 1e-5}
        x = self.norm(self.linear(patches(images, case["patch"]), "patch_embed.proj"), "patch_embed.norm")
        side = case["side"] // case["patch"]
        for stage, (layers, width, heads) in enumerate(case["stages"]):
            s = f"stages.{stage}."
            if stage > 0:
                grid = x.unflatten(1, (side, side))
                x = torch.cat([grid[:, 0::2, 0::2], grid[:, 1::2, 0::2], grid[:, 0::2, 1::2],
                               grid[:, 1::2, 1::2]], -1).flatten(1, 2)
                self.case, side = {**case, "eps": 1e-5}, side // 2
                x = self.linear(self.norm(x, s + "merge.norm"), s + "merge.reduction")
            self.case = {**case, "heads": heads, "side": side, "patch": 1, "class_token": False}
            for block in range(layers):
                x = self.image_block(x, block, s)
                if block == 0:
                    grid = x.transpose(1, 2).unflatten(2, (side, side))
                    near = F.conv2d(grid, p[s + "positions.weight"], p[s + "positions.bias"],
                                    padding=1, groups=width)
                    x = x + near.flatten(2).transpose(1, 2)
        self.case = whole
        return self.linear(self.norm(x, "norm").mean(1), "head")

    def image_block(self, x, layer, stage=""):
        b = f"{stage}blocks.{layer}."
        adder = self.case["arithmetic"] == "adder" and layer not in self.case["multiplicative_layers"]
        norm = lambda name: b + name if adder else None
        own = self.case["mechanism"]
        if self.case["arithmetic"] == "adder" and not adder and own == "adder":
            self.case = {**self.case, "mechanism": "softmax", "identity": False}
        h = self.norm(x, b + "norm1")
        if narrow_keys(self.case):
            qkv = tuple(self.linear(h, b + "attn." + name) for name in ("to_q", "to_k", "to_v"))
        elif shared_queries(self.case):
            qk, v = (self.linear(h, b + "attn." + name) for name in ("to_qk", "to_v"))
            qkv = torch.cat([qk, qk, v], -1)
        else:
            qkv = self.linear(h, b + "attn.qkv", norm("attn.qkv_norm"), 3)
        a = self.attention(qkv, b + "attn.")
        self.case = {**self.case, "mechanism": own, "identity": self.identity}
        if adder:
            a = self.norm(a, b + "attn.norm")
        x = x + self.linear(a, b + "attn.proj", norm("attn.proj_norm"))
        h = self.linear(self.norm(x, b + "norm2"), b + "mlp.fc1", norm("mlp.fc1_norm"))
        return x + self.linear(F.gelu(h), b + "mlp.fc2", norm("mlp.fc2_norm"))

    def text_block(self, x, layer):
        b = f"transformer.h.{layer}."
        a = self.attention(self.linear(self.norm(x, b + "ln_1"), b + "attn.c_attn"), b + "attn.")
        x = x + self.linear(a, b + "attn.c_proj")
        h = self.linear(self.norm(x, b + "ln_2"), b + "mlp.c_fc")
        return x + self.linear(F.gelu(h, approximate="tanh"), b + "mlp.c_proj")

    def pooled(self, x, importance, window):
        """Fastformer-LM, Eq. 4 to 15: the mean of the last tokens, weighed by exp(u.x / sqrt(d)) in
        each head."""
        case, tokens = self.case, x.shape[1]
        heads = x.unflatten(2, (case["heads"], -1)).transpose(1, 2)
        u = importance.unflatten(0, (case["heads"], -1))[:, :, None]
        scores = (heads @ u).transpose(2, 3) / math.sqrt(heads.shape[-1])
        seen = torch.ones(tokens, tokens).tril()
        if window:
            seen = seen - torch.ones(tokens, tokens).tril(-window)
        weights = scores.expand(-1, -1, tokens, -1).masked_fill(seen == 0, -math.inf).softmax(-1)
        return (weights @ heads).transpose(1, 2).flatten(2)

    def fastformer(self, examples):
        """Fastformer-LM as its published code has it."""
        case, p = self.case, self.p
        of = "fastformer_model."
        x = p["word_embedding.weight"][examples] + p[of + "position_embeddings.weight"]
        x = self.norm(x, of + "LayerNorm")
        for layer, window in enumerate(case["windows"]):
            b = f"{of}decoders.{layer}."
            product = lambda x, name: x @ p[b + name + ".weight"].T
            x = self.norm(x, b + "attention.attn_norm")
            q, k, v = (product(x, f"attention.W{name}") for name in ("query", "keys", "values"))
            mixed = x + k * product(self.pooled(q, p[b + "attention.query_attn"], window),
                                    "attention.attn_proj")
            between = self.norm(mixed, b + "attention.mid_norm")
            x = mixed + v * self.pooled(between, p[b + "attention.key_attn"], window)
            x = x + product(F.gelu(product(self.norm(x, b + "boom_norm"), "boom")), "unboom")
        logits = x @ p["word_embedding.weight"].T + p["proj_logits.bias"]
        return (logits / math.sqrt(case["width"])).flatten(0, 1)

    def logits(self, examples):
        case, p = self.case, self.p
        self.identity = case["identity"]
        if case["form"] == "fastformer":
            return self.fastformer(examples)
        if case["kind"] == "text":
            table = p["transformer.wte.weight"]
            x = table[examples] + p["transformer.wpe.weight"]
            for layer in range(case["layers"]):
                x = self.text_block(x, layer)
            return (self.norm(x, "transformer.ln_f") @ table.T).flatten(0, 1)
        if case["kind"] == "texts":
            self.there = (examples >= 0).double()
            x = p["transformer.wte.weight"][examples.clamp(min=0)] + p["transformer.wpe.weight"]
            for layer in range(case["layers"]):
                x = self.text_block(x, layer)
            x = self.norm(x, "transformer.ln_f") * self.there[..., None]
            return self.linear(x.sum(1) / self.there.sum(1, keepdim=True), "head")
        if case["kind"] == "pyramid":
            return self.pyramid(examples)
        x = F.unfold(examples, case["patch"], stride=case["patch"]).transpose(1, 2)
        x = self.linear(x, "patch_embed.proj")
        if case["class_token"]:
            x = torch.cat([p["cls_token"].expand(len(x), -1, -1), x], 1)
        if "pos_embed" in p:
            x = x + p["pos_embed"]
        for layer in range(case["layers"]):
            x = self.image_block(x, layer)
        x = self.norm(x, "norm")
        return self.linear(x[:, 0] if case["class_token"] else x.mean(1), "head")


# Kernels of the values' convolution: True if the heads share them, and their side.
KERNELS = {"focused": (True, 5), "inline": (False, 3), "agent": (False, 3), "rala": (False, 5),
           "mlla": (False, 3), "soft": (False, 3)}


def narrow_keys(case):
    return case.get("parameters", {}).get("full_keys", True) is False


def shared_queries(case):
    return case.get("parameters", {}).get("codes") == "learned"


def own_shapes(case):
    """Those of the mechanism itself in each layer, and of the convolution of its values."""
    shapes = mechanism_shapes(case)
    if case.get("parameters", {}).get("term"):
        shared, side = KERNELS[case["mechanism"]]
        shapes["dwc"] = (case["width"] // (case["heads"] if shared else 1), side, side)
    return shapes


def mechanism_shapes(case):
    """Those of the mechanism itself."""
    tokens = (case["context"] if case["kind"] != "image"
              else case["class_token"] + (case["side"] // case["patch"]) ** 2)
    heads, settings, own = case["heads"], case.get("parameters", {}), case["mechanism"]
    width = case["width"] // heads
    if own == "additive" and case["importances"]:
        return {"importance": (heads, width)}
    if own == "daft-full":
        factors = settings["factors"]
        return ({"pe0": (tokens, factors), "pe1": (tokens, factors)} if factors
                else {"w": (tokens, tokens)})
    if own.startswith("daft"):
        h, k = settings["conv_heads"], settings["kernel"]
        return {"r": (h, k, k) if settings["dimensions"] == 2 else (h, k), "gamma": (h,), "beta": (h,)}
    if shared_queries(case):
        bits, supports = settings["bits"], settings["supports"]
        return {"fast_attention.ksh.A": (heads, bits, supports),
                "fast_attention.ksh.mvec": (heads, supports),
                "fast_attention.ksh.anchor": (heads, supports, width)}
    if own == "linformer":
        return {name: (settings["landmarks"], tokens) for name in "EF"}
    if own == "synthesizer":
        if settings["scores"] == "random":
            return {"R": (heads, tokens, tokens)}
        if settings["scores"] == "factorised":
            return {name: (heads, tokens, settings["factors"]) for name in ["R1", "R2"]}
        return {"W1": (heads, width, width), "b1": (heads, width),
                "W2": (heads, tokens, width), "b2": (heads, tokens)}
    if own == "focused":
        return {"scale": (case["width"],)}
    if own == "differential":
        return {"lambda_" + name: (max(width // 2, 1),) for name in ("q1", "k1", "q2", "k2")}
    if own == "talking-heads":
        return {"proj_l": (heads, heads), "proj_l_bias": (heads,),
                "proj_w": (heads, heads), "proj_w_bias": (heads,)}
    return {}


def shapes(case):
    """Every parameter's name and shape."""
    width, hidden, names = case["width"], case["hidden"], {}

    def norm(name, count):
        names[name + ".weight"] = names[name + ".bias"] = (count,)

    def linear(name, inputs, outputs, shape=None):
        names[name + ".weight"], names[name + ".bias"] = shape or (outputs, inputs), (outputs,)

    def block(b, part, width, hidden):
        norm(b + part[0], width)
        if narrow_keys(case):
            for name, outputs in [("to_q", width), ("to_k", case["parameters"]["conv_heads"]),
                                  ("to_v", width)]:
                linear(f"{b}attn.{name}", width, outputs)
        elif shared_queries(case):
            for name in ("to_qk", "to_v"):
                linear(f"{b}attn.{name}", width, width)
        else:
            linear(b + part[1], width, 3 * width)
        linear(b + part[2], width, width)
        norm(b + part[3], width)
        linear(b + part[4], width, hidden)
        linear(b + part[5], hidden, width)

    if case["kind"] == "pyramid":
        part = ("norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2")
        before, side = None, case["side"] // case["patch"]
        for stage, (layers, width, heads) in enumerate(case["stages"]):
            s = f"stages.{stage}."
            if before is None:
                linear("patch_embed.proj", 0, width, (width, 1, case["patch"], case["patch"]))
                norm("patch_embed.norm", width)
            else:
                norm(s + "merge.norm", 4 * before)
                linear(s + "merge.reduction", 4 * before, width)
                side //= 2
            linear(s + "positions", 0, width, (width, 1, 3, 3))
            for layer in range(layers):
                block(f"{s}blocks.{layer}.", part, width, 4 * width)
                inner = {**case, "kind": "image", "width": width, "heads": heads, "side": side,
                         "patch": 1, "class_token": False}
                for name, shape in own_shapes(inner).items():
                    names[f"{s}blocks.{layer}.attn.{name}"] = shape
            before = width
        norm("norm", before)
        linear("head", before, case["classes"])
        return names
    if case["form"] == "fastformer":
        of = "fastformer_model."
        names["word_embedding.weight"] = (case["vocabulary"], width)
        names[of + "position_embeddings.weight"] = (case["context"], width)
        names["proj_logits.bias"] = (case["vocabulary"],)
        norm(of + "LayerNorm", width)
        for layer in range(case["layers"]):
            b = f"{of}decoders.{layer}."
            for name in ("attention.attn_norm", "attention.mid_norm", "boom_norm"):
                norm(b + name, width)
            for name in ("Wquery", "Wkeys", "Wvalues", "attn_proj"):
                names[f"{b}attention.{name}.weight"] = (width, width)
            for name in ("query_attn", "key_attn"):
                names[b + "attention." + name] = (width,)
            names[b + "boom.weight"], names[b + "unboom.weight"] = (hidden, width), (width, hidden)
        return names
    if case["kind"] in ("text", "texts"):
        names["transformer.wte.weight"] = (case["vocabulary"], width)
        names["transformer.wpe.weight"] = (case["context"], width)
        prefix, part = "transformer.h.", ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")
    else:
        side, patch = case["side"], case["patch"]
        if case["class_token"]:
            names["cls_token"] = (1, 1, width)
        if case["positions"]:
            names["pos_embed"] = (1, case["class_token"] + (side // patch) ** 2, width)
        linear("patch_embed.proj", 0, width, (width, 1, patch, patch))
        prefix, part = "blocks.", ("norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2")
    for layer in range(case["layers"]):
        b = f"{prefix}{layer}."
        block(b, part, width, hidden)
        if case["arithmetic"] == "adder" and layer not in case["multiplicative_layers"]:
            for name, count in [("attn.qkv_norm", 3 * width), ("attn.norm", width),
                                ("attn.proj_norm", width), ("mlp.fc1_norm", hidden),
                                ("mlp.fc2_norm", width)]:
                norm(b + name, count)
        for name, shape in own_shapes(case).items():
            names[b + "attn." + name] = shape
    norm("norm" if case["kind"] == "image" else "transformer.ln_f", width)
    if case["kind"] != "text":
        linear("head", width, case["classes"])
    return names


def values(case):
    """Tensors in the order of their names; norms' weights around 1."""
    made = {}
    for i, (name, shape) in enumerate(sorted(shapes(case).items())):
        is_norm = len(shape) == 1 and name.endswith(".weight")
        made[name] = uniform(case["seed"] + i, shape) * 0.25 + (1.0 if is_norm else 0.0)
    return {name: tensor.requires_grad_() for name, tensor in made.items()}


def examples(case, count, seed):
    """Images or texts, and what they are told to be; texts with classes are filled up with -1."""
    if case["kind"] == "texts":
        ids = ((uniform(seed, (count, case["context"])) + 2) / 4 * case["vocabulary"]).long()
        lengths = 1 + (torch.arange(count) * 5 + seed) % case["context"]
        ids[torch.arange(case["context"]) >= lengths[:, None]] = -1
        return ids, (torch.arange(count) * 7 + seed) % case["classes"]
    if case["kind"] == "text":
        length = case["context"] + 1
        ids = ((uniform(seed, (count, length)) + 2) / 4 * case["vocabulary"]).long()
        return ids[:, :-1], ids[:, 1:].flatten()
    images = uniform(seed, (count, 1, case["side"], case["side"]))
    return images, (torch.arange(count) * 7 + seed) % case["classes"]


BASE = {"kind": "image", "width": 6, "heads": 2, "layers": 2, "hidden": 10, "eps": 1e-6, "seed": 100,
        "side": 6, "patch": 2, "classes": 3, "class_token": True, "positions": True, "causal": False,
        "mechanism": "softmax", "identity": False, "arithmetic": "multiplicative",
        "multiplicative_layers": [], "input_gradient": "hard_tanh", "weight_gradient": "full",
        "score_gradient": "sign", "importances": False, "form": "transformer", "windows": []}
TEXT = {**BASE, "kind": "text", "vocabulary": 7, "context": 9, "causal": True, "eps": 1e-5}
TEXTS = {**TEXT, "kind": "texts", "causal": False, "layers": 2}
PYRAMID = {**BASE, "kind": "pyramid", "side": 8, "patch": 2, "stages": [[1, 4, 1], [2, 6, 2]],
           "class_token": False, "positions": False}
ADDER = {**BASE, "mechanism": "adder", "identity": True, "arithmetic": "adder", "layers": 1}
WIDE = {"width": 16}  # heads of 8 channels, of which rotary positions turn two pairs each


def one(mechanism, base=BASE, **parameters):
    """A network of one layer with this mechanism."""
    return {**base, "mechanism": mechanism, "parameters": parameters, "layers": 1}


def window(mechanism, kernel, conv_heads, dimensions, base=BASE, full_keys=True):
    return one(mechanism, base, kernel=kernel, conv_heads=conv_heads, dimensions=dimensions,
               full_keys=full_keys)


def windows(form, *tokens):
    """Causal additive attention whose layers pool so many tokens each."""
    return {**one("additive", TEXT, causal=True, window=-1), "form": form, "layers": len(tokens),
            "windows": tokens, "importances": True}


CASES = {
    "softmax": BASE,
    "mean": {**BASE, "class_token": False, "positions": False, "layers": 1},
    "adder": {**BASE, "mechanism": "adder"},
    "adder_identity": {**BASE, "mechanism": "adder", "identity": True, "layers": 1},
    "linear": {**BASE, "mechanism": "linear", "layers": 1},
    "scores_hard_tanh": {**BASE, "mechanism": "adder", "score_gradient": "hard_tanh", "layers": 1},
    "scores_full": {**BASE, "mechanism": "adder", "score_gradient": "full", "layers": 1},
    "all_adder": ADDER,
    "all_adder_sign": {**ADDER, "input_gradient": "sign", "weight_gradient": "sign"},
    "all_adder_hard_tanh": {**ADDER, "weight_gradient": "hard_tanh", "score_gradient": "hard_tanh"},
    "adder_around_softmax": {**ADDER, "mechanism": "softmax", "identity": False},
    "first_multiplicative": {**ADDER, "layers": 2, "multiplicative_layers": [0]},
    "daft": {**BASE, "mechanism": "daft-full", "parameters": {"factors": 4}},
    "daft_free": {**BASE, "mechanism": "daft-full", "parameters": {"factors": 0}, "layers": 1},
    "daft_in_adder_layers": {**ADDER, "mechanism": "daft-full", "parameters": {"factors": 3},
                             "identity": False},
    "hash": {**BASE, "mechanism": "hash", "parameters": {"codes": "sign", "mode": "paper"}},
    "hash_upstream": {**BASE, "mechanism": "hash", "layers": 1,
                      "parameters": {"codes": "sign", "mode": "upstream"}},
    "additive": {**BASE, "mechanism": "additive", "parameters": {}},
    "text_softmax": {**TEXT, "layers": 1},
    "text_adder": {**TEXT, "mechanism": "adder", "layers": 1},
    "text_linear": {**TEXT, "mechanism": "linear", "layers": 1},
    "text_additive": {**TEXT, "mechanism": "additive", "parameters": {}, "layers": 1},
    "text_hash": {**TEXT, "mechanism": "hash", "layers": 1,
                  "parameters": {"codes": "sign", "mode": "paper"}},
    "daft_conv": window("daft-conv", 3, 3, 2),
    "daft_conv_line": window("daft-conv", 5, 2, 1),
    "daft_local": window("daft-local", 3, 2, 2),
    "daft_one_hot": window("daft-one-hot", 3, 6, 2),
    "text_daft": one("daft-full", TEXT, factors=4),
    "text_daft_free": one("daft-full", TEXT, factors=0),
    "text_daft_conv": window("daft-conv", 5, 3, 1, TEXT),
    "text_daft_local": window("daft-local", 5, 1, 1, TEXT),
    "performer": {**BASE, "mechanism": "performer",
                  "parameters": {"kernel": "softmax", "features": 8}},
    "performer_relu": one("performer", kernel="relu", features=7),
    "text_performer": one("performer", TEXT, kernel="softmax", features=8),
    "linformer": one("linformer", landmarks=4),
    "cosformer": one("cosformer", span=0),
    "text_cosformer": one("cosformer", TEXT, span=12),
    "synthesizer": one("synthesizer", scores="dense"),
    "synthesizer_random": one("synthesizer", scores="random"),
    "text_synthesizer": one("synthesizer", TEXT, scores="dense"),
    "text_synthesizer_factorised": one("synthesizer", TEXT, scores="factorised", factors=3),
    "text_additive_window": one("additive", TEXT, causal=True, window=4),
    "talking_heads": one("talking-heads"),
    "text_talking_heads": one("talking-heads", TEXT),
    "texts_softmax": TEXTS,
    "texts_adder": {**TEXTS, "mechanism": "adder", "identity": True, "layers": 1},
    "texts_linear": {**TEXTS, "mechanism": "linear", "layers": 1},
    "texts_additive": one("additive", TEXTS),
    "texts_daft": one("daft-full", TEXTS, factors=4),
    "texts_synthesizer": one("synthesizer", TEXTS, scores="dense"),
    "pyramid": PYRAMID,
    "pyramid_adder": {**PYRAMID, "mechanism": "adder", "identity": True},
    "pyramid_daft": {**PYRAMID, "mechanism": "daft-full", "parameters": {"factors": 3},
                     "stages": [[1, 4, 2], [1, 4, 2], [1, 6, 1]]},
    "daft_conv_few_keys": window("daft-conv", 3, 3, 2, full_keys=False),
    "daft_local_few_keys": window("daft-local", 3, 2, 2, full_keys=False),
    "additive_learnt": {**one("additive"), "importances": True},
    "text_additive_learnt": {**one("additive", TEXT, causal=True, window=4), "importances": True},
    "linformer_in_adder_layers": {**one("linformer", ADDER, landmarks=3), "identity": False},
    "fastformer": {**windows("fastformer", 0), "importances": False},
    "fastformer_windows": windows("fastformer", 2, 4, 0),
    "text_additive_windows": windows("transformer", 3, 0),
    "hash_learnt": {**BASE, "mechanism": "hash",
                    "parameters": {"codes": "learned", "mode": "paper", "bits": 5, "supports": 9}},
    "sigmoid": one("sigmoid", bias=0.5),
    "text_sigmoid": one("sigmoid", TEXT, bias=0),
    "relu": one("relu"),
    "text_relu": one("relu", TEXT),
    "ssmax": one("ssmax", factor=0.75, offset=0.5),
    "text_ssmax": one("ssmax", TEXT, factor=1, offset=0),
    "sparsemax": one("sparsemax"),
    "text_sparsemax": one("sparsemax", TEXT),
    "entmax": one("entmax"),
    "text_entmax": one("entmax", TEXT),
    "hash_learnt_upstream": one("hash", codes="learned", mode="upstream", bits=4, supports=7),
    "softmax_sink": one("softmax-sink", sink=0.5),
    "text_softmax_sink": one("softmax-sink", TEXT, sink=0),
    "forgetting": one("forgetting", rate=0.25),
    "text_forgetting": one("forgetting", TEXT, rate=0.05),
    "retention": one("retention", exponent=1.5),
    "text_retention": one("retention", TEXT, exponent=5),
    "focused": {**one("focused", power=3), "layers": 2},
    "texts_focused": one("focused", TEXTS, power=2.5),
    "pyramid_focused": {**PYRAMID, "mechanism": "focused", "parameters": {"power": 3}},
    "focused_term": {**one("focused", power=3, term=True), "layers": 2},
    "inline_term": one("inline", term=True),
    "pyramid_inline_term": {**PYRAMID, "mechanism": "inline", "parameters": {"term": True}},
    "inline": one("inline"),
    "texts_inline": one("inline", TEXTS),
    "sima": one("sima"),
    "texts_sima": one("sima", TEXTS),
    "agent": {**one("agent", agents=4), "layers": 2},
    "texts_agent": one("agent", TEXTS, agents=3),
    "agent_term": one("agent", agents=4, term=True),
    "pyramid_agent": {**PYRAMID, "mechanism": "agent", "parameters": {"agents": 4}},
    "rala": one("rala", {**BASE, **WIDE}),
    "texts_rala": one("rala", {**TEXTS, **WIDE}),
    "rala_term": one("rala", {**BASE, **WIDE}, term=True),
    "mlla": one("mlla", {**BASE, **WIDE}),
    "texts_mlla": one("mlla", {**TEXTS, **WIDE}),
    "mlla_term": one("mlla", {**BASE, **WIDE}, term=True),
    "gla": one("gla", rate=0.05),
    "text_gla": one("gla", TEXT, rate=0.3),
    "mamba2": one("mamba2", step=0.02),
    "text_mamba2": one("mamba2", TEXT, step=0.1),
    "gated_delta": one("gated-delta", rate=0.05, beta=0.5),
    "text_gated_delta": one("gated-delta", TEXT, rate=0.2, beta=1.5),
    "texts_gated_delta": one("gated-delta", TEXTS, rate=0.2, beta=0.8),
    "kda": one("kda", rate=0.1, beta=0.7),
    "text_kda": one("kda", TEXT, rate=0.0, beta=1.0),
    "soft": {**one("soft", landmarks=4, iterations=20), "layers": 2},
    "texts_soft": one("soft", TEXTS, landmarks=3, iterations=20),
    "soft_term": one("soft", landmarks=4, iterations=5, term=True),
    "nystrom": {**one("nystrom", landmarks=3, iterations=6, divisor="layer"), "layers": 2},
    "nystrom_by_head": one("nystrom", landmarks=4, iterations=2, divisor="head"),
    "differential": {**one("differential"), "layers": 2},
    "text_differential": one("differential", TEXT),
}


def rounded(tensor):
    return [float(f"{value:.6g}") for value in tensor.flatten().tolist()]


def gradients():
    cases = []
    for name, case in CASES.items():
        parameters = values(case)
        inputs, targets = examples(case, 4, 7)
        loss = F.cross_entropy(Network(case, parameters).logits(inputs), targets)
        loss.backward()
        of = lambda t: torch.zeros_like(t) if t.grad is None else t.grad
        cases.append({"name": name, **case, "loss": loss.item(),
                      "gradients": {n: rounded(of(t)) for n, t in parameters.items()}})
    return cases


def rate(step, steps, highest, warm_up):
    if step < warm_up:
        return highest * (step + 1) / warm_up
    return highest * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))


def curve(name, optimiser_name, highest, batch=8, steps=50, warm_up=10):
    """Losses of a plain loop: warm-up and cosine, weight decay on matrices, gradients clipped."""
    case = {**CASES[name], "layers": len(CASES[name]["windows"]) or 2}
    parameters = values(case)
    inputs, targets = examples(case, 48, 9)
    matrices = [t for n, t in parameters.items() if n.endswith(".weight") and t.dim() > 1]
    others = [t for n, t in parameters.items() if not (n.endswith(".weight") and t.dim() > 1)]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0}]
    optimiser = (torch.optim.AdamW(groups) if optimiser_name == "adamw"
                 else torch.optim.SGD(groups, lr=highest, momentum=0.9))
    adder = [t for n, t in parameters.items()
             if case["arithmetic"] == "adder" and n.startswith("blocks.") and t.dim() > 1]
    losses = []
    for step in range(steps):
        chosen = [(step * batch + 5 * i) % 48 for i in range(batch)]
        if case["kind"] == "text":
            wanted = targets.reshape(48, -1)[chosen].flatten()
        else:
            wanted = targets[chosen]
        loss = F.cross_entropy(Network(case, parameters).logits(inputs[chosen]), wanted)
        optimiser.zero_grad()
        loss.backward()
        for tensor in adder:  # AdderNet's scaling of gradients
            tensor.grad *= math.sqrt(tensor.numel()) / (5 * max(tensor.grad.norm().item(), 1e-12))
        torch.nn.utils.clip_grad_norm_(list(parameters.values()), 1.0)
        for group in optimiser.param_groups:
            group["lr"] = rate(step, steps, highest, warm_up)
        optimiser.step()
        losses.append(loss.item())
    return {"name": name, **case, "optimiser": optimiser_name, "highest": highest, "batch": batch,
            "items": 48, "steps": steps, "warm_up": warm_up, "losses": [float(f"{l:.8g}") for l in losses]}


def refined(name, tensor, wanted, case, patch):
    """A tensor of the network on patches of case["patch"] for the same on patches of `patch`."""
    factor, side = case["patch"] // patch, case["side"] // case["patch"]
    cubic = dict(mode="bicubic", align_corners=False)
    if name == "patch_embed.proj.weight":
        return factor**2 * F.avg_pool2d(tensor, factor)
    if name.endswith(".r"):
        return F.interpolate(tensor[None], wanted[-2:], **cubic)[0]
    rows, prefix = tensor.reshape(-1, tensor.shape[-1]), int(case["class_token"])
    grid = F.interpolate(rows[prefix:].T.reshape(1, -1, side, side), scale_factor=factor, **cubic)
    return torch.cat([rows[:prefix], grid[0].flatten(1).T]).reshape(wanted)


def refinements():
    cases = []
    for name, case, patch, kernel in [
            ("softmax", {**BASE, "side": 12, "patch": 4, "layers": 1}, 2, None),
            ("third", {**BASE, "side": 12, "patch": 6, "layers": 1}, 2, None),
            ("daft_full", {**one("daft-full", factors=3), "side": 8, "patch": 4}, 2, None),
            ("daft_conv", {**window("daft-conv", 3, 3, 2), "side": 12, "patch": 4,
                           "class_token": False, "positions": False}, 2, 7)]:
        fine = {**case, "patch": patch}
        if kernel:
            fine["parameters"] = {**case["parameters"], "kernel": kernel}
        wanted, coarse = shapes(fine), values(case)
        made = {n: rounded(refined(n, t.detach(), torch.Size(wanted[n]), case, patch))
                for n, t in coarse.items() if t.shape != wanted[n]}
        cases.append({"name": name, "coarse": case, "fine": fine, "values": made})
    return cases


def main():
    here = pathlib.Path(__file__)
    # Signs flip at 0: at a rate of 5e-3 PyTorch's own float32 differs from its float64 by 5e-4
    # here.
    curves = [curve("softmax", "adamw", 5e-3), curve("adder_identity", "adamw", 5e-3),
              curve("all_adder", "adamw", 1e-3), curve("text_softmax", "adamw", 5e-3),
              curve("softmax", "sgd", 5e-2), curve("linear", "adamw", 5e-3),
              curve("fastformer_windows", "adamw", 5e-3)]
    for name, cases in [("gradients", gradients()), ("curves", curves), ("refinement", refinements())]:
        here.with_name(name + ".json").write_text(
            json.dumps({"torch": torch.__version__, "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
