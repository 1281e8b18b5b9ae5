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


# Kept of each layer: all heads; of DAFT, which has a map for every channel, the first three.
MAPS = 3


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def dot_product_maps(queries, keys):
    """[H, N, d] queries and keys -> [H, N, N]: Adder, Eq. 3."""
    return softmax(queries @ keys.swapaxes(1, 2) / math.sqrt(queries.shape[-1]))


def adder_maps(queries, keys):
    """The same for Adder, Eq. 7."""
    distances = np.stack([np.abs(q[:, None] - k[None]).sum(-1) for q, k in zip(queries, keys)])
    return softmax(-distances / math.sqrt(2 * queries.shape[-1] * (1 - 2 / math.pi)))


def daft_maps(queries, keys, biases):
    """[N, D] queries and keys, [D, N, N] biases -> [D, N, N], row i scaled by the gate of query i:
    DAFT, Eq. 5.
    """
    gate = 1 / (1 + np.exp(-queries.T))
    return gate[:, :, None] * softmax(keys.T[:, None, :] + biases)


def hash_maps(tokens, weights, means, anchors):
    """[H, N, d] tokens, A [H, b, m], mu [H, m], anchors [H, m, d] -> [H, N, N]: EcoFormer, Eq. 7 to
    11, with its bias 2^c; the kernel's width is the mean squared distance of each head.
    """
    tokens = tokens / np.sqrt((tokens**2).sum(-1, keepdims=True))
    distances = ((tokens[:, :, None] - anchors[:, None]) ** 2).sum(-1)
    kernel = np.exp(-distances / (2 * distances.mean((1, 2), keepdims=True))) - means[:, None]
    codes = np.where(kernel @ weights.swapaxes(1, 2) >= 0, 1.0, -1.0)
    affinities = codes @ codes.swapaxes(1, 2) + 2.0 ** math.ceil(math.log2(weights.shape[1] + 1))
    return affinities / affinities.sum(-1, keepdims=True)


def convolution_biases(r, gamma, beta, side):
    """[H, s, s] window biases -> [H, N, N] on a side x side grid: DAFT, Eq. 9, then Eq. 7."""
    centred = r - r.mean((1, 2), keepdims=True)
    gain, bias = gamma[:, None, None], beta[:, None, None]
    r = gain * centred / np.sqrt((centred**2).mean((1, 2), keepdims=True)) + bias
    window = r.shape[1]
    biases = np.zeros((len(r), side * side, side * side))
    for i in range(side * side):
        for j in range(side * side):
            row = j // side - i // side + window // 2
            column = j % side - i % side + window // 2
            if 0 <= row < window and 0 <= column < window:
                biases[:, i, j] = r[:, row, column]
    return biases


