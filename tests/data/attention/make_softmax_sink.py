#!/usr/bin/python3
"""Writes softmax_sink.json: softmax with a sink in PyTorch, as a softmax over one more column that is
then left out, for the tests to agree with.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_softmax_sink.py
"""
import json
import math
import pathlib

import torch

from make_adder import rounded, tensor


def case(n, heads, width, seed, sink, factor=1, window=0, causal=False):
    q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
    scores = factor * q @ k.transpose(1, 2) / math.sqrt(width)
    i, j = torch.arange(n)[:, None], torch.arange(n)[None]
    hidden = (j > i) & causal
    if window:
        hidden = hidden | (j <= i - window)
    scores = scores.masked_fill(hidden, -math.inf)
    column = torch.full((heads, n, 1), sink, dtype=scores.dtype)
    maps = torch.cat([scores, column], -1).softmax(-1)[..., :-1]
    return {"n": n, "heads": heads, "width": width, "seed": seed, "sink": sink, "factor": factor, "window": window,
            "causal": causal, "map": rounded(maps), "output": rounded((maps @ v).transpose(0, 1))}


def main():
    cases = [case(1, 1, 3, 201, 0.0), case(13, 2, 5, 211, 0.0), case(13, 2, 5, 221, 2.5), case(13, 2, 5, 231, -1.5, causal=True),
             case(13, 1, 5, 241, 0.5, window=3, causal=True), case(13, 1, 5, 251, 20.0, factor=32, causal=True)]
    path = pathlib.Path(__file__).with_name("softmax_sink.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
