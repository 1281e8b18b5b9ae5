"""Fashion-MNIST as Debian's package dataset-fashion-mnist installs it."""

import gzip

import numpy as np
import torch

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
MEAN, STD = 0.2860, 0.3530  # of the training pixels, scaled to [0, 1]


def pixels(part):
    """part "train" or "t10k" -> uint8 [images, 28, 28]."""
    with gzip.open(f"{FOLDER}/{part}-images-idx3-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)


def labels(part):
    with gzip.open(f"{FOLDER}/{part}-labels-idx1-ubyte.gz") as file:
        return torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64))


def normalised(pixels):
    """uint8 [images, 28, 28] -> float32 [images, 1, 28, 28] as the models expect them."""
    return (torch.from_numpy(pixels.astype(np.float32) / 255)[:, None] - MEAN) / STD


def labelled(part):
    """All images of a part, normalised, and their labels."""
    return normalised(pixels(part)), labels(part)
