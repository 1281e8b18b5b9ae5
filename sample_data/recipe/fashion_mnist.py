"""Fashion-MNIST as Debian's package dataset-fashion-mnist installs it."""

import gzip

import numpy as np

FOLDER = "/usr/share/datasets/fashion-mnist"
LABELS = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
]


def pixels(part):
    """part "train" or "t10k" -> uint8 [images, 28, 28]."""
    with gzip.open(f"{FOLDER}/{part}-images-idx3-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)


def labels(part):
    """-> uint8 [images], numbers of LABELS."""
    with gzip.open(f"{FOLDER}/{part}-labels-idx1-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=8)
