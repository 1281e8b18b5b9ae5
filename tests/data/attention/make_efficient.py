#!/usr/bin/env python3
"""Writes efficient.json: linear, additive and hashed attention in PyTorch, from the papers.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_efficient.py
"""
import json
import math
import pathlib

import torch

from make_adder import rounded, tensor, uniform


def linear(q, k, v):
    """Katharopoulos et al. 2020, Eq. 4 and 7, in the order that is linear in the tokens."""
    phi_q, phi_k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
    numerator = phi_q @ (phi_k.transpose(1, 2) @ v)
    return numerator / (phi_q @ phi_k.sum(1).unsqueeze(-1))


def additive(k, v, w, window=None):
    """Fastformer-LM, Eq. 4 to 15, by its sums: window tokens up to each, itself included."""
    e = torch.exp((k * w[:, None, :]).sum(-1) / k.shape[-1] ** 0.5)
    out = torch.empty_like(v)
    for i in range(k.shape[1]):
        first = 0 if window is None else max(0, i - window + 1)
        weights = e[:, first:i + 1]
        out[:, i] = (weights[..., None] * v[:, first:i + 1]).sum(1) / weights.sum(1)[:, None]
    return out


def hashed(x, v, a, mvec, anchor, upstream):
    """EcoFormer, Eq. 7 to 11; queries and keys are x. Codes and sums linear in the tokens."""
    x = torch.nn.functional.normalize(x, dim=-1)
    squares = torch.cdist(x, anchor).square()
    sigma = squares.mean(dim=(1, 2), keepdim=True)
    kernel = torch.exp(-squares / (2 * sigma)) - mvec[:, None, :]
    codes = torch.sign(kernel @ a.transpose(1, 2))
    bits, tokens = a.shape[1], x.shape[1]
    bias = bits + 1 if upstream else 2 ** math.ceil(math.log2(bits + 1))
    numerator = codes @ (codes.transpose(1, 2) @ v)
    numerator = numerator + bias * (v if upstream else v.sum(1, keepdim=True))
    return numerator / (codes @ codes.sum(1).unsqueeze(-1) + bias * tokens)


def main():
    cases = []
    for n, heads, width, window, seed in [(1, 1, 3, 1, 31), (23, 2, 9, 5, 41), (40, 1, 17, 8, 51)]:
        q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
        w = torch.from_numpy(uniform(seed + 3, heads, width))
        alpha = torch.softmax((k * w[:, None, :]).sum(-1) / width ** 0.5, dim=-1)
        pooled = (alpha[..., None] * v).sum(1, keepdim=True).expand_as(v)
        bits, supports = width, 4
        buffers = (torch.from_numpy(uniform(seed + 4, heads * bits, supports))
                   .reshape(heads, bits, supports),
                   torch.full((heads, supports), 0.625, dtype=torch.float64),
                   torch.from_numpy(uniform(seed + 5, heads * supports, width))
                   .reshape(heads, supports, width) / 2)
        outputs = {"hash_paper": hashed(k, v, *buffers, upstream=False),
                   "hash_upstream": hashed(k, v, *buffers, upstream=True),
                   "linear": linear(q, k, v), "bidirectional": pooled, "causal": additive(k, v, w),
                   "windowed": additive(k, v, w, window)}
        cases.append({"n": n, "heads": heads, "width": width, "window": window, "seed": seed,
                      **{name: rounded(o.transpose(0, 1)) for name, o in outputs.items()}})
    path = pathlib.Path(__file__).with_name("efficient.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
