#!/usr/bin/python3
"""The mean equivalent rank (Adder, 3.2.2) of the models' attention maps A, and of A + I, over the
first test images.

    python3 ranks.py ../models/fashion-*.h5
"""

import sys

import numpy as np

import fashion_mnist
from reference import Model, singular_values

IMAGES, THRESHOLD = 50, 0.9


def equivalent_rank(sigma):
    """The smallest r whose r largest singular values hold nine tenths of their sum."""
    share = np.cumsum(sigma, -1) / sigma.sum(-1, keepdims=True)
    return (share < THRESHOLD).sum(-1) + 1


images = fashion_mnist.pixels("t10k")[:IMAGES]
for path in sys.argv[1:]:
    model = Model(path)
    ranks = []  # [image, A or A + I, layer, head]
    for pixels in images:
        _, maps = model.run(model.normalise(pixels))
        ranks.append(
            [equivalent_rank(singular_values(m)) for m in (maps, maps + np.eye(maps.shape[-1]))]
        )
    ranks = np.array(ranks)
    # The deviation is over images.
    for which, name in enumerate(("A", "A + I")):
        per_layer = " ".join(f"{r:.1f}" for r in ranks[:, which].mean((0, 2)))
        per_image = ranks[:, which].mean((1, 2))
        spread = per_image.std(ddof=1)
        mean = f"{per_image.mean():6.2f} +- {spread:5.2f}"
        print(f"{model.name:24} {name:6} {mean}  by layer {per_layer}")
