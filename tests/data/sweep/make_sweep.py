#!/usr/bin/python3
"""A tiny ViT, a data set for it, and what NumPy finds in its attention maps over that data set."""
import json
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
IMAGES, SIDE, PATCH, WIDTH, HEADS, LAYERS, CLASSES = 96, 16, 4, 16, 2, 2, 3
TOKENS = 1 + (SIDE // PATCH) ** 2
random = np.random.default_rng(7)


def normal(*shape, scale=0.3):
    return (scale * random.standard_normal(shape)).astype(np.float32)


weights = {
    "cls_token": normal(1, 1, WIDTH),
    "pos_embed": normal(1, TOKENS, WIDTH),
    "patch_embed.proj.weight": normal(WIDTH, 1, PATCH, PATCH),
    "patch_embed.proj.bias": normal(WIDTH),
    "norm.weight": 1 + normal(WIDTH),
    "norm.bias": normal(WIDTH),
    "head.weight": normal(CLASSES, WIDTH),
    "head.bias": normal(CLASSES),
}
for layer in range(LAYERS):
    block = f"blocks.{layer}."
    weights |= {
        block + "norm1.weight": 1 + normal(WIDTH),
        block + "norm1.bias": normal(WIDTH),
        block + "attn.qkv.weight": normal(3 * WIDTH, WIDTH, scale=0.6),
        block + "attn.qkv.bias": normal(3 * WIDTH),
        block + "attn.proj.weight": normal(WIDTH, WIDTH),
        block + "attn.proj.bias": normal(WIDTH),
        block + "norm2.weight": 1 + normal(WIDTH),
        block + "norm2.bias": normal(WIDTH),
        block + "mlp.fc1.weight": normal(2 * WIDTH, WIDTH),
        block + "mlp.fc1.bias": normal(2 * WIDTH),
        block + "mlp.fc2.weight": normal(WIDTH, 2 * WIDTH),
        block + "mlp.fc2.bias": normal(WIDTH),
    }
# Noisy waves of different frequencies, so that ranks differ between images.
y, x = np.mgrid[0:SIDE, 0:SIDE]
images = np.empty((IMAGES, SIDE, SIDE), np.uint8)
labels = np.arange(IMAGES, dtype=np.int64) % CLASSES
for i in range(IMAGES):
    wave = np.sin(x * (0.2 + 0.02 * (i % 11)) + y * (0.1 + 0.03 * (i % 7)))
    images[i] = np.clip(128 + 90 * wave + 30 * random.standard_normal((SIDE, SIDE)), 0, 255)
np.savez_compressed(HERE / "model.npz", **weights)
np.savez_compressed(HERE / "images.npz", images=images, labels=labels)

w = {name: value.astype(np.float64) for name, value in weights.items()}


def norm(tokens, name):
    centred = tokens - tokens.mean(-1, keepdims=True)
    return (centred / np.sqrt(tokens.var(-1, keepdims=True) + 1e-6) * w[name + ".weight"]
            + w[name + ".bias"])


def linear(tokens, name):
    return tokens @ w[name + ".weight"].T + w[name + ".bias"]


def run(image):
    grid = SIDE // PATCH
    pixels = (image / 255.0 - 0.5) / 0.5
    patches = pixels.reshape(grid, PATCH, grid, PATCH).transpose(0, 2, 1, 3).reshape(grid**2, -1)
    kernel = w["patch_embed.proj.weight"].reshape(WIDTH, -1)
    tokens = patches @ kernel.T + w["patch_embed.proj.bias"]
    tokens = np.concatenate([w["cls_token"][0], tokens]) + w["pos_embed"][0]
    maps = []
    for layer in range(LAYERS):
        block = f"blocks.{layer}."
        qkv = linear(norm(tokens, block + "norm1"), block + "attn.qkv")
        q, k, v = qkv.reshape(TOKENS, 3, HEADS, WIDTH // HEADS).transpose(1, 2, 0, 3)
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attention = scores / scores.sum(-1, keepdims=True)
        maps.append(attention)
        mixed = (attention @ v).transpose(1, 0, 2).reshape(TOKENS, WIDTH)
        tokens = tokens + linear(mixed, block + "attn.proj")
        hidden = linear(norm(tokens, block + "norm2"), block + "mlp.fc1")
        hidden = hidden / 2 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
        tokens = tokens + linear(hidden, block + "mlp.fc2")
    return np.stack(maps), linear(norm(tokens, "norm")[0], "head")


def shuffled(attention, seed):
    """Rows in another order, by MT19937 and Fisher & Yates as the program does."""
    generator = np.random.RandomState(seed)._bit_generator
    attention = attention.copy()
    for row in attention:
        for left in range(TOKENS, 1, -1):
            other = (int(generator.random_raw()) * left) >> 32
            row[left - 1], row[other] = row[other], row[left - 1]
    return attention


maps, logits = zip(*(run(image) for image in images))
values = np.linalg.svd(np.stack(maps), compute_uv=False)  # [image, layer, head, r]
share = np.cumsum(values, -1) / values.sum(-1, keepdims=True)
with_identity = np.linalg.svd(np.stack(maps) + np.eye(TOKENS), compute_uv=False)
share_with = np.cumsum(with_identity, -1) / with_identity.sum(-1, keepdims=True)
ranks = 1 + (share < 0.9).sum(-1)
energy = np.cumsum(values ** 2, -1) / (values ** 2).sum(-1, keepdims=True)
energy_ranks = 1 + (energy < 0.9).sum(-1)
null = np.array([[[[shuffled(attention, seed) for seed in range(8)] for attention in layer]
                  for layer in image] for image in maps])  # [image, layer, head, seed, i, j]
null_values = np.linalg.svd(null, compute_uv=False)
null_share = np.cumsum(null_values, -1) / null_values.sum(-1, keepdims=True)
reference = {
    "images": IMAGES,
    "correct": int((np.argmax(logits, -1) == labels).sum()),
    "mean_share": share.mean((0, 1, 2)).tolist(),
    "standard_deviation": share.reshape(-1, TOKENS).std(0, ddof=1).tolist(),
    "mean_share_layer_1_head_0": share[:, 1, 0].mean(0).tolist(),
    "mean_share_with_identity": share_with.mean((0, 1, 2)).tolist(),
    "null_mean_share": null_share.mean((0, 1, 2, 3)).tolist(),
    "null_standard_deviation": null_share.reshape(-1, TOKENS).std(0, ddof=1).tolist(),
    "null_mean_share_layer_1_head_0": null_share[:, 1, 0].mean((0, 1)).tolist(),
    "mean_rank": ranks.mean((0, 2)).tolist(),
    "mean_share_of_squares": energy.mean((0, 1, 2)).tolist(),
    "mean_rank_of_squares": energy_ranks.mean((0, 2)).tolist(),
    "rank_deviation": [ranks[:, layer].std(ddof=1) for layer in range(LAYERS)],
    "quantiles": {
        str(q): [np.quantile(ranks[:, layer], q) for layer in range(LAYERS)]
        for q in (0.05, 0.25, 0.5, 0.75, 0.95)
    },
    "head_quantiles": np.quantile(ranks, 0.75, axis=0).tolist(),
}
(HERE / "reference.json").write_text(json.dumps(reference, indent=1) + "\n")
