"""Mechanisms as they are written in PyTorch, in float32 on all cores. Answers every line on stdin with the seconds, on the wall
and of processor time, of one forward. Argument: daft-conv, additive or softmax."""
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


forward = {"daft-conv": daft_conv, "additive": additive, "softmax": softmax}[sys.argv[1]]()
with torch.no_grad():
    for _ in sys.stdin:
        forward()
        start, processor = time.perf_counter(), time.process_time()
        forward()
        print(time.perf_counter() - start, time.process_time() - processor, flush=True)
