#!/usr/bin/python3
"""Writes score_weights.json: attention with weights other than a softmax's, in PyTorch, for the tests to
agree with. Sparsemax and 1.5-entmax are their authors' (github.com/deep-spin/entmax, which must be on
PYTHONPATH); sigmoid, ReLU and scalable softmax are PyTorch's functions over the formulas of their papers.
Differential attention, of two halves of each head, follows Ye et al. 2024, Eq. 1 to 3, in layer 2.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: PYTHONPATH=/path/to/entmax python3 make_score_weights.py
"""
import json
import math
import pathlib

import entmax
import torch

from make_adder import rounded, tensor

WEIGHTS = {
    "sigmoid": lambda scores, n: torch.sigmoid(scores - torch.log(n)),
    "relu": lambda scores, n: torch.relu(scores) / n,
    "ssmax": lambda scores, n: (scores * torch.log(n)).softmax(-1),
    "sparsemax": lambda scores, n: entmax.sparsemax(scores, dim=-1),
    "entmax": lambda scores, n: entmax.entmax15(scores, dim=-1),
}


def case(mechanism, n, heads, width, seed, factor=1, window=0, causal=False):
    q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
    scores = factor * q @ k.transpose(1, 2) / math.sqrt(width)
    i, j = torch.arange(n)[:, None], torch.arange(n)[None]
    hidden = (j > i) & causal
    if window:
        hidden = hidden | (j <= i - window)
    # Keys that are left out one by one: no function above has to know what it makes of -inf.
    maps = torch.zeros_like(scores)
    for query in range(n):
        seen = ~(hidden[query] if hidden.ndim else torch.zeros(n, dtype=torch.bool))
        count = torch.tensor(float(seen.sum()), dtype=scores.dtype)
        if mechanism == "differential":
            halves = [(factor * q[..., part] @ k[..., part].transpose(1, 2) / math.sqrt(width // 2))[:, query][:, seen]
                      for part in (slice(0, width // 2), slice(width // 2, width))]
            lambda_0 = 0.8 - 0.6 * math.exp(-0.3 * 2)
            maps[:, query, seen] = halves[0].softmax(-1) - lambda_0 * halves[1].softmax(-1)
        else:
            maps[:, query, seen] = WEIGHTS[mechanism](scores[:, query][:, seen], count)
    return {"mechanism": mechanism, "n": n, "heads": heads, "width": width, "seed": seed, "factor": factor,
            "window": window, "causal": causal, "map": rounded(maps), "output": rounded((maps @ v).transpose(0, 1))}


def main():
    cases = []
    for index, mechanism in enumerate([*WEIGHTS, "differential"]):
        seed = 300 + 100 * index
        cases += [case(mechanism, 1, 1, 4, seed), case(mechanism, 9, 2, 6, seed + 10),
                  case(mechanism, 9, 2, 6, seed + 20, factor=8), case(mechanism, 9, 2, 6, seed + 30, causal=True),
                  case(mechanism, 9, 1, 6, seed + 40, window=3, causal=True),
                  case(mechanism, 21, 1, 4, seed + 50, factor=0.05)]
    path = pathlib.Path(__file__).with_name("score_weights.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
