#!/usr/bin/env python3
"""Writes cosformer.json: cosFormer in PyTorch, in the order that is linear in the tokens.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_cosformer.py
"""
import json
import math
import pathlib

import torch

from make_adder import rounded, tensor


def cosformer(q, k, v, span, causal):
    """Qin et al. 2022, Section 3: places count from 1, as in the authors' code."""
    def features(x):
        angle = math.pi / 2 * torch.arange(1, x.shape[1] + 1, dtype=x.dtype) / span
        x = torch.relu(x)
        return torch.cat([x * torch.sin(angle)[:, None], x * torch.cos(angle)[:, None]], dim=-1)

    phi_q, phi_k = features(q), features(k)
    products = torch.einsum("hmf,hmv->hmfv", phi_k, v).cumsum(1)
    sums = phi_k.cumsum(1)
    if not causal:
        products, sums = products[:, -1:].expand_as(products), sums[:, -1:].expand_as(sums)
    total = torch.einsum("hnf,hnf->hn", phi_q, sums).clamp_min(1e-6)
    return torch.einsum("hnf,hnfv->hnv", phi_q, products) / total[..., None]


def main():
    cases = []
    for n, heads, width, seed in [(1, 1, 3, 91), (23, 2, 9, 101), (64, 1, 17, 111)]:
        q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
        cases.append({"n": n, "heads": heads, "width": width, "seed": seed,
                      **{name: rounded(cosformer(q, k, v, span, causal).transpose(0, 1))
                         for name, span, causal in [("whole", n, False), ("causal", n, True),
                                                    ("wide", 3 * n, False)]}})
    path = pathlib.Path(__file__).with_name("cosformer.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
