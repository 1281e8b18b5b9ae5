#!/usr/bin/python3
"""What Pillow makes of a picture, and PyTorch of a grid, for the tests of preprocessing.

    python3 make_images.py      writes resize.npz beside this file
"""

import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

from references.idefics3 import tiles_of

rng = np.random.default_rng(7)
rows, columns = np.mgrid[0:37, 0:53]
colour = np.stack(
    [128 + 90 * np.sin(rows / 3 + c) * np.cos(columns / (4 + c)) + rng.normal(0, 25, rows.shape) for c in range(3)], -1
)
colour = colour.clip(0, 255).round().astype(np.uint8)
picture = Image.fromarray(colour)
arrays = {"picture": colour, "grey": np.array(picture.convert("L"))}
for name, filter in (("bilinear", Image.BILINEAR), ("bicubic", Image.BICUBIC), ("lanczos", Image.LANCZOS)):
    for width, height in ((16, 16), (53, 20), (90, 37), (11, 80)):
        arrays[f"{name}_{width}x{height}"] = np.array(picture.resize((width, height), filter))

# torchvision's Resize(32, BICUBIC) resizes the shorter side, and CenterCrop(28) takes the middle.
resized = picture.resize((int(32 * 53 / 37), 32), Image.BICUBIC)
left, top = round((resized.width - 28) / 2.0), round((resized.height - 28) / 2.0)
arrays["evaluated"] = np.array(resized.crop((left, top, left + 28, top + 28)))

# The picture upright and on its side, cut by Idefics 3's processor into tiles of 16 × 16 pixels.
for name, pixels in (("wide", colour), ("tall", colour.transpose(1, 0, 2)), ("square", colour[:30, :30])):
    for longest in (16, 40, 64):
        tiles = tiles_of(torch.from_numpy(pixels.copy()), 16, longest)
        arrays[f"tiles_{name}_{longest}"] = np.stack([tile.numpy().astype(np.uint8) for tile in tiles])

positions = torch.from_numpy(rng.normal(size=(1, 5, 4, 6)).astype(np.float32))
arrays["positions"] = positions[0].flatten(1).T.numpy()  # [4 * 6, 5]
for r, c in ((7, 9), (3, 2), (4, 13)):
    grid = F.interpolate(positions, size=(r, c), mode="bicubic", align_corners=False)
    arrays[f"positions_{r}x{c}"] = grid[0].flatten(1).T.numpy()
np.savez_compressed(pathlib.Path(__file__).with_name("resize.npz"), **arrays)