class Model:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.name = file.attrs["name"]
            architecture = json.loads(file.attrs["architecture"])
            self.tensors = {
                name: tensor[...].astype(float) for name, tensor in file["tensors"].items()
            }
        self.image, self.labels = architecture["input"], architecture["labels"]
        self.width, self.layers = architecture["width"], architecture["layers"]
        self.heads = architecture["layer"]["attention"]["heads"]
        self.eps = architecture["layer"]["norm"]["eps"]
        self.readout = architecture["readout"]["kind"]
        self.mechanism = architecture["mechanism"]
        self.adds_identity = self.mechanism["parameters"].get("identity", False)

    def normalise(self, pixels):
        """uint8 [28, 28] -> [1, 28, 28]"""
        return ((pixels / 255 - self.image["mean"][0]) / self.image["std"][0])[None]

    def linear(self, x, name, parts=1):
        """x W^T + b; of an adder layer, each of `parts` equal parts of -sum |x - W| + b (Adder,
        Eq. 4) normalised by itself.
        """
        weight, bias = self.tensors[name + ".weight"], self.tensors[name + ".bias"]
        if name + "_norm.weight" not in self.tensors:
            return x @ weight.T + bias
        distances = np.stack([np.abs(x - row).sum(-1) for row in weight], -1)
        y = self.normalised((bias - distances).reshape(len(x), parts, -1)).reshape(len(x), -1)
        return y * self.tensors[name + "_norm.weight"] + self.tensors[name + "_norm.bias"]

    def normalised(self, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + self.eps)

    def norm(self, x, name):
        return (
            self.normalised(x) * self.tensors[name + ".weight"] + self.tensors[name + ".bias"]
        )

    def attend(self, x, block):
        """[N, D] normalised tokens -> the layer's output [N, D] and its maps [H, N, N], before any
        identity is added to them; for DAFT, [D, N, N].
        """
        heads, name = self.heads, self.mechanism["name"]
        if name in ("softmax", "adder"):
            qkv = self.linear(x, block + "qkv", parts=3)
            q, k, v = qkv.reshape(len(x), 3, heads, -1).transpose(1, 2, 0, 3)
            maps = dot_product_maps(q, k) if name == "softmax" else adder_maps(q, k)
            out = maps @ v + (v if self.adds_identity else 0)  # Adder, Eq. 9 and 20
            out = out.swapaxes(0, 1).reshape(len(x), -1)
            if block + "norm.weight" in self.tensors:  # a layer of adder arithmetic
                out = self.norm(out, block + "norm")
            return self.linear(out, block + "proj"), maps
        if name == "hash":
            split = lambda layer: (
                self.linear(x, block + layer).reshape(len(x), heads, -1).swapaxes(0, 1)
            )
            learned = [self.tensors[block + "fast_attention.ksh." + b] for b in ("A", "mvec", "anchor")]
            maps = hash_maps(split("to_qk"), *learned)
            out = maps @ split("to_v")
            return self.linear(out.swapaxes(0, 1).reshape(len(x), -1), block + "proj"), maps
        if name == "daft-full":
            q, k, v = np.split(self.linear(x, block + "qkv"), 3, -1)
            biases = np.repeat(
                (self.tensors[block + "pe0"] @ self.tensors[block + "pe1"].T)[None], v.shape[1], 0
            )
        else:
            q, k, v = (self.linear(x, block + layer) for layer in ("to_q", "to_k", "to_v"))
            channels = v.shape[1] // self.mechanism["parameters"]["conv_heads"]
            r, gamma, beta = (self.tensors[block + tensor] for tensor in ("r", "gamma", "beta"))
            side = self.image["image_height"] // self.image["patch_height"]
            biases = np.repeat(convolution_biases(r, gamma, beta, side), channels, 0)
            k = np.repeat(k, channels, 1)
        maps = daft_maps(q, k, biases)
        out = np.einsum("cij,jc->ic", maps, v)
        return self.linear(out, block + "proj"), maps

    def run(self, image):
        """[1, 28, 28] -> logits [10] and all layers' maps, as `attend` gives them."""
        t, side = self.tensors, self.image["patch_height"]
        rows = self.image["image_height"] // side
        patches = (
            image[0]
            .reshape(rows, side, rows, side)
            .swapaxes(1, 2)
            .reshape(rows * rows, side * side)
        )
        kernel = t["patch_embed.proj.weight"].reshape(self.width, side * side)
        x = patches @ kernel.T + t["patch_embed.proj.bias"]
        if self.image["class_tokens"]:
            x = np.concatenate([t["cls_token"][0], x])
        x = x + t["pos_embed"][0]
        maps = []
        for layer in range(self.layers):
            block = f"blocks.{layer}."
            out, layer_maps = self.attend(self.norm(x, block + "norm1"), block + "attn.")
            maps.append(layer_maps)
            x = x + out
            hidden = self.linear(self.norm(x, block + "norm2"), block + "mlp.fc1")
            x = x + self.linear(hidden * 0.5 * (1 + erf(hidden / math.sqrt(2))), block + "mlp.fc2")
        x = self.norm(x, "norm")
        return self.linear(x[0] if self.readout == "class" else x.mean(0), "head"), np.stack(maps)


def singular_values(maps):
    return np.linalg.svd(maps, compute_uv=False)


def main(models_folder, image_path, out_folder):
    from PIL import Image

    pixels = np.array(Image.open(image_path))
    for path in sorted(pathlib.Path(models_folder).glob("fashion-*.h5")):
        model = Model(path)
        image = model.normalise(pixels)
        logits, maps = model.run(image)
        maps = maps[:, :MAPS]
        if model.adds_identity:
            maps = maps + np.eye(maps.shape[-1])  # the implied map, W in output = W V
        np.savez_compressed(
            pathlib.Path(out_folder) / f"{model.name}.npz",
            input=image.astype(np.float32),
            logits=logits,
            layers=np.array(
                [0, maps.shape[0] - 1]
            ),  # only these maps are kept: all of them would be 2.8 MB
            implied_maps=maps[[0, -1]].astype(np.float32),
            singular_values=singular_values(maps),
            singular_values_plus_identity=singular_values(maps + np.eye(maps.shape[-1])),
        )
        print(model.name, model.labels[logits.argmax()])


if __name__ == "__main__":
    main(*sys.argv[1:])
