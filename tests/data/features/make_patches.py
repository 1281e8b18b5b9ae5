#!/usr/bin/env python3
"""Writes patches.json: principal components of tokens as colours, and cosines of one token with all.

Tokens are raw_uniform vectors with a trend. Colours are those of DINOv3's notebook: PCA with three
whitened components (variance with n − 1), then sigmoid(2 z); the signs are those of a positive
skewness. Run: python3 make_patches.py
"""
import json
import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "attention"))
from make_adder import uniform  # noqa: E402


def tokens_of(seed, n, width):
    return (uniform(seed, n, width) * np.linspace(1, 3, width)).astype(np.float32).astype(np.float64)


def fitted(x):
    values, vectors = np.linalg.eigh(np.cov(x.T))
    axes = vectors[:, ::-1][:, :3].T
    scores = (x - x.mean(0)) @ axes.T
    signs = np.where((scores ** 3).sum(0) < 0, -1, 1)
    return x.mean(0), axes * signs[:, None], np.sqrt(values[::-1][:3]), values[::-1][:3] / values.sum()


def colours(x, fit):
    mean, axes, deviation, _ = fit
    return torch.sigmoid(2 * torch.tensor((x - mean) @ axes.T / deviation))


def main():
    n, width = 20, 6
    x, other = tokens_of(4, n, width), tokens_of(9, n, width)
    cosines = torch.nn.functional.cosine_similarity(torch.tensor(x), torch.tensor(x[7:8]))
    fit = fitted(x)
    (HERE / "patches.json").write_text(json.dumps({
        "n": n, "width": width, "seed": 4, "other_seed": 9, "token": 7, "share": fit[3].tolist(),
        "colours": colours(x, fit).flatten().tolist(),
        "other_colours": colours(other, fit).flatten().tolist(), "cosines": cosines.tolist()}) + "\n")


if __name__ == "__main__":
    main()
