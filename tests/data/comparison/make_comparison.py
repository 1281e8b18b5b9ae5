"""Distances of maps, spectra, representations and assignments by NumPy and SciPy: the reference of
tests/analysis/comparison.

Run: /usr/bin/python3 make_comparison.py, in this folder. Writes comparison.json.
"""
import json

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cosine, jensenshannon

rng = np.random.default_rng(5)


def softmax_map(rows, columns, sharpness):
    logits = rng.normal(size=(rows, columns)) * sharpness
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def divergence(row, other):
    p, q = np.abs(row.astype(np.float64)), np.abs(other.astype(np.float64))
    if p.sum() == 0 or q.sum() == 0:
        return None
    return jensenshannon(p, q, base=2) ** 2


def share(matrix):
    values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    return np.cumsum(values) / values.sum()


def curve_area(a, b):
    """The integral of |f_a - f_b|, by a grid that holds every bend and every crossing."""
    xa, xb = np.linspace(0, 1, len(a) + 1), np.linspace(0, 1, len(b) + 1)
    fa, fb = np.concatenate([[0], a]), np.concatenate([[0], b])
    x = np.union1d(xa, xb)
    d = np.interp(x, xa, fa) - np.interp(x, xb, fb)
    crossings = [x[i] + (x[i + 1] - x[i]) * d[i] / (d[i] - d[i + 1])
                 for i in range(len(x) - 1) if d[i] * d[i + 1] < 0]
    x = np.union1d(x, crossings)
    return np.trapz(np.abs(np.interp(x, xa, fa) - np.interp(x, xb, fb)), x)


def linear_cka(x, y):
    x, y = (t.astype(np.float64) - t.astype(np.float64).mean(0) for t in (x, y))
    return np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))


pairs = []
for name, a, b in [
    ("softmax", softmax_map(6, 6, 1.0), softmax_map(6, 6, 3.0)),
    ("one with I", softmax_map(7, 7, 1.5), softmax_map(7, 7, 1.5) + np.eye(7, dtype=np.float32)),
    ("wide", softmax_map(4, 9, 1.0), softmax_map(4, 9, 0.2)),
    ("negative", rng.normal(size=(5, 5)).astype(np.float32), softmax_map(5, 5, 1.0)),
    ("zero row", np.vstack([np.zeros((1, 5), np.float32), softmax_map(4, 5, 1.0)]),
     softmax_map(5, 5, 1.0)),
    ("zeros inside", np.tril(softmax_map(6, 6, 1.0)), softmax_map(6, 6, 1.0)),
]:
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    pairs.append({
        "name": name, "a": a.tolist(), "b": b.tolist(),
        "rows": [divergence(p, q) for p, q in zip(a, b)],
        "cosine": cosine(wide_a.ravel(), wide_b.ravel()),
        "frobenius": np.linalg.norm(wide_a - wide_b),
        "relative": np.linalg.norm(wide_a - wide_b) / np.linalg.norm(wide_b),
        "spectrum": curve_area(share(a), share(b)),
        "singular_values": np.linalg.norm(np.linalg.svd(wide_a, compute_uv=False)
                                          - np.linalg.svd(wide_b, compute_uv=False)),
    })

shares = [share(softmax_map(n, n, s)).tolist() for n, s in [(5, 0.3), (9, 2.0), (13, 1.0), (1, 1)]]
areas = [[curve_area(a, b) for b in shares] for a in shares]

representations = []
for tokens, width, other in [(12, 5, 5), (12, 5, 8), (6, 16, 9), (9, 9, 30)]:
    x = rng.normal(size=(tokens, width)).astype(np.float32)
    y = (x @ rng.normal(size=(width, other)) + rng.normal(size=(tokens, other)) + 3)
    y = y.astype(np.float32)
    representations.append({"x": x.tolist(), "y": y.tolist(), "cka": linear_cka(x, y)})

assignments = []
for rows, columns in [(3, 3), (7, 7), (4, 9), (9, 4), (16, 16)]:
    costs = rng.uniform(size=(rows, columns)).round(3)
    chosen = linear_sum_assignment(costs)
    assignments.append({"costs": costs.tolist(), "least": costs[chosen].sum()})

with open("comparison.json", "w") as out:
    json.dump({"pairs": pairs, "shares": shares, "areas": areas,
               "representations": representations, "assignments": assignments}, out)
