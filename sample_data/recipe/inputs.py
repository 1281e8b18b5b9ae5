#!/usr/bin/python3
"""Picks the sample inputs: of each class the first test image that every model names rightly, and
the first two that none does.

    python3 inputs.py ../inputs ../models/fashion-{softmax,adder,adder-identity}.h5
"""

import pathlib
import re
import sys

import torch
from PIL import Image

import fashion_mnist
import vit

folder, *models = sys.argv[1:]
pixels, labels = fashion_mnist.pixels("t10k")[:1000], fashion_mnist.labels("t10k")[:1000]
with torch.no_grad():
    right = torch.stack(
        [vit.read(path)(fashion_mnist.normalised(pixels)).argmax(1) == labels for path in models]
    )

chosen = [
    int((right.all(0) & (labels == label)).nonzero()[0])
    for label in range(len(fashion_mnist.LABELS))
]
chosen += (~right.any(0)).nonzero()[:2, 0].tolist()
for number, index in enumerate(chosen):
    name = re.sub("[^a-z]+", "_", fashion_mnist.LABELS[labels[index]].lower().replace("/top", ""))
    Image.fromarray(pixels[index]).save(pathlib.Path(folder) / f"{number:02}_{name}.png")
    print(f"{number:02}_{name}.png is test image {index}")
