#!/usr/bin/env python3
"""Writes random_network.json: ranks of maps and likeness of tokens over the depth of networks with
random weights, by NumPy in double.

The random numbers are the program's: std::seed_seq {seed, layer, part} (ISO C++ [rand.util.seedseq])
seeds a Mersenne Twister, and pairs of its numbers are normal by Box and Muller. Run:
python3 make_random_network.py
"""
import json
import math
import pathlib

import numpy as np

TAU = 0.9
CASES = [
    {"mechanism": "softmax", "norm": "pre", "skip": 1.0, "mlp": True, "causal": False},
    {"mechanism": "softmax", "norm": "none", "skip": 0.0, "mlp": False, "causal": True},
    {"mechanism": "adder", "norm": "post", "skip": 0.5, "mlp": True, "causal": False},
]
SHAPE = {"depth": 3, "width": 12, "heads": 3, "tokens": 10}
WORD = (1 << 32) - 1


def seed_words(values, count=624):
    mixed = lambda x: x ^ (x >> 27)
    words = [0x8B8B8B8B] * count
    t = 11
    p, size = (count - t) // 2, len(values)
    q, m = p + t, max(size + 1, count)
    for k in range(m):
        at, left, right = k % count, (k + p) % count, (k + q) % count
        first = 1664525 * mixed(words[at] ^ words[left] ^ words[(k - 1) % count]) & WORD
        added = size if k == 0 else at + values[k - 1] if k <= size else at
        second = (first + added) & WORD
        words[left] = (words[left] + first) & WORD
        words[right] = (words[right] + second) & WORD
        words[at] = second
    for k in range(m, m + count):
        at, left, right = k % count, (k + p) % count, (k + q) % count
        first = 1566083941 * mixed((words[at] + words[left] + words[(k - 1) % count]) & WORD) & WORD
        second = (first - at) & WORD
        words[left] ^= first
        words[right] ^= second
        words[at] = second
    return np.array(words, np.uint32)


def normal(seed, layer, part, rows, columns):
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937",
                     "state": {"key": seed_words([seed, layer, part]), "pos": 624}}
    uniform = (twister.random_raw(2 * rows * columns) + 0.5) / 2.0 ** 32
    first, second = uniform[0::2], uniform[1::2]
    return (np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)).reshape(rows, columns)


def weights(seed, layer, part, inputs, outputs):
    return normal(seed, layer, part, inputs, outputs) / math.sqrt(inputs)


def norm(x):
    rows = x - x.mean(1, keepdims=True)
    return rows / np.sqrt((rows ** 2).mean(1, keepdims=True) + 1e-6)


def rank(x):
    sigma = np.linalg.svd(x, compute_uv=False)
    return int(np.argmax(np.cumsum(sigma) / sigma.sum() >= TAU)) + 1


def map_of(case, q, k):
    d = q.shape[1]
    if case["mechanism"] == "adder":
        scores = -np.abs(q[:, None] - k[None]).sum(-1) / math.sqrt(2 * d * (1 - 2 / math.pi))
    else:
        scores = q @ k.T / math.sqrt(d)
    seen = np.tril(np.ones_like(scores)) if case["causal"] else np.ones_like(scores)
    a = np.exp(scores - scores.max(1, keepdims=True)) * seen
    return a / a.sum(1, keepdims=True)


def entropy_share(a, causal):
    shares = []
    for row, weights_of_row in enumerate(a):
        n = row + 1 if causal else len(weights_of_row)
        if n < 2:
            continue
        w = weights_of_row[weights_of_row > 0]
        shares.append(-(w * np.log(w)).sum() / math.log(n))
    return float(np.mean(shares))


def of_tokens(x):
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    n = len(x)
    cosines = unit @ unit.T
    return {"token-rank": rank(x), "cosine": float((cosines.sum() - n) / (n * (n - 1))),
            "residual": float(np.linalg.norm(x - x.mean(0)) / np.linalg.norm(x))}


def depths(case, seed):
    width, heads, tokens = SHAPE["width"], SHAPE["heads"], SHAPE["tokens"]
    gelu = lambda y: y / 2 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
    x = normal(seed, 0, 0, tokens, width)
    found = [of_tokens(x)]
    for layer in range(1, SHAPE["depth"] + 1):
        maps = []

        def attention(given):
            q, k, v = (given @ weights(seed, layer, part, width, width) for part in (1, 2, 3))
            d = width // heads
            outputs = []
            for head in range(heads):
                of_head = slice(head * d, (head + 1) * d)
                maps.append(map_of(case, q[:, of_head], k[:, of_head]))
                outputs.append(maps[-1] @ v[:, of_head])
            return np.hstack(outputs) @ weights(seed, layer, 4, width, width)

        def mlp(given):
            inner = gelu(given @ weights(seed, layer, 5, width, 4 * width))
            return inner @ weights(seed, layer, 6, 4 * width, width)

        for part in [attention, mlp] if case["mlp"] else [attention]:
            x = case["skip"] * x + part(norm(x) if case["norm"] == "pre" else x)
            x = norm(x) if case["norm"] == "post" else x
        sigmas = [np.linalg.svd(a, compute_uv=False) for a in maps]
        found.append({"rank": float(np.mean([rank(a) for a in maps])),
                      "gap": float(np.mean([s[1] / s[0] for s in sigmas])),
                      "entropy": float(np.mean([entropy_share(a, case["causal"]) for a in maps])),
                      **of_tokens(x)})
    return found


result = {"shape": SHAPE, "cases": [{**case, "seeds": [depths(case, seed) for seed in (0, 1)]}
                                    for case in CASES]}
(pathlib.Path(__file__).parent / "random_network.json").write_text(json.dumps(result, indent=1) + "\n")
