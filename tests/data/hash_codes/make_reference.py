#!/usr/bin/python3
"""Writes reference.json: statistics of binary codes, in NumPy.

    python3 make_reference.py
"""

import itertools
import json
import pathlib

import numpy as np


def statistics(signs):
    """signs [N, b] of +1 and -1."""
    tokens, bits = signs.shape
    _, counts = np.unique(signs, axis=0, return_counts=True)
    shares = counts / tokens
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.corrcoef(signs.T) if bits > 1 else np.ones((1, 1))
    return {
        "distinct": len(counts),
        "commonest": int(counts.max()),
        "entropy": float(-(shares * np.log2(shares)).sum()),
        "balance": ((signs > 0).mean(0)).tolist(),
        "correlation": [[None if np.isnan(c) else round(float(c), 8) for c in row] for row in correlation],
    }


def labels(attention, pairs):
    """Y of EcoFormer, Eq. 13, by row."""
    wanted = np.zeros(attention.shape)
    for row, weights in zip(wanted, attention):
        order = np.argsort(-weights, kind="stable")
        row[order[:pairs]] = 1
        row[order[-pairs:]] = -1
    return wanted


def auc(queries, keys, wanted, labels):
    """By comparing every similar pair with every one that has one of `labels`."""
    distance = (queries[:, None] != keys[None]).sum(2)
    others = ~np.eye(*wanted.shape, dtype=bool)
    similar, dissimilar = (distance[np.isin(wanted, y) & others] for y in ([1], labels))
    won = sum((s < d) + 0.5 * (s == d) for s, d in itertools.product(similar, dissimilar))
    return float(won / (len(similar) * len(dissimilar)))


def main():
    random = np.random.default_rng(7)
    cases = []
    for tokens, keys, bits, pairs in [(12, 12, 5, 3), (30, 20, 16, 4), (21, 21, 64, 10)]:
        of_queries = np.sign(random.standard_normal((tokens, bits)) + 0.4)
        of_queries[tokens // 2 :] = of_queries[: tokens - tokens // 2]  # some codes occur twice
        of_queries[:, 0] = 1  # a bit that never changes
        of_keys = of_queries if keys == tokens else np.sign(random.standard_normal((keys, bits)))
        # Only the order of the values matters.
        attention = random.permutation(tokens * keys).reshape(tokens, keys)
        wanted = labels(attention, pairs)
        error = ((of_queries @ of_keys.T - bits * wanted) ** 2).sum() / (
            (bits * wanted) ** 2
        ).sum()
        cases.append(
            {
                "tokens": tokens,
                "keys": keys,
                "bits": bits,
                "pairs": pairs,
                "queries": of_queries.astype(int).ravel().tolist(),
                "key_codes": of_keys.astype(int).ravel().tolist(),
                "attention": attention.ravel().tolist(),
                "statistics": statistics(of_queries),
                "auc": auc(of_queries, of_keys, wanted, [-1]),
                "auc_against_all": auc(of_queries, of_keys, wanted, [-1, 0]),
                "error": float(error),
            }
        )
    path = pathlib.Path(__file__).with_name("reference.json")
    path.write_text(json.dumps({"numpy": np.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
