"""Mechanisms as they are written in PyTorch, in float32 on all cores. Answers every line on stdin with the seconds, on the wall
and of processor time, of one forward. Argument: daft-conv, additive, softmax, soft or a recurrent mechanism."""
import sys
import time

import torch
import torch.nn.functional as F

torch.manual_seed(1)


def daft_conv():
    """DAFT, Algorithm 2, along a sequence: 1024 tokens, 512 channels, 16 heads of biases, a window of 63."""
    tokens, width, heads, window = 1024, 512, 16, 63
    q, k, v = (torch.randn(1, width, tokens) for _ in range(3))
    r, gamma, beta = torch.randn(heads, window), torch.randn(heads, 1), torch.randn(heads, 1)

    def forward():
        w = gamma * (r - r.mean(1, keepdim=True)) / r.std(1, keepdim=True, unbiased=False) + beta
        taps = (w.exp() - 1).repeat_interleave(width // heads, 0)[:, None]
        weights = (k - k.amax(2, keepdim=True)).exp()
        products = weights * v
        above = F.conv1d(products, taps, padding=window // 2, groups=width) + products.sum(2, keepdim=True)
        below = F.conv1d(weights, taps, padding=window // 2, groups=width) + weights.sum(2, keepdim=True)
        return q.sigmoid() * above / below

    return forward


def additive():
    """Fastformer-LM, Eq. 4 to 8: sums over prefixes, 2048 tokens, 4 heads of 32 channels."""
    tokens, heads, width = 2048, 4, 32
    k, v, w = torch.randn(heads, tokens, width), torch.randn(heads, tokens, width), torch.randn(heads, width, 1)

    def forward():
        logits = k @ w / width**0.5
        weights = (logits - logits.amax(1, keepdim=True)).exp()
        return (weights * v).cumsum(1) / weights.cumsum(1)

    return forward


def softmax():
    """With its map: 12 heads of 64 channels, 197 tokens."""
    q, k, v = (torch.randn(12, 197, 64) for _ in range(3))

    def forward():
        attention = (q @ k.transpose(1, 2) / 8).softmax(-1)
        return attention, attention @ v

    return forward


def soft():
    """SOFT: 1024 tokens, 4 heads of 64 channels, the means of 49 parts as landmarks, 20 iterations."""
    q, k, v = (torch.randn(4, 1024, 64) for _ in range(3))

    def kernel(a, b):
        return (-torch.cdist(a, b).square() / 16).exp()

    def forward():
        landmarks = F.adaptive_avg_pool1d(q.transpose(1, 2), 49).transpose(1, 2)
        p = kernel(landmarks, landmarks)
        factor = 1.8 / p.sum(-1).amax(-1).square()
        p = p + 0.01 * torch.eye(49)
        z = factor[:, None, None] * p
        for _ in range(20):
            z = 2 * z - z @ p @ z
        return kernel(q, landmarks) @ z @ (kernel(landmarks, k) @ v)

    return forward


def recurrent(name):
    """2048 tokens, 4 heads of 64 channels. Decays of tokens: all pairs of tokens at once. Decays of channels: token by
    token, as no form with all pairs is usual."""
    heads, tokens, width = 4, 2048, 64
    q, k, v = (torch.randn(heads, tokens, width) for _ in range(3))
    decays = -0.1 * torch.randn(heads, tokens, width if name in ("gla", "kda") else 1).square()
    delta = name in ("gated-delta", "kda")
    if name == "retention":
        decays = torch.log(1 - 2.0 ** (-5 - torch.arange(heads)))[:, None, None].expand(heads, tokens, 1)
    beta = torch.full((heads, tokens, 1), 0.5)

    def normalised(x):
        return x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt() if delta else x

    def pairs():
        q1, k1 = normalised(q) / 8, normalised(k)
        sums = decays[..., 0].cumsum(1)
        between = sums[:, :, None] - sums[:, None]
        if name == "forgetting":
            hidden = torch.ones(tokens, tokens).triu(1).bool()
            return (q1 @ k1.transpose(1, 2) + between).masked_fill(hidden, -torch.inf).softmax(-1) @ v
        weights = between.tril().exp().tril()
        values = v
        if delta:
            known = (beta * (k1 @ k1.transpose(1, 2)) * weights).tril(-1) + torch.eye(tokens)
            values = torch.linalg.solve_triangular(known, beta * v, upper=False)
        return ((q1 @ k1.transpose(1, 2)) * weights) @ values

    def by_token():
        q1, k1, state, rows = normalised(q) / 8, normalised(k), torch.zeros(heads, width, width), []
        for t in range(tokens):
            state = state * decays[:, t, :, None].exp()
            value = v[:, t]
            if delta:
                value = beta[:, t] * (value - (k1[:, t, None] @ state)[:, 0])
            state = state + k1[:, t, :, None] * value[:, None]
            rows.append((q1[:, t, None] @ state)[:, 0])
        return torch.stack(rows, 1)

    return by_token if name in ("gla", "kda") else pairs


MAKERS = {"daft-conv": daft_conv, "additive": additive, "softmax": softmax, "soft": soft}
forward = (MAKERS[sys.argv[1]] if sys.argv[1] in MAKERS else lambda: recurrent(sys.argv[1]))()
with torch.no_grad():
    for _ in sys.stdin:
        forward()
        start, processor = time.perf_counter(), time.process_time()
        forward()
        print(time.perf_counter() - start, time.process_time() - processor, flush=True)
