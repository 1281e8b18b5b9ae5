#!/usr/bin/python3
"""Accuracy of a softmax model whose attention is hashed with codes that meet their supervision
exactly: no hash function can do better by EcoFormer's Eq. 12.

    python3 ideal_codes.py ../models/fashion-softmax.h5 400

Every map is replaced by (b Y + 2^c) / sum of its row (EcoFormer, Eq. 9 and 13), with Y from the l
keys of most and of least attention of each query in the model's own map of the changed tokens; l = 0
is even attention. Test images are spread evenly over all 10,000.
"""

import sys

import numpy as np

import fashion_mnist
import reference

BITS, BIAS = 16, 32
softmax_maps = reference.dot_product_maps


def ideal_maps(queries, keys, pairs):
    attention = softmax_maps(queries, keys)
    order = np.argsort(-attention, axis=-1, kind="stable")
    weights = np.full(attention.shape, float(BIAS))
    np.put_along_axis(weights, order[..., :pairs], BIAS + BITS, -1)
    np.put_along_axis(weights, order[..., order.shape[-1] - pairs :], BIAS - BITS, -1)
    return weights / weights.sum(-1, keepdims=True)


def main(path, count):
    model = reference.Model(path)
    images, labels = fashion_mnist.pixels("t10k"), fashion_mnist.labels("t10k")
    chosen = np.arange(count) * (len(images) // count)
    for pairs in (0, 10, 40, 98):
        reference.dot_product_maps = lambda q, k, pairs=pairs: ideal_maps(q, k, pairs)
        answers = [model.run(model.normalise(images[i]))[0].argmax() for i in chosen]
        right = int((np.array(answers) == labels[chosen]).sum())
        print(f"l = {pairs:2}: {right} of {count} right, {100 * right / count:.1f} %", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
