#!/usr/bin/python3
"""What the sample models compute, in NumPy and double precision, for the program's tests to
compare themselves with.

    python3 reference.py ../models ../inputs/00_t_shirt.png ../reference

Written apart from the training code on purpose, straight from the equations: an error would have
to be made twice to go unseen.
"""

import json
import math
import pathlib
import sys

import h5py
import numpy as np

erf = np.vectorize(math.erf, otypes=[float])


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def attention_map(queries, keys, mechanism):
    """[H, N, d] queries and keys -> [H, N, N], before any identity is added. Adder, Eq. 3 and 7."""
    d = queries.shape[-1]
    if mechanism["name"] == "softmax":
        return softmax(queries @ keys.swapaxes(1, 2) / math.sqrt(d))
    distances = np.stack([np.abs(q[:, None] - k[None]).sum(-1) for q, k in zip(queries, keys)])
    return softmax(-distances / math.sqrt(2 * d * (1 - 2 / math.pi)))


class Model:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.name = file.attrs["name"]
            self.architecture = json.loads(file.attrs["architecture"])
            self.labels = json.loads(file.attrs["labels"])
            self.tensors = {
                name: tensor[...].astype(float) for name, tensor in file["tensors"].items()
            }
        self.mechanism = self.architecture["mechanism"]
        self.adds_identity = self.mechanism["parameters"].get("identity", False)

    def normalise(self, pixels):
        """uint8 [28, 28] -> [1, 28, 28]"""
        return (
            (pixels / 255 - self.architecture["input_mean"][0]) / self.architecture["input_std"][0]
        )[None]

    def linear(self, x, name):
        return x @ self.tensors[name + ".weight"].T + self.tensors[name + ".bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + self.architecture["norm_eps"])
        return centred / deviation * self.tensors[name + ".weight"] + self.tensors[name + ".bias"]

    def run(self, image):
        """[1, 28, 28] -> logits [10] and, before any identity is added, attention maps [L, H, N,
        N].
        """
        a, t = self.architecture, self.tensors
        side, rows = a["patch_height"], a["image_height"] // a["patch_height"]
        patches = (
            image[0]
            .reshape(rows, side, rows, side)
            .swapaxes(1, 2)
            .reshape(rows * rows, side * side)
        )
        kernel = t["patch_embed.proj.weight"].reshape(a["width"], side * side)
        x = (
            np.concatenate([t["cls_token"][0], patches @ kernel.T + t["patch_embed.proj.bias"]])
            + t["pos_embed"][0]
        )
        maps = []
        for layer in range(a["layers"]):
            block = f"blocks.{layer}."
            qkv = self.linear(self.norm(x, block + "norm1"), block + "attn.qkv")
            q, k, v = qkv.reshape(len(x), 3, a["heads"], -1).transpose(1, 2, 0, 3)
            maps.append(attention_map(q, k, self.mechanism))
            out = maps[-1] @ v + (v if self.adds_identity else 0)  # Adder, Eq. 9 and 20
            x = x + self.linear(out.swapaxes(0, 1).reshape(len(x), -1), block + "attn.proj")
            hidden = self.linear(self.norm(x, block + "norm2"), block + "mlp.fc1")
            x = x + self.linear(hidden * 0.5 * (1 + erf(hidden / math.sqrt(2))), block + "mlp.fc2")
        return self.linear(self.norm(x, "norm"), "head")[0], np.stack(maps)


def singular_values(maps):
    return np.linalg.svd(maps, compute_uv=False)


def main(models_folder, image_path, out_folder):
    from PIL import Image

    pixels = np.array(Image.open(image_path))
    for path in sorted(pathlib.Path(models_folder).glob("*.h5")):
        model = Model(path)
        image = model.normalise(pixels)
        logits, maps = model.run(image)
        if model.adds_identity:
            maps = maps + np.eye(maps.shape[-1])  # the implied map, W in output = W V
        np.savez_compressed(
            pathlib.Path(out_folder) / f"{model.name}.npz",
            input=image.astype(np.float32),
            logits=logits,
            layers=np.array(
                [0, maps.shape[0] - 1]
            ),  # those whose maps are kept: all of them would be 2.8 MB
            implied_maps=maps[[0, -1]].astype(np.float32),
            singular_values=singular_values(maps),
            singular_values_plus_identity=singular_values(maps + np.eye(maps.shape[-1])),
        )
        print(model.name, model.labels[logits.argmax()])


if __name__ == "__main__":
    main(*sys.argv[1:])
