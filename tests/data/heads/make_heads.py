#!/usr/bin/env python3
"""Writes heads.json: what papers print of attention heads, by NumPy.

The maps are made by the tests too: kernel_map of tests/support/reference_maps.cpp, of which one
column is made `factor` times as strong, what lies above the diagonal is left out if `causal`, and
rows are divided by their sums; values are raw_uniform. Grids are 5 × 5 cells of 4 pixels after one
class token. A text with a picture has 3 × 4 cells from its token 2 on. Run: python3 make_heads.py
"""
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "attention"), str(HERE.parent / "depth")]
from make_adder import uniform  # noqa: E402
from make_depth import kernel_map  # noqa: E402

SINK, MASS, TAU, QUERIES = 0.3, 0.6, 0.9, 8


def made_map(case):
    a = kernel_map(case["n"], case["width"], case["power"], case["seed"])
    a[:, case["column"]] *= case["factor"]
    if case["causal"]:
        a = np.tril(a)
    return (a / a.sum(1, keepdims=True)).astype(np.float32).astype(np.float64)


def equivalent_rank(a):
    sigma = np.linalg.svd(a, compute_uv=False)
    return int(np.argmax(np.cumsum(sigma) / sigma.sum() >= TAU) + 1)


def even_gap(a, seen):
    even = np.array([[1 / count if key < count else 0 for key in range(len(a))] for count in seen])
    sigma = np.linalg.svd(a - even, compute_uv=False)
    return sigma[1] / sigma[0]


def chain_measures(a, causal):
    """Of a as a Markov chain (attention_chains of Erel et al.) and as a graph (lapeigvals of
    Binkowski et al., laplacian_diagonal_from_attn without vertical edges)."""
    n = len(a)
    pi = np.ones(n) / n
    transition = 0.99 * a + 0.01 / n
    for _ in range(5000):
        pi = pi @ transition
    found = {"second_eigenvalue": np.sort(abs(np.linalg.eigvals(a)))[-2], "stationary": pi.max()}
    if np.diag(a).min() > 0:
        found["log_diagonal"] = np.log(np.diag(a)).mean()
    if causal:
        found["laplacian"] = (a.sum(0) / np.arange(n, 0, -1) - np.diag(a)).max()
    return found


def measures(case):
    used = made_map(case)
    n = case["n"]
    a = used / used.sum(1, keepdims=True)
    seen = np.arange(1, n + 1) if case["causal"] else np.full(n, n)
    entropies = np.array([-(row[row > 0] * np.log(row[row > 0])).sum() for row in a])
    others = seen > 1
    first = np.arange(n) if case["causal"] else np.zeros(n, int)
    alpha = np.array([a[first[k]:, k].mean() for k in range(n)])
    judged = (n - first) >= min(QUERIES, n)
    sinks = [int(k) for k in np.argsort(-alpha, kind="stable") if judged[k] and alpha[k] > SINK]
    rest = np.delete(a, sinks, axis=1)
    sums = rest.sum(1, keepdims=True)
    rest = np.divide(rest, sums, out=np.zeros_like(rest), where=sums > 0)
    sigma = np.linalg.svd(used, compute_uv=False)
    p = sigma ** 2 / (sigma ** 2).sum()
    values = uniform(case["seed"] + 7, n, case["d"])
    found = {
        "entropy": entropies.mean(),
        "normalised_entropy": (entropies[others] / np.log(seen[others])).mean(),
        "sink": alpha[judged].max(),
        "sink_share": a[:, sinks].sum(1).mean() if sinks else 0.0,
        "equivalent_rank": equivalent_rank(used),
        "rank_without_sinks": equivalent_rank(rest) if sinks else equivalent_rank(used),
        "energy_rank": int(np.argmax(np.cumsum(sigma ** 2) / (sigma ** 2).sum() >= TAU) + 1),
        "gap": sigma[1] / sigma[0],
        "even_gap": even_gap(a, seen),
        "participation_rank": (sigma ** 2).sum() ** 2 / (sigma ** 4).sum(),
        "entropy_rank": np.exp(-(p[p > 0] * np.log(p[p > 0])).sum()),
        "diagonal": np.diag(a)[others].mean(),
        "first_token": a[others, 0].mean(),
        "value_norm": np.linalg.norm(values, axis=1).mean(),
        "output_norm": np.linalg.norm(used @ values, axis=1).mean(),
        **chain_measures(a, case["causal"]),
    }
    if case["grid"]:
        side = case["grid"]
        y, x = np.divmod(np.arange(side * side), side)
        places = 4.0 * np.stack([x, y], 1)
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        patches = a[1:, 1:] / a[1:, 1:].sum(1, keepdims=True)
        found["distance"] = (patches * apart).sum(1).mean()
        of_class = np.sort(a[0, 1:] / a[0, 1:].sum())[::-1]
        found["mass_patches"] = int(np.argmax(np.cumsum(of_class) >= MASS) + 1)
    else:
        i = np.arange(n)
        found["distance"] = (a * abs(i[:, None] - i[None])).sum(1).mean()
        found["previous_token"] = a[i[1:], i[:-1]].mean()
        if case.get("period"):
            text = i % case["period"]
            follows = [[j for j in range(1, k + 1) if text[j - 1] == text[k]] for k in i]
            found["induction"] = np.mean([a[k, keys].sum() for k, keys in enumerate(follows) if keys])
        if case.get("picture"):  # first token, rows and columns of a picture in the text
            begin, rows, columns = case["picture"]
            block = a[begin + rows * columns:, begin:begin + rows * columns]
            found["picture_share"] = block.sum(1).mean()
            found["picture_rank"] = equivalent_rank(block)
    return {"sinks": sinks, "measures": {name: float(value) for name, value in found.items()}}


def main():
    cases = [
        {"n": 26, "width": 3, "power": 4, "seed": 1, "d": 6, "column": 0, "factor": 1, "causal": False,
         "grid": 5},
        {"n": 26, "width": 4, "power": 2, "seed": 3, "d": 9, "column": 7, "factor": 40, "causal": False,
         "grid": 5},
        {"n": 33, "width": 3, "power": 3, "seed": 5, "d": 8, "column": 0, "factor": 30, "causal": True,
         "grid": 0, "period": 7},
        {"n": 33, "width": 4, "power": 3, "seed": 11, "d": 8, "column": 1, "factor": 5, "causal": True,
         "grid": 0, "period": 11, "picture": [2, 3, 4]},
        {"n": 19, "width": 2, "power": 6, "seed": 9, "d": 4, "column": 2, "factor": 1, "causal": False,
         "grid": 0},
    ]
    path = HERE / "heads.json"
    path.write_text(json.dumps({"numpy": np.__version__,
                                "cases": [{**case, **measures(case)} for case in cases]}, indent=1)
                    + "\n")


if __name__ == "__main__":
    main()
