#!/usr/bin/python3
"""Singular values of outputs with the residual stream, x + A V W_O, of the small models of
make_inside.py in double precision: of head 1 of layer 1, and of all its heads with W_O's bias; and
of what that layer adds to the tokens, MLP and all.

    python3 make_added.py            writes added.npz beside this file
"""

import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import make_inside as inside  # noqa: E402


def main():
    found = {}
    for name, made in (("vit", inside.vit()), ("bert", inside.bert()), ("gpt2", inside.gpt2())):
        x, blocks = made[:2]
        x, layer = blocks[0].run(x), blocks[1]
        found[name + "_updates"] = torch.linalg.svdvals(layer.run(x) - x)
        a, v = layer.maps(x)
        heads = torch.einsum("hij,hjd,hde->hie", a, v, layer.out)
        found[name + "_head"] = torch.linalg.svdvals(x + heads[1])
        found[name + "_output"] = torch.linalg.svdvals(x + heads.sum(0) + layer.out_bias)
    np.savez_compressed(HERE / "added.npz", **{k: v.numpy() for k, v in found.items()})
    print({key: tuple(value.shape) for key, value in found.items()})


main()
