#!/usr/bin/python3
"""The four rows of the Adder paper's Table 4 (linear layers × attention, each by multiplication or
by addition) on the same weights, in double precision by PyTorch: logits and the maps of both layers.

    python3 make_adder_network.py    writes adder_network.npz

An adder linear layer is y = LayerNorm(-sum |x - W| + b) (Adder, Eq. 4, 5), adder attention
softmax(-|q - k|_1 / sqrt(2 d (1 - 2 / pi))) (Eq. 7), whose heads' output is scaled by a LayerNorm
before the adder projection. Patch embedding and head stay multiplicative.
"""

import math
import pathlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_reference import array, filled, nest

WIDTH, HEADS, HIDDEN, LAYERS, IMAGE, PATCH = 24, 2, 40, 2, 12, 4


def norm(width=WIDTH):
    return nn.LayerNorm(width, 1e-6)


class AdderNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.pos_embed = nn.Parameter(torch.zeros(1, (IMAGE // PATCH) ** 2 + 1, WIDTH))
        self.patch_embed = nest(proj=nn.Conv2d(3, WIDTH, PATCH, PATCH))
        block = lambda: nest(
            norm1=norm(),
            attn=nest(
                qkv=nn.Linear(WIDTH, 3 * WIDTH),
                qkv_norm=norm(3 * WIDTH),  # parameters of three LayerNorms in a row
                norm=norm(),
                proj=nn.Linear(WIDTH, WIDTH),
                proj_norm=norm(),
            ),
            norm2=norm(),
            mlp=nest(
                fc1=nn.Linear(WIDTH, HIDDEN),
                fc1_norm=norm(HIDDEN),
                fc2=nn.Linear(HIDDEN, WIDTH),
                fc2_norm=norm(),
            ),
        )
        self.blocks = nn.ModuleList(block() for _ in range(LAYERS))
        self.norm, self.head = norm(), nn.Linear(WIDTH, 10)

    def forward(self, image, adder_linear, adder_attention, multiplicative=()):
        x = self.patch_embed.proj(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token, x], 1) + self.pos_embed
        maps = []
        for index, block in enumerate(self.blocks):
            adds = adder_linear and index not in multiplicative
            # A multiplicative block is multiplicative as a whole (Adder, 4.2).
            scores = adder_attention and index not in multiplicative
            x = x + self.attention(block.attn, block.norm1(x), adds, scores, maps)
            h = F.gelu(linear(block.mlp.fc1, block.mlp.fc1_norm, block.norm2(x), adds))
            x = x + linear(block.mlp.fc2, block.mlp.fc2_norm, h, adds)
        return self.head(self.norm(x)[:, 0])[0], torch.stack(maps)

    def attention(self, a, x, adds, adder_attention, maps):
        parts = []
        for i in range(3):
            rows = slice(i * WIDTH, (i + 1) * WIDTH)
            own = nest(weight=None, bias=None)
            own.weight, own.bias = a.qkv.weight[rows], a.qkv.bias[rows]
            scale = lambda y: F.layer_norm(
                y, (WIDTH,), a.qkv_norm.weight[rows], a.qkv_norm.bias[rows], 1e-6
            )
            parts.append(linear(own, scale, x, adds).unflatten(-1, (HEADS, -1)).transpose(1, 2))
        q, k, v = parts
        d = q.shape[-1]
        if adder_attention:
            scores = -torch.cdist(q, k, p=1) / math.sqrt(2 * d * (1 - 2 / math.pi))
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(d)
        weights = scores.softmax(-1)
        maps.append(weights[0])
        out = (weights @ v).transpose(1, 2).flatten(2)
        return linear(a.proj, a.proj_norm, a.norm(out) if adds else out, adds)


def linear(layer, scale, x, adds):
    if not adds:
        return F.linear(x, layer.weight, layer.bias)
    distances = (x[..., None, :] - layer.weight).abs().sum(-1)
    return scale(layer.bias - distances)


def main():
    network = filled(AdderNetwork()).double()
    image = array("input", (3, IMAGE, IMAGE))[None].double()
    arrays = {}
    with torch.no_grad():
        for row in ("MM", "MA", "AM", "AA"):
            output, maps = network(image, row[0] == "A", row[1] == "A")
            arrays[row], arrays[row + "_maps"] = output, maps
            print(row, [f"{v:.3f}" for v in output[:4]])
        arrays["AA_first"] = network(image, True, True, multiplicative=(0,))[0]
    path = pathlib.Path(__file__).parent / "adder_network.npz"
    np.savez_compressed(path, **{k: v.numpy().astype(np.float32) for k, v in arrays.items()})


if __name__ == "__main__":
    main()
