"""Ranks at the same entropy by NumPy: the reference of tests/analysis/baselines.

Run: /usr/bin/python3 make_equal_entropy.py, in this folder. Writes equal_entropy.json: small maps
with the temperature and the rank at which their entropy is a target, and mean ranks of random
tokens, q, k ~ N(0, 1), over draws.
"""
import json

import numpy as np

rng = np.random.default_rng(11)


def l1(q, k):
    return -np.abs(q[:, None] - k[None]).sum(2) / np.sqrt(2 * q.shape[1] * (1 - 2 / np.pi))


def dot(q, k):
    return q @ k.T / np.sqrt(q.shape[1])


def softmax(scores):
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def entropy_share(weights):
    """Mean over rows of H_i / ln n_i, n_i the number of weights above 0; rows of one are left out."""
    shares = []
    for row in weights:
        row = row[row > 0]
        if len(row) > 1:
            shares.append(-(row * np.log(row)).sum() / np.log(len(row)))
    return np.mean(shares)


def tempered(scores, target):
    low, high = np.log(1e-6), np.log(1e6)
    for _ in range(64):
        middle = (low + high) / 2
        if entropy_share(softmax(scores / np.exp(middle))) < target:
            low = middle
        else:
            high = middle
    return np.exp(middle), softmax(scores / np.exp(middle))


def rank(matrix, threshold=0.9):
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.searchsorted(np.cumsum(values) / values.sum(), threshold) + 1)


cases = []
for name, n, m, d, kind, causal, target in [
    ("softmax", 14, 14, 3, dot, False, 0.8),
    ("sharper", 14, 14, 3, dot, False, 0.3),
    ("adder", 14, 14, 3, l1, False, 0.6),
    ("wide", 9, 13, 5, dot, False, 0.95),
    ("causal", 12, 12, 4, dot, True, 0.7),
]:
    scores = kind(rng.normal(size=(n, d)), rng.normal(size=(m, d)))
    if causal:
        scores[np.triu_indices(n, 1)] = -np.inf
    temperature, weights = tempered(scores, target)
    case = {"name": name, "causal": causal, "map": softmax(scores).tolist(), "target": target,
            "entropy": entropy_share(softmax(scores)), "temperature": temperature,
            "tempered": weights.tolist(), "rank": rank(weights)}
    if n == m:
        case["rank_with_identity"] = rank(weights + np.eye(n))
    cases.append(case)

draws = 24
random = []
for n, d in [(50, 8), (50, 64), (197, 8), (197, 16), (197, 32), (197, 64)]:
    for target in (0.8, 0.6):
        ranks = {"dot": [], "l1": []}
        for draw in range(draws):
            q, k = rng.normal(size=(n, d)), rng.normal(size=(n, d))
            for kind in (dot, l1):
                ranks[kind.__name__].append(rank(tempered(kind(q, k), target)[1]))
        random.append({
            "tokens": n, "width": d, "entropy": target,
            "softmax": {"mean": np.mean(ranks["dot"]), "deviation": np.std(ranks["dot"], ddof=1)},
            "adder": {"mean": np.mean(ranks["l1"]), "deviation": np.std(ranks["l1"], ddof=1)}})

with open("equal_entropy.json", "w") as file:
    json.dump({"cases": cases, "draws": draws, "random": random}, file, indent=1)
    file.write("\n")
