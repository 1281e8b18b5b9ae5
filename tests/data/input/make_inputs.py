#!/usr/bin/python3
"""Writes the pictures and data sets the input tests open, and what PIL reads in the pictures.
Needs Pillow, NumPy and h5py; run it in this folder."""
import h5py
import numpy as np
from PIL import Image

rng = np.random.default_rng(7)
rows, columns = np.mgrid[0:13, 0:17]
smooth = np.stack([rows * 19, columns * 15, (rows + columns) * 8], -1).astype(np.uint8)

Image.fromarray(smooth).save("rgb.png")
Image.fromarray(smooth[..., 0]).save("grey.png")
Image.fromarray(smooth).convert("P", palette=Image.ADAPTIVE, colors=16).save("palette.png")
Image.fromarray(smooth[..., 0] > 100).save("one_bit.png")
Image.fromarray((smooth[..., 0].astype(np.uint16) * 257)).save("grey16.png")
alpha = rng.integers(0, 256, (13, 17, 1), dtype=np.uint8)
Image.fromarray(np.concatenate([smooth, alpha], -1)).save("rgba.png")
Image.fromarray(smooth).save("rgb.jpg", quality=90)
Image.fromarray(smooth).save("progressive.jpg", quality=90, progressive=True)
Image.fromarray(smooth[..., 0]).save("grey.jpg", quality=90)
Image.fromarray(np.concatenate([smooth, alpha], -1), mode="CMYK").save("cmyk.jpg")

expected = {}
for name in ["rgb.png", "grey.png", "rgb.jpg", "progressive.jpg", "grey.jpg"]:
    expected[name] = np.asarray(Image.open(name))
expected["palette.png"] = np.asarray(Image.open("palette.png").convert("RGB"))
expected["one_bit.png"] = np.asarray(Image.open("one_bit.png").convert("L"))
expected["grey16.png"] = smooth[..., 0]
colour, a = smooth.astype(int), alpha.astype(int)
expected["rgba.png"] = ((colour * a + 255 * (255 - a) + 127) // 255).astype(np.uint8)
np.savez_compressed("pixels.npz", **expected)

images = rng.integers(0, 256, (4, 5, 6), dtype=np.uint8)
labels = np.array([3, 1, 0, 2])
np.savez("grey_set.npz", images=images, labels=labels)
np.savez_compressed("channels_last_set.npz", images=np.stack([images, images + 1, images + 2], -1), labels=labels)
with h5py.File("float_set.h5", "w") as f:
    f.create_dataset("images", data=images[:, None].astype("f4") / 255, chunks=(1, 1, 5, 6), compression="gzip")
    f["labels"] = labels.astype("u1")[:, None]
np.savez("too_few_labels.npz", images=images, labels=labels[:3])
np.save("tokens.npy", rng.standard_normal((5, 8), dtype=np.float32))
np.save("bytes.npy", images[0])
