#!/usr/bin/env python3
"""Writes depth.json: ranks and rank-one residuals of matrices by NumPy.

The matrices are made by the tests too, bit for bit: tests/support/reference_maps.cpp, raw_uniform
(tokens) and kernel_map (maps, named by their size, width, power and seed).
Run: python3 make_depth.py
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "attention"))
from make_adder import uniform  # noqa: E402


def kernel_map(n, width, power, seed):
    q, k = uniform(seed, n, width), uniform(seed + 1, n, width)
    squares = ((q[:, None] - k[None]) ** 2).sum(-1)
    weights = (1 / (1 + squares / width)) ** power
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32).astype(np.float64)


def measures(x):
    residual = x - x.mean(0)
    norm = np.linalg.norm
    sigma = np.linalg.svd(x, compute_uv=False)
    p = sigma / sigma.sum()
    return {
        "frobenius": norm(residual) / norm(x),
        "composite": np.sqrt(norm(residual, 1) * norm(residual, np.inf)
                             / (norm(x, 1) * norm(x, np.inf))),
        "effective_rank": float(np.exp(-(p[p > 0] * np.log(p[p > 0])).sum())),
        "equivalent_rank": int(np.argmax(np.cumsum(p) >= 0.9) + 1),
    }


def main():
    tokens = []
    for n, d, offset, seed in [(9, 5, 0.0, 1), (50, 24, 3.0, 2), (24, 50, 10.0, 3)]:
        tokens.append({"n": n, "d": d, "offset": offset, "seed": seed,
                       **measures((uniform(seed, n, d) + offset).astype(np.float32)
                                  .astype(np.float64))})
    maps = [{"n": n, "width": width, "power": power, "seed": seed,
             **measures(kernel_map(n, width, power, seed))}
            for n, width, power, seed in [(17, 3, 1, 5), (60, 8, 3, 6)]]
    path = pathlib.Path(__file__).with_name("depth.json")
    path.write_text(json.dumps({"numpy": np.__version__, "tokens": tokens, "maps": maps}) + "\n")


if __name__ == "__main__":
    main()
