#!/usr/bin/python3
"""The twelve sample images with their labels as one small data set, for evaluate and sweep.

    python3 twelve.py ../inputs
"""

import pathlib
import sys

import numpy
from PIL import Image

# In the order of the classes of Fashion-MNIST.
CLASSES = [
    "t_shirt", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle_boot",
]

folder = pathlib.Path(sys.argv[1])
files = sorted(folder.glob("[01][0-9]_*.png"))
numpy.savez_compressed(
    folder / "twelve.npz",
    images=numpy.stack([numpy.asarray(Image.open(file).convert("L")) for file in files]),
    labels=numpy.array([CLASSES.index(file.stem[3:]) for file in files], dtype=numpy.uint8),
)
