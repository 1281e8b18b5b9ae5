#!/usr/bin/python3
"""How well hash codes keep the attention of a run: error, AUC and rank correlation.

    attnscope trace MODEL --input X --record qkv --out TRACE.h5
    attnscope learn-codes MODEL --input X --out CODES.h5
    python3 codes.py TRACE.h5 [CODES.h5 ...]

Means over all layers and heads for random codes of 16 bits, for codes that are learned from the trace
as EcoFormer's published code learns them (if queries are keys), and for those of each file. The error
is ‖H Hᵀ − bY‖² / ‖bY‖² (EcoFormer, Eq. 12) with Y from the 10 keys of each query with the most and
the least attention; AUC is that of the distances of these pairs, and against all keys that are not
among the 10 most attended; the correlation is Spearman's, between
the products of a query's code with all codes and its attention. NumPy and h5py, no code of the program.
"""

import sys

import h5py
import numpy as np

BITS, SUPPORTS, PAIRS = 16, 25, 10


def unit(tokens):
    return tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


def signs(values):
    return np.where(values > 0, 1.0, -1.0)


def kernel(tokens, anchors, bandwidth):
    squares = ((tokens[:, None] - anchors[None]) ** 2).sum(2)
    return np.exp(-squares / (2 * (bandwidth or squares.mean()))), squares.mean()


def labels(attention):
    """Y of Eq. 13."""
    wanted = np.zeros(attention.shape)
    for row, weights in zip(wanted, attention):
        order = np.argsort(-weights, kind="stable")
        row[order[:PAIRS]], row[order[-PAIRS:]] = 1, -1
    return wanted


def learned_as_published(centred, wanted, weights, heads):
    """100 steps of Nesterov's descent a bit at rate 5e-4, on the mean over heads of −yᵀ S y / (N b);
    a bit keeps its random start if the descent does not lower the loss of hard signs."""
    left, codes = BITS * wanted, []
    for start in weights:
        a, velocity = start.copy(), np.zeros_like(start)
        for _ in range(100):
            y = np.tanh(centred @ a / 2)
            slope = -centred.T @ ((1 - y**2) / 2 * (left @ y + left.T @ y))
            slope /= len(centred) * BITS * heads
            velocity = 0.9 * velocity + slope
            a = a - 5e-4 * (slope + 0.9 * velocity)
        before, after = signs(centred @ start), signs(centred @ a)
        codes.append(after if after @ left @ after > before @ left @ before else before)
        left = left - np.outer(codes[-1], codes[-1])
    return np.array(codes).T


def ranks(values):
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def measures(queries, keys, attention, wanted):
    products = queries @ keys.T
    target = BITS * wanted
    error = ((products - target) ** 2).sum() / (target**2).sum()
    others = ~np.eye(*wanted.shape, dtype=bool)
    similar = products[(wanted == 1) & others]

    def auc(farther):
        order = ranks(np.concatenate([similar, farther]))[: len(similar)]
        return (order.sum() - len(similar) * (len(similar) + 1) / 2) / (len(similar) * len(farther))

    from_least, from_all = auc(products[(wanted == -1) & others]), auc(products[(wanted < 1) & others])
    alike = [
        np.corrcoef(ranks(a), ranks(b))[0, 1] if a.std() > 0 else 0
        for a, b in zip(products, attention)
    ]
    return error, from_least, from_all, np.mean(alike)


def main():
    found = {}
    with h5py.File(sys.argv[1], "r") as trace:
        layers = sorted(name for name in trace if name.startswith("layer_"))
        tokens = [(trace[f"{name}/queries"][()], trace[f"{name}/keys"][()]) for name in layers]
    random = np.random.default_rng(1)
    for layer, (all_queries, all_keys) in zip(layers, tokens):
        for head, (queries, keys) in enumerate(zip(all_queries, all_keys)):
            scores = queries @ keys.T / np.sqrt(keys.shape[1])
            attention = np.exp(scores - scores.max(1, keepdims=True))
            attention /= attention.sum(1, keepdims=True)
            wanted = labels(attention)
            q, k = unit(queries), unit(keys)

            def keep(name, of_queries, of_keys):
                rows = found.setdefault(name, [])
                rows.append(measures(signs(of_queries), signs(of_keys), attention, wanted))

            def hashed(anchors, means, weights):
                of_keys, bandwidth = kernel(k, anchors, None)
                of_queries, _ = kernel(q, anchors, bandwidth)
                means = of_keys.mean(0) if means is None else means
                return (of_queries - means), (of_keys - means), weights

            random_bits = random.choice([-1.0, 1.0], (2, len(k), BITS))
            same = np.array_equal(queries, keys)
            keep("independent bits", random_bits[0], random_bits[0 if same else 1])
            planes = random.standard_normal((BITS, k.shape[1]))
            keep("random hyperplanes (LSH)", q @ planes.T, k @ planes.T)
            anchors = k[random.permutation(len(k))[:SUPPORTS]]
            weights = random.standard_normal((BITS, SUPPORTS))
            of_queries, of_keys, _ = hashed(anchors, None, weights)
            keep("random kernel weights (KLSH)", of_queries @ weights.T, of_keys @ weights.T)
            if same:
                codes = learned_as_published(of_keys, wanted, weights, len(all_keys))
                keep("learned as published", codes, codes)
            for path in sys.argv[2:]:
                with h5py.File(path, "r") as file:
                    group = file[layer]
                    of_queries, of_keys, weights = hashed(
                        *(group[f"ksh.{name}"][()][head] for name in ("anchor", "mvec", "A"))
                    )
                keep(path, of_queries @ weights.T, of_keys @ weights.T)
    for name, rows in found.items():
        error, least, every, alike = np.mean(rows, 0)
        print(
            f"{name:30} error {error:.3f}  AUC {least:.4f} (against all {every:.4f})"
            f"  correlation {alike:.3f}"
        )


if __name__ == "__main__":
    main()
