"""The script that people write for spectra over a data set: DeiT-Tiny at 224 × 224 pixels with every map, then
numpy.linalg.svd of the maps and of the maps + I, and their mean curves and equivalent ranks. Writes FOLDER/deit_tiny.safetensors
(timm's names, random weights) and FOLDER/images.npz, then answers every line on stdin with the seconds, on the wall and of
processor time, of one pass over the images, from the file to the means. Arguments: FOLDER, softmax or adder, images."""
import json
import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

folder, mechanism, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
WIDTH, LAYERS, HEADS, PATCH, TOKENS, BATCH = 192, 12, 3, 16, 197, 8


def shapes():
    def module(name, *shape):
        yield name + ".weight", shape
        yield name + ".bias", shape[:1]

    yield "cls_token", (1, 1, WIDTH)
    yield "pos_embed", (1, TOKENS, WIDTH)
    yield from module("patch_embed.proj", WIDTH, 3, PATCH, PATCH)
    for i in range(LAYERS):
        b = f"blocks.{i}."
        yield from module(b + "norm1", WIDTH)
        yield from module(b + "attn.qkv", 3 * WIDTH, WIDTH)
        yield from module(b + "attn.proj", WIDTH, WIDTH)
        yield from module(b + "norm2", WIDTH)
        yield from module(b + "mlp.fc1", 4 * WIDTH, WIDTH)
        yield from module(b + "mlp.fc2", WIDTH, 4 * WIDTH)
    yield from module("norm", WIDTH)
    yield from module("head", 1000, WIDTH)


def make_weights():
    """Large enough for maps that differ from token to token."""
    random = np.random.default_rng(0)
    return {name: np.ones(shape, np.float32) if len(shape) == 1 and name.endswith("weight")
            else (0.1 * random.standard_normal(shape)).astype(np.float32) for name, shape in shapes()}


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in tensors.values():
            value.tofile(file)


folder.mkdir(parents=True, exist_ok=True)
weights = make_weights()
write_safetensors(folder / "deit_tiny.safetensors", weights)
images = np.random.default_rng(1).integers(0, 256, (count, 224, 224, 3), np.uint8)
np.savez(folder / "images.npz", images=images, labels=np.zeros(count, np.int64))
w = {name: torch.from_numpy(value) for name, value in weights.items()}
MEAN, STD = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


def linear(x, name):
    return F.linear(x, w[name + ".weight"], w[name + ".bias"])


def norm(x, name):
    return F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"], 1e-6)


def forward_with_maps(batch):
    x = F.conv2d(batch, w["patch_embed.proj.weight"], w["patch_embed.proj.bias"], stride=PATCH).flatten(2).transpose(1, 2)
    x = torch.cat([w["cls_token"].expand(len(x), -1, -1), x], 1) + w["pos_embed"]
    maps = []
    for i in range(LAYERS):
        b = f"blocks.{i}."
        qkv = linear(norm(x, b + "norm1"), b + "attn.qkv").reshape(len(x), TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scale = q.shape[-1] ** -0.5
        scores = q @ k.transpose(-2, -1) * scale if mechanism == "softmax" else -scale * torch.cdist(q, k, p=1)
        attention = scores.softmax(-1)
        maps.append(attention)
        x = x + linear((attention @ v).transpose(1, 2).reshape(len(x), TOKENS, WIDTH), b + "attn.proj")
        x = x + linear(F.gelu(linear(norm(x, b + "norm2"), b + "mlp.fc1")), b + "mlp.fc2")
    classes = linear(norm(x, "norm")[:, 0], "head").argmax(1)
    return torch.stack(maps, 1), classes


def sweep():
    found = np.load(folder / "images.npz")
    pixels, labels = found["images"], found["labels"]
    identity = np.eye(TOKENS, dtype=np.float32)
    curves = np.zeros((2, LAYERS, HEADS, TOKENS))
    ranks = [[], []]
    correct = 0
    for first in range(0, count, BATCH):
        batch = torch.from_numpy(pixels[first:first + BATCH]).float() / 255
        maps, classes = forward_with_maps(((batch - MEAN) / STD).permute(0, 3, 1, 2))
        correct += int((classes.numpy() == labels[first:first + BATCH]).sum())
        for view, seen in enumerate((maps.numpy(), maps.numpy() + identity)):
            values = np.linalg.svd(seen, compute_uv=False)
            share = values.cumsum(-1) / values.sum(-1, keepdims=True)
            curves[view] += share.sum(0)
            ranks[view].append((share < 0.9).sum(-1) + 1)
    return curves / count, [np.concatenate(one).mean(0) for one in ranks], correct / count


with torch.no_grad():
    for _ in sys.stdin:
        start, processor = time.perf_counter(), time.process_time()
        sweep()
        print(time.perf_counter() - start, time.process_time() - processor, flush=True)
