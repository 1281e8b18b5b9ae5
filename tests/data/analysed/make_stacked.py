#!/usr/bin/env python3
"""Writes stacked.json: singular values and ranks of queries and keys of several inputs, one above the
other, by NumPy's decomposition of the whole matrix.

Queries and keys are those of softmax_case (tests/analysis/matrix/softmax_cases.h). Run: python3
make_stacked.py
"""
import json

import numpy as np
from make_analysed import HERE, centred, sigmas, uniform


def rank(sigma, level, power):
    share = np.cumsum(sigma ** power) / (sigma ** power).sum()
    return int(np.argmax(share >= level) + 1)


def main():
    inputs = [{"n": n, "d": 6, "seed": seed, "causal": False} for n, seed in ((7, 3), (11, 41), (5, 77))]
    found = {}
    for name, offset in (("queries", 0), ("keys", 1)):
        whole = np.vstack([uniform(one["seed"] + offset, one["n"], one["d"]) for one in inputs])
        for key, matrix in ((name, whole), (name + ", centred", centred(whole))):
            sigma = sigmas(matrix)
            found[key] = {"sigma": sigma.tolist(),
                          "values": rank(sigma, 0.9, 1), "energy": rank(sigma, 0.9, 2)}
    (HERE / "stacked.json").write_text(json.dumps({"inputs": inputs, "found": found}) + "\n")


if __name__ == "__main__":
    main()
