"""MLLA, Mamba-like linear attention, with its authors' names: LeapLabTHU/MLLA, models/mlla.py.

A map is A + T: linear attention with rotary positions in the numerator, and a depthwise convolution T of the values in
each channel, of which it has the mean in a head. The gate of the output is no part of it.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IMAGE, heads_of
from references.agent import convolution_map


def convolve(w, x, name, out, side=3, stride=1, groups=1, bias=True, norm=None):
    """x [C, H, W]; `norm` names a BatchNorm."""
    kernel = w(name + ".weight", out, x.shape[0] // groups, side, side)
    x = F.conv2d(x[None], kernel, w(name + ".bias", out) if bias else None, stride, side // 2, groups=groups)[0]
    if norm is None:
        return x
    mean, variance = w(norm + ".running_mean", out), w(norm + ".running_var", out)
    scaled = (x - mean[:, None, None]) / (variance[:, None, None] + 1e-5).sqrt()
    return scaled * w(norm + ".weight", out)[:, None, None] + w(norm + ".bias", out)[:, None, None]


def stem(w, x, width):
    def layer(x, name, out, side=3, stride=1):
        return convolve(w, x, f"patch_embed.{name}.conv", out, side, stride, bias=False, norm=f"patch_embed.{name}.norm")

    x = layer(x, "conv1", width // 2, stride=2).relu()
    x = layer(layer(x, "conv2.0", width // 2).relu(), "conv2.1", width // 2) + x
    return layer(layer(x, "conv3.0", 4 * width, stride=2).relu(), "conv3.1", width, side=1)


def merge(w, x, p, width, ratio):
    x = convolve(w, x, p + "0.conv", ratio * width, side=1).relu()
    x = convolve(w, x, p + "1.conv", ratio * width, stride=2, groups=ratio * width).relu()
    return convolve(w, x, p + "2.conv", width, side=1, norm=p + "2.norm")


def near(w, x, name, side):
    """A depthwise convolution of the tokens [N, C]."""
    image = x.T.reshape(-1, side[0], side[1])
    return convolve(w, image, name, x.shape[1], groups=x.shape[1]).flatten(1).T


def turn(x, columns):
    pairs = x.shape[1] // 4
    steps = 10000.0 ** (-torch.arange(pairs).double() / pairs)
    places = torch.arange(len(x))
    angles = torch.cat([torch.outer(places // columns, steps), torch.outer(places % columns, steps)], -1)
    a, b = x[:, ::2], x[:, 1::2]
    return torch.stack([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1).flatten(1)


def attention(w, x, maps, b, heads, side):
    tokens, width = x.shape
    q, k = (F.elu(part) + 1 for part in w.linear(x, b + "qk", 2 * width).chunk(2, -1))
    turned = heads_of(turn(q, side[1]), heads) @ heads_of(turn(k, side[1]), heads).transpose(1, 2) / tokens
    q, k = heads_of(q, heads), heads_of(k, heads)
    weights = turned / (q @ k.mean(1, keepdim=True).transpose(1, 2) + 1e-6)
    assert side[0] == side[1]
    local = convolution_map(w(b + "lepe.weight", width, 1, 3, 3), side[0], 0)
    maps.append(weights + local.unflatten(0, (heads, -1)).mean(1))
    return (weights @ heads_of(x, heads)).transpose(0, 1).flatten(1) + near(w, x, b + "lepe", side)


def mlla(w, image, maps, *, width=16, heads=(2, 4), depths=(1, 2), hidden=2, ratio=4, classes=7):
    x = stem(w, image, width)
    for stage, count in enumerate(heads):
        if stage:
            width *= 2
            x = merge(w, x, f"layers.{stage - 1}.downsample.conv.", width, ratio)
        side = tuple(x.shape[1:])
        x = x.flatten(1).T
        for block in range(depths[stage]):
            b = f"layers.{stage}.blocks.{block}."
            x = x + near(w, x, b + "cpe1", side)
            h = w.norm(x, b + "norm1", 1e-5)
            gate = F.silu(w.linear(h, b + "act_proj", width))
            h = F.silu(near(w, w.linear(h, b + "in_proj", width), b + "dwc", side))
            h = attention(w, h, maps, b + "attn.", count, side) * gate
            x = x + w.linear(h, b + "out_proj", width)
            x = x + near(w, x, b + "cpe2", side)
            h = ACTIVATIONS["gelu"](w.linear(w.norm(x, b + "norm2", 1e-5), b + "mlp.fc1", hidden * width))
            x = x + w.linear(h, b + "mlp.fc2", width)
        features, x = x, x.T.reshape(width, *side)
    return w.linear(w.norm(features, "norm", 1e-5).mean(0), "head", classes)


SIZE = {"image_height": "32", "image_width": "32"}  # without stored rotations the file does not say

CASES = {
    "mlla": (
        "MLLA", mlla, {}, IMAGE, None, {**SIZE, "head_width": "8"}, None, "layers.1.blocks.1.attn.lepe.bias",
        "layers.0.blocks.0.attn.q_norm.weight",
    ),
    "mlla_of_one_head": (
        "MLLA", mlla, dict(width=32, heads=(1, 2), depths=(2, 1), hidden=4, ratio=2), IMAGE, None, SIZE, None,
        "patch_embed.conv2.1.norm.running_var", "layers.1.blocks.0.cpe3.weight",
    ),
}
