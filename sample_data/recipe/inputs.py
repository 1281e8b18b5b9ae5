#!/usr/bin/python3
"""Picks the sample inputs: of each class the first test image that every model names rightly, and
the first two that none does.

    python3 inputs.py ../inputs ../models/fashion-{softmax,adder,adder-identity}.h5
"""

import functools
import itertools
import pathlib
import re
import sys

from PIL import Image

import fashion_mnist
from reference import Model

folder, *paths = sys.argv[1:]
pixels, labels = fashion_mnist.pixels("t10k"), fashion_mnist.labels("t10k")
models = [Model(path) for path in paths]


@functools.cache
def right(index):
    """How many models name a test image as it is."""
    answers = [model.run(model.normalise(pixels[index]))[0].argmax() for model in models]
    return sum(answer == labels[index] for answer in answers)


def first(count, wanted):
    return list(itertools.islice(filter(wanted, range(len(labels))), count))


chosen = [
    first(1, lambda index: labels[index] == label and right(index) == len(models))[0]
    for label in range(len(fashion_mnist.LABELS))
]
chosen += first(2, lambda index: right(index) == 0)
for number, index in enumerate(chosen):
    name = re.sub("[^a-z]+", "_", fashion_mnist.LABELS[labels[index]].lower().replace("/top", ""))
    Image.fromarray(pixels[index]).save(pathlib.Path(folder) / f"{number:02}_{name}.png")
    print(f"{number:02}_{name}.png is test image {index}")
