#!/usr/bin/python3
"""Relevance by gradient (Chefer, Gur & Wolf 2021) of the small ViT and GPT-2 of make_inside.py, by
PyTorch's autograd in double precision.

    python3 make_relevance.py            writes relevance.npz beside this file
"""

import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.argv = [sys.argv[0]]
import make_inside as inside  # noqa: E402


def relevance(made, target, place):
    """The row of R of the token that is read, for the logit of `target`."""
    x, blocks, read, readout = made
    maps = []

    def keep(a):
        a.requires_grad_(True)
        a.retain_grad()
        maps.append(a)
        return a

    for layer in blocks:
        x = layer.run(x, keep)
    logits = read(x)
    logits[place if len(logits) > 1 else 0, target].backward()
    r = torch.eye(len(x)).double()
    for a in maps:
        r = r + (a.grad * a).clamp(min=0).mean(0) @ r
    return r[place].detach().numpy()


def main():
    found = {
        "vit_3": relevance(inside.vit(), 3, 0),
        "vit_1": relevance(inside.vit(), 1, 0),
        "gpt2_7": relevance(inside.gpt2(), 7, len(inside.IDS) - 1),
        "gpt2_7_at_10": relevance(inside.gpt2(), 7, 10),
    }
    np.savez_compressed(HERE / "relevance.npz", **found)
    print({key: (value.shape, value.max()) for key, value in found.items()})


main()
