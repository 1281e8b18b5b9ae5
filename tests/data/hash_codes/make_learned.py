#!/usr/bin/python3
"""Writes learned.json: hash functions learned bit by bit, in NumPy with whole matrices, for the
program's tests to compare themselves with.

    python3 make_learned.py

The procedure is EcoFormer's (Eq. 12 to 14): the residual bY - sum h h^T, each bit the descent on
2 / (1 + exp(-g a)) - 1 from a random a. Added is a second start of every bit, the leading
eigenvector of Liu et al. 2012, and the best of the four candidates is kept, by its hard signs.
"""

import json
import math
import pathlib

import numpy as np


class Words:
    """The 32-bit words of std::mt19937, and normal numbers by Box and Muller's transform."""

    def __init__(self, seed):
        self.state = np.random.RandomState(seed % 2**32)

    def word(self):
        return int(self.state.randint(0, 2**32, dtype=np.uint32))

    def uniform(self):
        return (self.word() + 0.5) / 2**32

    def normal(self):
        radius = math.sqrt(-2 * math.log(self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())


def signs(values):
    return np.where(values >= 0, 1.0, -1.0)


def squares(tokens, anchors):
    return ((tokens[:, None] - anchors[None]) ** 2).sum(-1)


def draw(examples, case):
    """Anchors [m, d], drawn from all tokens, and random weights [b, m]."""
    tokens = np.vstack([x for q, k, _ in examples for x in ([k] if q is k else [k, q])])
    seed = case["seed"] * 1000003 + case["head"]
    words, order = Words(seed), list(range(len(tokens)))
    for a in range(case["supports"]):
        other = a + words.word() % (len(tokens) - a)
        order[a], order[other] = order[other], order[a]
    numbers = Words(seed + 1)
    weights = [[numbers.normal() for _ in range(case["supports"])] for _ in range(case["bits"])]
    return tokens[order[: case["supports"]]], np.array(weights)


def kernels(examples, anchors):
    """Centred kernels of queries and keys, one pair for each example, and their means [m]."""
    kernels = []
    for queries, keys, _ in examples:
        twice = 2 * squares(keys, anchors).mean()
        kernels.append([np.exp(-squares(x, anchors) / twice) for x in (queries, keys)])
    all_tokens = [x for (g, h), (q, k, _) in zip(kernels, examples) for x in ([h] if q is k else [h, g])]
    means = np.vstack(all_tokens).mean(0)
    return [(g - means, h - means) for g, h in kernels], means


def spectral_start(centred, residuals, tokens):
    metric = sum(g.T @ g + h.T @ h for g, h in centred)
    wanted = sum(g.T @ r @ h for (g, h), r in zip(centred, residuals))
    ridge = 1e-6 * np.trace(metric) / len(metric) + 1e-12
    inverse = np.linalg.inv(np.linalg.cholesky(metric + ridge * np.eye(len(metric))))
    _, vectors = np.linalg.eigh(inverse @ (wanted + wanted.T) / 2 @ inverse.T)
    a = inverse.T @ vectors[:, -1]
    a *= np.sign(a[np.abs(a).argmax()])
    return a / math.sqrt(a @ metric @ a / (2 * tokens))


def descended(start, centred, residuals, tokens, case):
    """The end of Nesterov's descent on the relaxed loss for each token."""
    a, velocity = start, np.zeros(len(start))
    for _ in range(case["steps"]):
        slope = np.zeros(len(start))
        for (g, h), residual in zip(centred, residuals):
            query, key = 2 / (1 + np.exp(-g @ a)) - 1, 2 / (1 + np.exp(-h @ a)) - 1
            slope -= g.T @ ((1 - query**2) / 2 * (residual @ key)) / tokens
            slope -= h.T @ ((1 - key**2) / 2 * (residual.T @ query)) / tokens
        velocity = case["momentum"] * velocity + slope
        a = a - case["rate"] * (slope + case["momentum"] * velocity)
    return a


def learn(examples, case):
    anchors, weights = draw(examples, case)
    centred, means = kernels(examples, anchors)
    bits = case["bits"]
    target = sum(bits**2 * (y**2).sum() for *_, y in examples)
    tokens = sum(len(y) for *_, y in examples)
    of_codes = lambda a: [np.atleast_2d(signs(a @ g.T)).T @ np.atleast_2d(signs(a @ h.T)) for g, h in centred]
    error = lambda products: sum(((p - bits * y) ** 2).sum() for p, (*_, y) in zip(products, examples)) / target
    before = error(of_codes(weights))
    residuals, errors, moved = [bits * y for *_, y in examples], [], 0
    for bit in range(bits):
        starts = (weights[bit], spectral_start(centred, residuals, tokens))
        ends = [descended(start, centred, residuals, tokens, case) for start in starts]
        candidates = [starts[0], ends[0], starts[1], ends[1]]
        losses = [-sum((r * p).sum() for r, p in zip(residuals, of_codes(a))) for a in candidates]
        moved += int(np.argmin(losses)) % 2
        weights[bit] = candidates[int(np.argmin(losses))]
        residuals = [r - p for r, p in zip(residuals, of_codes(weights[bit]))]
        errors.append(sum((r**2).sum() for r in residuals) / target)
    assert abs(errors[-1] - error(of_codes(weights))) < 1e-12
    return anchors, means, weights, before, errors, moved


def labels(attention, pairs):
    """Y of EcoFormer, Eq. 13, by row."""
    wanted = np.zeros(attention.shape)
    for row, weights in zip(wanted, attention):
        order = np.argsort(-weights, kind="stable")
        row[order[:pairs]] = 1
        row[order[-pairs:]] = -1
    return wanted


def example(random, tokens, width, pairs, shared):
    """Tokens of length 1 in four groups, and Y of their products."""
    def draw():
        rows = centres[np.arange(tokens) % 4] + 0.5 * random.standard_normal((tokens, width))
        return np.round(rows / np.linalg.norm(rows, axis=1, keepdims=True), 6)

    centres = random.standard_normal((4, width))
    keys = draw()
    queries = keys if shared else draw()
    return queries, keys, labels(queries @ keys.T, pairs)


def main():
    random = np.random.default_rng(35)
    cases = []
    for shared, sizes, rate in [(True, [26], 5e-4), (True, [22, 18], 0.02), (False, [24, 20], 0.02)]:
        case = {"bits": 6, "supports": 8, "pairs": 3, "steps": 100, "rate": rate, "momentum": 0.9}
        case |= {"seed": 3, "head": 1, "shared": shared}
        examples = [example(random, tokens, 5, case["pairs"], shared) for tokens in sizes]
        anchors, means, weights, before, errors, moved = learn(examples, case)
        print(f"shared {shared}: error {before:.3f} to {errors[-1]:.3f}, {moved} bits by descent")
        case["examples"] = [
            {
                "tokens": len(labelled),
                "queries": queries.ravel().tolist(),
                "keys": keys.ravel().tolist(),
                "labels": labelled.astype(int).ravel().tolist(),
            }
            for queries, keys, labelled in examples
        ]
        case |= {"anchors": anchors.ravel().tolist(), "means": means.tolist()}
        case |= {"weights": weights.ravel().tolist(), "error_before": before, "errors": errors}
        cases.append(case)
    path = pathlib.Path(__file__).with_name("learned.json")
    path.write_text(json.dumps({"numpy": np.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
