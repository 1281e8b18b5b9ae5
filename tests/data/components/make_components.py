#!/usr/bin/env python3
"""Writes components.json: the first singular triples of maps, by NumPy.

The maps are kernel_map of tests/support/reference_maps.cpp, of which the first `rows` rows and
`columns` columns are taken. Run: python3 make_components.py
"""
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "attention"), str(HERE.parent / "depth")]
from make_depth import kernel_map  # noqa: E402

COUNT = 4


def described(case):
    a = kernel_map(case["n"], case["width"], case["power"], case["seed"])
    a = a[:case["rows"], :case["columns"]]
    if case["identity"]:
        a = a + np.eye(len(a))
    u, sigma, vt = np.linalg.svd(a, full_matrices=False)
    signs = np.where(vt[:COUNT].sum(1) < 0, -1, 1)
    return {**case, "sigma": sigma[:COUNT].tolist(), "nuclear_norm": float(sigma.sum()),
            "u": (u.T[:COUNT] * signs[:, None]).tolist(),
            "v": (vt[:COUNT] * signs[:, None]).tolist()}


def main():
    cases = [
        {"n": 20, "width": 3, "power": 3, "seed": 4, "rows": 20, "columns": 20, "identity": False},
        {"n": 20, "width": 3, "power": 3, "seed": 4, "rows": 20, "columns": 20, "identity": True},
        {"n": 26, "width": 2, "power": 4, "seed": 6, "rows": 26, "columns": 11, "identity": False},
        {"n": 26, "width": 2, "power": 4, "seed": 8, "rows": 9, "columns": 26, "identity": False},
    ]
    path = HERE / "components.json"
    path.write_text(json.dumps({"numpy": np.__version__, "cases": [described(c) for c in cases]}) + "\n")


if __name__ == "__main__":
    main()
