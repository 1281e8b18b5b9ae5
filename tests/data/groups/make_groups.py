#!/usr/bin/env python3
"""Writes groups.json: attention between groups of tokens, and receiver scores.

Shares are transcribed with NumPy. Means over blocks, receiver scores and kurtoses are computed by
the functions of the authors of Thought Anchors (2025), taken from a checkout of
interp-reasoning/thought-anchors, whitebox-analyses/attention_analysis. Where SciPy is missing, its
kurtosis (fisher, bias, nan_policy="omit") is transcribed, too.

_compute_averaged_matrix leaves the last row and column of a map out of the last sentence: it gets
the maps with a further row and column of zeros, in no sentence.

The maps are those of make_heads.py, made by the tests too, one head per seed.
Run: python3 make_groups.py CHECKOUT
"""
import ast
import json
import pathlib
import sys
import types
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "attention"), str(HERE.parent / "depth"),
                str(HERE.parent / "heads")]
from make_heads import made_map  # noqa: E402

try:
    from scipy import stats
except ImportError:
    def kurtosis(values, axis, **_):
        centred = values - np.nanmean(values, axis=axis, keepdims=True)
        return np.nanmean(centred ** 4, axis) / np.nanmean(centred ** 2, axis) ** 2 - 3
    stats = types.SimpleNamespace(kurtosis=kurtosis)


def functions_of(file, names):
    """The named functions alone: the modules import much that is not needed here."""
    tree = ast.parse(file.read_text())
    tree.body = [node for node in tree.body
                 if isinstance(node, ast.FunctionDef) and node.name in names]
    scope = {"np": np, "stats": stats, "Any": Any, "Dict": Dict, "List": List,
             "Optional": Optional, "Tuple": Tuple, "Union": Union}
    exec(compile(tree, str(file), "exec"), scope)
    return [scope[name] for name in names]


def shares(a, groups):
    return [[a[queries][:, keys].sum(1).mean() for keys in groups] for queries in groups]


def case(upstream, n, groups, apart, seeds, causal=True, in_order=True):
    averaged, vertical, kurtosis_of = upstream
    made = {"n": n, "groups": groups, "apart": apart, "causal": causal, "heads": []}
    received = []
    for seed in seeds:
        head = {"n": n, "width": 4, "power": 6, "seed": seed, "column": seed % n, "factor": 3,
                "causal": causal}
        a = made_map(head)
        head |= {"shares": shares(a, groups),
                 "of_all": [a[:, keys].sum(1).mean() for keys in groups]}
        if in_order:
            padded = np.zeros((n + 1, n + 1))
            padded[:n, :n] = a
            means = averaged(padded, [(tokens[0], tokens[-1] + 1) for tokens in groups])
            head["mean_weights"] = means.astype(float).tolist()
            scores = vertical(means.astype(float), proximity_ignore=apart, control_depth=False)
            head["received"] = [None if np.isnan(score) else score for score in scores]
            received.append(scores)
        made["heads"].append(head)
    if in_order:
        made["kurtosis"] = kurtosis_of(np.array([received]))[0].tolist()
    return made


def blocks(*lengths):
    ends = np.cumsum(lengths)
    return [list(range(int(end) - length, int(end))) for end, length in zip(ends, lengths)]


def main():
    folder = pathlib.Path(sys.argv[1]) / "whitebox-analyses" / "attention_analysis"
    upstream = functions_of(folder / "attn_funcs.py",
                            ["_compute_averaged_matrix", "get_vertical_scores"])
    upstream += functions_of(folder / "receiver_head_funcs.py", ["get_3d_ar_kurtosis"])
    sentences = blocks(3, 1, 5, 2, 4, 1, 6, 3, 2, 5, 4, 4)
    cases = [case(upstream, 40, sentences, 4, [3, 13, 23]),
             case(upstream, 40, sentences, 2, [33]),
             case(upstream, 40, sentences, 4, [43, 53], causal=False),
             case(upstream, 24, [[5, 6, 7, 20], [0, 2], [21, 22]], 1, [63], in_order=False)]
    (HERE / "groups.json").write_text(json.dumps({"cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
