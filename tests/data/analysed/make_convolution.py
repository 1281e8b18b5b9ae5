#!/usr/bin/python3
"""DAFT-conv's maps apart, in NumPy and double precision: what every query sees, g_i e^K_j / Σ, and
the Toeplitz map of the convolution, g_i e^K_j (e^w_ij − 1) / Σ (DAFT, Algorithm 2). Singular values
of channel 0 of each head of the sample model's first and last layer.

    python3 make_convolution.py            writes convolution.npz beside this file
"""

import pathlib
import sys

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent
SAMPLES = HERE.parents[2] / "sample_data"
sys.path.insert(0, str(SAMPLES / "recipe"))
import reference  # noqa: E402

HEADS, WIDTH = 3, 48
seen = []


def apart(queries, keys, biases):
    channels = np.arange(HEADS) * (WIDTH // HEADS)
    gate = 1 / (1 + np.exp(-queries.T[channels]))
    k, w = np.exp(keys.T[channels])[:, None, :], np.exp(biases[channels])
    total = (k * w).sum(-1, keepdims=True)
    seen.append(np.stack([gate[:, :, None] * k * part / total for part in (np.ones_like(w), w - 1)]))
    return whole(queries, keys, biases)


whole, reference.daft_maps = reference.daft_maps, apart
model = reference.Model(SAMPLES / "models" / "fashion-daft-conv.h5")
model.run(model.normalise(np.array(Image.open(SAMPLES / "inputs" / "00_t_shirt.png"))))
values = np.stack([reference.singular_values(seen[layer]) for layer in (0, -1)])
np.savez_compressed(
    HERE / "convolution.npz", without_convolution=values[:, 0], convolution=values[:, 1]
)
print(values.shape, values[:, :, 0, :3])
