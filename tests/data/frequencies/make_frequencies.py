#!/usr/bin/env python3
"""Writes frequencies.json: filter responses of maps and log-amplitudes of tokens over grids of
patches, by PyTorch, with the definitions of the papers' authors.

Maps are softmaxes of raw_uniform scores, tokens raw_uniform vectors (tests/support/reference_maps.h).
The response is the norm of each row of F A F⁻¹ (Wang et al. 2022, appendix), here with F as a whole
matrix; amplitudes along the diagonal follow xxxnell/how-do-vits-work, fourier_analysis.ipynb.
Run: python3 make_frequencies.py
"""
import json
import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "attention"))
from make_adder import uniform  # noqa: E402


def dft(n):
    return torch.fft.fft(torch.eye(n, dtype=torch.complex128), dim=0)


def rings(rows, columns):
    """Rounded radius of each frequency, in cycles of the shorter side."""
    u = np.abs(np.fft.fftfreq(rows))[:, None]
    v = np.abs(np.fft.fftfreq(columns))[None, :]
    return np.floor(np.hypot(u, v) * min(rows, columns) + 0.5).astype(int)


def ring_means(values, ring):
    return [float(values[ring == r].mean()) for r in range(ring.max() + 1)]


def response(case):
    rows, columns, prefix = case["rows"], case["columns"], case["prefix"]
    n = prefix + rows * columns
    sum_of_heads = 0
    for head in range(case["heads"]):
        scores = torch.tensor(uniform(case["seed"] + head, n, n)) * case["sharpness"]
        a = torch.softmax(scores, 1).float().double()[prefix:, prefix:]
        f = torch.kron(dft(rows), dft(columns))
        kernel = f @ a.to(torch.complex128) @ torch.linalg.inv(f)
        sum_of_heads = sum_of_heads + torch.linalg.norm(kernel, dim=1)
    return (sum_of_heads / case["heads"]).reshape(rows, columns).numpy()


def fourier(x):
    return (torch.fft.fft2(x).abs() + 1e-6).log()


def amplitude(case):
    rows, columns, prefix = case["rows"], case["columns"], case["prefix"]
    x = torch.tensor(uniform(case["seed"] + 100, prefix + rows * columns, case["width"]))[prefix:]
    return fourier(x.reshape(rows, columns, -1).permute(2, 0, 1)).mean(0)


def half_diagonal(latent):
    h, w = latent.shape
    shifted = torch.roll(latent, shifts=(h // 2, w // 2), dims=(0, 1))
    latent = shifted.diag()[h // 2:]
    return (latent - latent[0]).tolist()


def described(case):
    ring = rings(case["rows"], case["columns"])
    tokens = amplitude(case)
    found = {**case, "cells": np.bincount(ring.ravel()).tolist(),
             "response": ring_means(response(case), ring), "amplitude": ring_means(tokens.numpy(), ring)}
    if case["rows"] == case["columns"]:
        found["diagonal"] = half_diagonal(tokens)
    return found


def main():
    shapes = [(5, 4, 2), (6, 6, 0), (7, 7, 1)]
    cases = [{"rows": rows, "columns": columns, "prefix": prefix, "heads": 2, "width": 6,
              "sharpness": 3, "seed": 10 * i + 1} for i, (rows, columns, prefix) in enumerate(shapes)]
    (HERE / "frequencies.json").write_text(json.dumps([described(case) for case in cases]) + "\n")


if __name__ == "__main__":
    main()
