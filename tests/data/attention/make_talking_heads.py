#!/usr/bin/env python3
"""Writes talking_heads.json: talking heads in PyTorch, mixed by linear layers as CaiT has them.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_talking_heads.py
"""
import json
import pathlib

import torch
import torch.nn.functional as F

from make_adder import rounded, tensor, uniform


def parameters(heads, seed):
    """proj_l, its bias, proj_w, its bias."""
    shapes = [(heads, heads), (1, heads), (heads, heads), (1, heads)]
    drawn = [torch.from_numpy(uniform(seed + i, *shape)) for i, shape in enumerate(shapes)]
    return drawn[0], drawn[1][0], drawn[2], drawn[3][0]


def talking_heads(q, k, v, proj_l, bias_l, proj_w, bias_w):
    """Queries, keys and values [H, N, d] -> maps [H, N, M] and outputs [N, H·d]."""
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    mixed = F.linear(scores.permute(1, 2, 0), proj_l, bias_l).permute(2, 0, 1)
    maps = F.linear(mixed.softmax(-1).permute(1, 2, 0), proj_w, bias_w).permute(2, 0, 1)
    return maps, (maps @ v).transpose(0, 1).flatten(1)


def main():
    cases = []
    for n, heads, width, seed in [(1, 1, 3, 91), (23, 2, 9, 101), (70, 5, 16, 111)]:
        q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
        maps, output = talking_heads(q, k, v, *parameters(heads, seed + 3))
        cases.append({"n": n, "heads": heads, "width": width, "seed": seed,
                      "map_row": rounded(maps[:, n // 2]), "output": rounded(output)})
    path = pathlib.Path(__file__).with_name("talking_heads.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
