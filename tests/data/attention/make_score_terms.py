#!/usr/bin/python3
"""Writes score_terms.json: softmax and adder attention with grouped keys, biases, windows, soft caps and
sinks, in PyTorch, for the tests to agree with.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_score_terms.py
"""
import json
import math
import pathlib

import torch

from make_adder import rounded, tensor, uniform


def hidden_keys(n, window, form, causal):
    """True where query i does not see key j."""
    i, j = torch.arange(n)[:, None], torch.arange(n)[None]
    hidden = torch.zeros(n, n).bool()
    if form == "before":
        hidden = (j <= i - window) | (j > i)
    elif form == "around":
        hidden = (i - j).abs() > window // 2
    elif form == "chunk":
        hidden = i // window != j // window
    return hidden | (j > i) if causal else hidden


def case(n, heads, key_heads, width, seed, kind, bias, window, form, causal, cap, sinks):
    q = tensor(seed, n, heads, width)
    k, v = (tensor(seed + i, n, key_heads, width).repeat_interleave(heads // key_heads, 0) for i in (1, 2))
    if kind == "softmax":
        scores = q @ k.transpose(1, 2) / math.sqrt(width)
    else:
        scores = -torch.cdist(q, k, p=1) / math.sqrt(2 * width * (1 - 2 / math.pi))
    if cap:
        scores = cap * torch.tanh(scores / cap)
    if bias:
        scores = scores + torch.from_numpy(uniform(seed + 3, heads * n, n)).reshape(heads, n, n)
    scores = scores.masked_fill(hidden_keys(n, window, form, causal), -math.inf)
    if sinks:
        sink = torch.from_numpy(uniform(seed + 4, heads, 1)).reshape(heads, 1, 1).expand(heads, n, 1)
        maps = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
    else:
        maps = scores.softmax(-1)
    return {
        "n": n, "heads": heads, "key_heads": key_heads, "width": width, "seed": seed, "mechanism": kind, "bias": bias,
        "window": window, "form": form, "causal": causal, "cap": cap, "sinks": sinks,
        "map": rounded(maps), "output": rounded((maps @ v).transpose(0, 1)),
    }


def main():
    cases = []
    for kind in ("softmax", "adder"):
        cases += [
            case(9, 4, 2, 6, 1, kind, False, 0, "", False, 0, False),
            case(9, 4, 1, 5, 11, kind, True, 0, "", False, 0, False),
            case(11, 2, 2, 8, 21, kind, True, 3, "before", True, 1.5, False),
            case(10, 6, 3, 4, 31, kind, False, 4, "around", False, 0, True),
            case(13, 3, 3, 4, 41, kind, True, 5, "chunk", True, 0.75, True),
        ]
    path = pathlib.Path(__file__).with_name("score_terms.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
