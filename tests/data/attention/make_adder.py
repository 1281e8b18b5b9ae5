#!/usr/bin/env python3
"""Writes adder.json: L1 distances and adder attention by PyTorch, for the tests to agree with.

Queries, keys and values come from MT19937's raw output, exact in float32, so that the tests make
the very same ones (tests/support/reference_maps.cpp). Run: python3 make_adder.py
"""
import json
import math
import pathlib

import numpy as np
import torch


def uniform(seed, rows, columns):
    """(u >> 8) / 2^22 - 2 in [-2, 2), exact in float32."""
    generator = np.random.RandomState(seed)._bit_generator
    raw = np.array([generator.random_raw() for _ in range(rows * columns)], dtype=np.uint64)
    return ((raw >> np.uint64(8)).astype(np.float64) * 2.0**-22 - 2.0).reshape(rows, columns)


def tensor(seed, rows, heads, width):
    """[heads, rows, width] from [rows, heads * width]."""
    flat = torch.from_numpy(uniform(seed, rows, heads * width))
    return flat.reshape(rows, heads, width).transpose(0, 1)


def rounded(values):
    return [float(f"{value:.9g}") for value in values.flatten().tolist()]


def main():
    cases = []
    for n, heads, width, seed in [(1, 1, 1, 1), (9, 2, 33, 11), (33, 1, 64, 21)]:
        q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
        distances = torch.cdist(q, k, p=1)
        maps = torch.softmax(-distances / math.sqrt(2 * width * (1 - 2 / math.pi)), dim=-1)
        plus_identity = maps + torch.eye(n, dtype=maps.dtype)
        cases.append({
            "n": n, "heads": heads, "width": width, "seed": seed,
            "cdist": rounded(distances),
            "map": rounded(maps),
            "output": rounded((maps @ v).transpose(0, 1)),
            "output_with_identity": rounded((plus_identity @ v).transpose(0, 1)),
        })
    path = pathlib.Path(__file__).with_name("adder.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
