"""Attention rollout (Abnar & Zuidema 2020) written directly in NumPy: the reference of rollout_test.

Run: /usr/bin/python3 make_rollout.py, in this folder. Writes rollout.json.
"""
import json

import numpy as np

rng = np.random.default_rng(20)
LAYERS, HEADS, TOKENS = 3, 2, 7  # a class token and a grid of 2 x 3

logits = rng.normal(size=(LAYERS, HEADS, TOKENS, TOKENS)).astype(np.float32) * 2
maps = np.exp(logits - logits.max(-1, keepdims=True))
maps /= maps.sum(-1, keepdims=True)
maps = maps.astype(np.float32)


def rollout(maps, fuse):
    reach = np.eye(TOKENS)
    for layer in maps.astype(np.float64):
        fused = fuse(layer, axis=0)
        fused /= fused.sum(-1, keepdims=True)
        mixed = 0.5 * fused + 0.5 * np.eye(TOKENS)
        mixed /= mixed.sum(-1, keepdims=True)
        reach = mixed @ reach
    return reach


with open("rollout.json", "w") as out:
    json.dump(
        {
            "maps": maps.tolist(),
            "mean": rollout(maps, np.mean).tolist(),
            "maximum": rollout(maps, np.max).tolist(),
            "minimum": rollout(maps, np.min).tolist(),
        },
        out,
    )
