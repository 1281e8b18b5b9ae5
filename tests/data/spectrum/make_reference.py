#!/usr/bin/env python3
"""Writes reference.json: singular values of attention-like maps by NumPy in float64.

The maps are made from MT19937's raw output with exact or correctly rounded operations only, so
that the tests make the very same float32 maps (tests/support/reference_maps.cpp): the file holds
singular values alone. Run: python3 make_reference.py
"""
import json
import pathlib

import numpy as np


def uniform(seed, rows, columns):
    """(u >> 8) / 2^22 - 2 in [-2, 2), exact in float32."""
    generator = np.random.RandomState(seed)._bit_generator
    raw = np.array([generator.random_raw() for _ in range(rows * columns)], dtype=np.uint64)
    return ((raw >> np.uint64(8)).astype(np.float64) * 2.0**-22 - 2.0).reshape(rows, columns)


def kernel_map(n, width, power, seed):
    """Rows of (1 + |q - k|^2 / width)^-power, normalised; sums in order of the index."""
    q = uniform(seed, n, width)
    k = uniform(seed + 1, n, width)
    squares = np.zeros((n, n))
    for c in range(width):
        difference = q[:, c, None] - k[None, :, c]
        squares = squares + difference * difference
    weight = 1.0 / (1.0 + squares / width)
    product = np.ones((n, n))
    for _ in range(power):
        product = product * weight
    total = np.cumsum(product, axis=1)[:, -1:]
    return (product / total).astype(np.float32)


# Each case is N, width, power, seed. Sizes are awkward; a low power gives nearly rank one, a high
# one full rank.
CASES = [(1, 1, 1, 1), (2, 3, 2, 2), (17, 4, 3, 3), (33, 8, 40, 4), (197, 8, 1, 5),
         (197, 16, 30, 6), (197, 2, 200, 7), (385, 4, 6, 8)]


def main():
    maps = []
    for n, width, power, seed in CASES:
        h = kernel_map(n, width, power, seed).astype(np.float64)
        maps.append({
            "n": n, "width": width, "power": power, "seed": seed,
            "symmetry_error": float(np.linalg.norm(h - h.T) / np.linalg.norm(h)),
            "numerical_rank": int(np.linalg.matrix_rank(h.astype(np.float32))),
            "singular_values": np.linalg.svd(h, compute_uv=False).tolist(),
            "with_identity": np.linalg.svd(h + np.eye(n), compute_uv=False).tolist(),
        })
    path = pathlib.Path(__file__).with_name("reference.json")
    path.write_text(json.dumps({"numpy": np.__version__, "maps": maps}) + "\n")


if __name__ == "__main__":
    main()
