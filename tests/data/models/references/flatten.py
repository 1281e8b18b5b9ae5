"""FLatten's focused linear attention in PVTv2, with its authors' names: LeapLabTHU/FLatten-Transformer,
models/flatten_pvt_v2.py with the reductions of its configurations, 1 in every stage.

A map is A + T: linear attention, and a depthwise convolution of the values, whose kernels the heads share. It has the
mean of the convolution's channels.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IMAGE, heads_of
from references.agent import convolution_map


def focused(x, divisors, power):
    """Features of all channels: a power that keeps their length."""
    x = (x.relu() + 1e-6) / divisors
    y = x**power
    return y / y.norm(dim=-1, keepdim=True) * x.norm(dim=-1, keepdim=True)


def attention(w, x, maps, b, heads, side, power):
    tokens, width = x.shape
    k, v = w.linear(x, b + "kv", 2 * width).chunk(2, -1)
    k = k + w(b + "positional_encoding", 1, tokens, width)[0]
    divisors = F.softplus(w(b + "scale", 1, 1, width)[0])
    q, k = (heads_of(focused(part, divisors, power), heads) for part in (w.linear(x, b + "q", width), k))
    weights = q @ k.transpose(1, 2)
    weights = weights / (q @ k.mean(1, keepdim=True).transpose(1, 2) + 1e-6) / tokens
    each = width // heads
    kernels = w(b + "dwc.weight", each, 1, 5, 5)
    near = convolution_map(kernels, side, 0)
    maps.append(weights + near.mean(0))
    v = heads_of(v, heads)
    images = v.transpose(1, 2).unflatten(-1, (side, side))
    term = F.conv2d(images, kernels, w(b + "dwc.bias", each), padding=2, groups=each).flatten(2).transpose(1, 2)
    assert torch.allclose(term - w(b + "dwc.bias", each), torch.einsum("cij,hjc->hic", near, v))
    return w.linear((weights @ v + term).transpose(0, 1).flatten(1), b + "proj", width)


def mlp(w, x, b, hidden, side):
    h = w.linear(x, b + "fc1", hidden).T.reshape(hidden, side, side)
    h = F.conv2d(h, w(b + "dwconv.dwconv.weight", hidden, 1, 3, 3), w(b + "dwconv.dwconv.bias", hidden), padding=1,
                 groups=hidden)
    return w.linear(ACTIVATIONS["gelu"](h.flatten(1).T), b + "fc2", x.shape[1])


def flatten_pvt_v2(w, image, maps, *, widths=(16, 24), heads=(1, 2), depths=(1, 2), power=3, classes=7):
    x = image[None]
    for stage, width in enumerate(widths, 1):
        kernel, stride = (7, 4) if stage == 1 else (3, 2)
        p = f"patch_embed{stage}."
        x = F.conv2d(x, w(p + "proj.weight", width, x.shape[1], kernel, kernel), w(p + "proj.bias", width), stride,
                     kernel // 2)
        side = x.shape[-1]
        x = w.norm(x[0].flatten(1).T, p + "norm", 1e-5)
        for block in range(depths[stage - 1]):
            b = f"block{stage}.{block}."
            x = x + attention(w, w.norm(x, b + "norm1", 1e-6), maps, b + "attn.", heads[stage - 1], side, power)
            x = x + mlp(w, w.norm(x, b + "norm2", 1e-6), b + "mlp.", 2 * width, side)
        x = w.norm(x, f"norm{stage}", 1e-6)
        features, x = x, x.T.reshape(1, width, side, side)
    return w.linear(features.mean(0), "head", classes)


POWER = {"mechanism": '{"name": "focused", "parameters": {"power": 4, "term": true}}'}

CASES = {
    "flatten_pvt_v2": (
        "FLatten-PVTv2", flatten_pvt_v2, {}, IMAGE, None, {}, None, "block2.1.attn.dwc.bias", "block2.0.attn.sr.weight",
    ),
    "flatten_pvt_v2_of_power_4": (
        "FLatten-PVTv2", flatten_pvt_v2, dict(heads=(2, 1), depths=(2, 1), power=4), IMAGE, None, POWER, None,
        "block1.1.attn.positional_encoding", "block1.0.attn.fast_attention.ksh.A",
    ),
}
