#!/usr/bin/env python3
"""Writes analysed.json: singular values of what is made of queries, keys, values and maps, null
models and blocks below the diagonal, leading components, ranks and what lies between two cases, by
NumPy.

Queries, keys and values are raw_uniform of tests/support/reference_maps.cpp; maps are their softmax
in float32. Shuffles use MT19937's raw output as the program does. Run: python3 make_analysed.py
"""
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "attention"))
from make_adder import uniform  # noqa: E402

TAU = 0.9


def softmax_map(case):
    q, k = (uniform(case["seed"] + i, case["n"], case["d"]) for i in range(2))
    s = q @ k.T / np.sqrt(case["d"])
    seen = np.tril(np.ones_like(s)) if case["causal"] else np.ones_like(s)
    a = np.exp(s - s.max(1, keepdims=True)) * seen
    return s, (a / a.sum(1, keepdims=True)).astype(np.float32).astype(np.float64)


def sigmas(x):
    return np.linalg.svd(x, compute_uv=False)


def centred(x):
    return x - x.mean(0)


def rank(x):
    sigma = sigmas(x)
    return int(np.argmax(np.cumsum(sigma) / sigma.sum() >= TAU) + 1)


def shuffled(a, seed, causal):
    generator = np.random.RandomState(seed)._bit_generator
    a = a.copy()
    for row in range(a.shape[0]):
        for left in range(row + 1 if causal else a.shape[1], 1, -1):
            other = (int(generator.random_raw()) * left) >> 32
            a[row, left - 1], a[row, other] = a[row, other], a[row, left - 1]
    return a


def block_rank(a):
    n = len(a)
    parts = min(n, 16)
    cuts = [(part * n + parts - 1) // parts for part in range(1, parts)]
    ranks = [rank(a[t:, :t]) for t in cuts]
    return {"equivalent_rank": max(ranks), "cut": cuts[int(np.argmax(ranks))],
            "numerical_rank": max(int((sigmas(a[t:, :t]) > max(n - t, t) * 2.0 ** -23
                                       * sigmas(a[t:, :t])[0]).sum()) for t in cuts)}


def matrices_of(case):
    s, a = softmax_map(case)
    n, d = case["n"], case["d"]
    q, k, v = (uniform(case["seed"] + i, n, d) for i in range(3))
    basis = np.linalg.svd(v, full_matrices=False)[0]
    matrices = {
        "scores": s, "seen-by-values": a @ basis @ basis.T,
        "value-weighted": a * np.linalg.norm(v, axis=1), "head-output": a @ v, "values": v, "queries": q,
        "keys": k, "map": a,
    }
    if not case["causal"]:
        matrices["log-map"] = np.log(a)
    return matrices


def components(x, count=3):
    u, sigma, v = np.linalg.svd(x, full_matrices=False)
    found = []
    for k in range(count):
        sign = -1 if v[k].sum() < 0 else 1
        found.append({"sigma": sigma[k], "rows": (sign * u[:, k]).tolist(), "columns": (sign * v[k]).tolist()})
    return {"nuclear_norm": sigma.sum(), "components": found}


def ranks(x):
    squares = sigmas(x) ** 2
    p = squares / squares.sum()
    p = p[p > 0]
    return {"equivalent_rank": rank(x), "participation_rank": squares.sum() ** 2 / (squares ** 2).sum(),
            "entropy_rank": np.exp(-(p * np.log(p)).sum())}


def divergence(p, q):
    p, q = (x / x.sum(1, keepdims=True) for x in (p, q))

    def entropy(x):
        return -(x * np.log2(np.where(x > 0, x, 1))).sum(1)

    return (entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2).mean()


def area(a, b):
    """Between the curves of cumulative singular values of matrices with as many of them."""
    d = np.concatenate([[0], np.cumsum(sigmas(a)) / sigmas(a).sum() - np.cumsum(sigmas(b)) / sigmas(b).sum()])
    left, right = d[:-1], d[1:]
    same = left * right >= 0
    spread = np.where(same, 1, np.abs(left) + np.abs(right))
    return (np.where(same, np.abs(left + right), (left ** 2 + right ** 2) / spread) / 2).mean()


def beside(a, b):
    """Of a to the reference's matrix b."""
    return {"frobenius": np.linalg.norm(a - b), "relative": np.linalg.norm(a - b) / np.linalg.norm(b),
            "cosine": 1 - (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b),
            "singular_values": np.linalg.norm(sigmas(a) - sigmas(b)), "area": area(a, b),
            "rank_difference": rank(a) - rank(b)}


def compared(case, reference):
    found = {}
    one, other = matrices_of(case), matrices_of(reference)
    for name in one:
        found[name] = beside(one[name], other[name])
        found[name + ", centred"] = beside(centred(one[name]), centred(other[name]))
    for name in ("map", "value-weighted"):
        found[name]["divergence"] = divergence(one[name], other[name])
    return {"case": case, "reference": reference, "found": found}


def described(case):
    n = case["n"]
    matrices = matrices_of(case)
    a = matrices["map"]
    eye = np.eye(n)
    even = np.tril(np.ones((n, n))) if case["causal"] else np.ones((n, n))
    even /= even.sum(1, keepdims=True)
    nulls = [rank(shuffled(a, seed, case["causal"])) for seed in range(8)]
    with_i = [rank(shuffled(a, seed, case["causal"]) + eye) for seed in range(8)]
    found = {
        "sigma": {name: sigmas(x).tolist() for name, x in matrices.items()},
        "centred": {name: sigmas(centred(x)).tolist() for name, x in matrices.items()},
        "components": {name: components(x) for name, x in matrices.items()},
        "components_centred": {name: components(centred(x)) for name, x in matrices.items()},
        "ranks": {name: ranks(x) for name, x in matrices.items()},
        "ranks_centred": {name: ranks(centred(x)) for name, x in matrices.items()},
        "null": {"mean": float(np.mean(nulls)), "deviation": float(np.std(nulls, ddof=1)),
                 "with_identity": float(np.mean(with_i)), "even": rank(even),
                 "centred": float(np.mean([rank(centred(shuffled(a, seed, case["causal"])))
                                           for seed in range(8)]))},
    }
    if case["causal"]:
        found["block"] = block_rank(a)
    return {**case, **found}


def main():
    cases = [{"n": 24, "d": 5, "seed": 1, "causal": False}, {"n": 37, "d": 4, "seed": 11, "causal": True},
             {"n": 9, "d": 12, "seed": 21, "causal": True}]
    path = HERE / "analysed.json"
    reference = {"n": 24, "d": 5, "seed": 31, "causal": False}
    path.write_text(json.dumps({"numpy": np.__version__, "cases": [described(c) for c in cases],
                                "compared": compared(cases[0], reference)}) + "\n")


if __name__ == "__main__":
    main()
