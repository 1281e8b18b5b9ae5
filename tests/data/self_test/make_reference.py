#!/usr/bin/python3
"""What PyTorch computes of two inputs, as docs/self-test.md lays it out: writes reference.npz beside
this file. The model is that of ../models/make_reference.py; the tests write its weights themselves.
"""

import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "models"))
import make_reference as models

model = models.filled(models.Timm(64, 4, 3, 32, 8, 10)).double()
tokens, all_maps, logits = [], [], []
for block in model.blocks:
    block.register_forward_hook(lambda module, given, output: tokens.append(output[0]))
inputs = models.array("inputs", (2, 3, 32, 32))
with torch.no_grad():
    for image in inputs:
        found, maps = model(image[None].double())
        logits.append(found)
        all_maps.append(torch.stack(maps))
np.savez_compressed(
    HERE / "reference.npz",
    inputs=inputs.numpy(),
    logits=torch.stack(logits).float().numpy(),
    maps=torch.stack(all_maps).float().numpy(),
    tokens=torch.stack(tokens).unflatten(0, (2, 3)).float().numpy(),
)
