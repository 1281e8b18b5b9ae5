#!/usr/bin/python3
"""What PyTorch computes, in double precision, for pyramids with the weights of make_reference.py:
logits and rows of every layer's maps.

    python3 make_pyramids.py    writes pvt_v2_b0.npz, ecoformer_b0.npz, pvt_v2_li.npz and twins.npz

PVTv2 (Wang et al. 2022), EcoFormer's PVTv2 (upstream mode: MATH of the hashed attention as the
released weights were trained) and Twins-SVT (Chu et al. 2021), with their authors' tensor names.
"""

import pathlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_reference import Attention as Heads
from make_reference import array, filled, nest

EPS = 1e-6
WINDOW = 7


def image_of(tokens, grid):
    return tokens.transpose(1, 2).unflatten(2, grid)


def tokens_of(image):
    return image.flatten(2).transpose(1, 2)


class Reduced(Heads, nn.Module):
    """Keys and values from a coarser grid: a strided convolution, or pooling (linear)."""

    def __init__(self, width, heads, reduction, linear=False):
        super().__init__()
        self.heads, self.linear = heads, linear
        self.q, self.kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.proj = nn.Linear(width, width)
        if linear or reduction > 1:
            side = 1 if linear else reduction
            self.sr, self.norm = nn.Conv2d(width, width, side, side), nn.LayerNorm(width)

    def forward(self, x, grid, maps):
        source = x
        if self.linear:
            source = F.adaptive_avg_pool2d(image_of(x, grid), 7)
            source = F.gelu(self.norm(tokens_of(self.sr(source))))
        elif hasattr(self, "sr"):
            source = self.norm(tokens_of(self.sr(image_of(x, grid))))
        return self.proj(self.core(self.q(x), *self.kv(source).chunk(2, -1), self.heads, maps))


class Plain(Heads, nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, grid, maps):
        return self.proj(self.core(*self.qkv(x).chunk(3, -1), self.heads, maps))


class Windowed(Plain):
    """The same within windows; the map of all tokens is put together from those of the windows."""

    def forward(self, x, grid, maps):
        index = torch.arange(grid[0] * grid[1]).unflatten(0, grid)
        index = index.unflatten(1, (-1, WINDOW)).unflatten(0, (-1, WINDOW))
        index = index.transpose(1, 2).flatten(2).flatten(0, 1)  # [windows, 49]
        whole = torch.zeros(self.heads, x.shape[1], x.shape[1], dtype=x.dtype)
        out = torch.empty_like(x)
        for window in index:
            own = []
            out[:, window] = self.core(*self.qkv(x[:, window]).chunk(3, -1), self.heads, own)
            whole[:, window[:, None], window[None, :]] = own[0]
        maps.append(whole)
        return self.proj(out)


class Hashed(nn.Module):
    """EcoFormer as released: queries = keys, codes by a kernelised hash, bias b + 1."""

    bits, supports = 16, 25
    margins = []

    def __init__(self, width, heads):
        super().__init__()
        self.heads, each = heads, width // heads
        self.to_qk, self.to_v = nn.Linear(width, width), nn.Linear(width, width)
        self.proj = nn.Linear(width, width)
        ksh = nn.Module()
        ksh.register_buffer("A", torch.zeros(heads, self.bits, self.supports))
        ksh.register_buffer("mvec", torch.zeros(1, heads, 1, self.supports))
        ksh.register_buffer("anchor", torch.zeros(1, heads, self.supports, each))
        self.fast_attention = nest(ksh=ksh)

    def codes(self, x):
        ksh = self.fast_attention.ksh
        distance = (x[..., None, :] - ksh.anchor[..., None, :, :]).square().sum(-1)
        sigma = distance.mean((-1, -2), keepdim=True)
        kernel = torch.exp(-distance / (2 * sigma)) - ksh.mvec
        y = kernel @ ksh.A.transpose(-1, -2)
        self.margins.append(y.abs().min().item())
        return y.sign()

    def forward(self, x, grid, maps):
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        qk, v = split(self.to_qk(x)), split(self.to_v(x))
        h = self.codes(qk / qk.norm(dim=-1, keepdim=True))
        tokens, bias = x.shape[1], self.bits + 1
        total = (h @ h.sum(-2)[..., None]) + bias * tokens
        out = (h @ (h.transpose(-1, -2) @ v) + bias * v) / total
        weights = (h @ h.transpose(-1, -2) + bias * torch.eye(tokens)) / total
        assert torch.allclose(weights @ v, out)
        maps.append(weights[0])
        return self.proj(out.transpose(1, 2).flatten(2))


class ConvolvedMlp(nn.Module):
    def __init__(self, width, hidden, linear=False):
        super().__init__()
        self.linear = linear
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dwconv = nest(dwconv=nn.Conv2d(hidden, hidden, 3, 1, 1, groups=hidden))

    def forward(self, x, grid):
        x = self.fc1(x)
        if self.linear:
            x = F.relu(x)
        return self.fc2(F.gelu(tokens_of(self.dwconv.dwconv(image_of(x, grid)))))


class PlainMlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x, grid):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, width, attention, mlp):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width, EPS), attention
        self.norm2, self.mlp = nn.LayerNorm(width, EPS), mlp

    def forward(self, x, grid, maps):
        x = x + self.attn(self.norm1(x), grid, maps)
        return x + self.mlp(self.norm2(x), grid)


class PvtV2(nn.Module):
    def __init__(self, widths, heads, ratios, depths, reductions, classes, kind):
        super().__init__()
        channels = 3
        for i, width in enumerate(widths):
            kernel, stride = (7, 4) if i == 0 else (3, 2)
            embed = nest(
                proj=nn.Conv2d(channels, width, kernel, stride, kernel // 2),
                norm=nn.LayerNorm(width),
            )
            blocks = nn.ModuleList()
            for _ in range(depths[i]):
                if kind == "hash":
                    last = i == len(widths) - 1
                    attention = Plain(width, heads[i]) if last else Hashed(width, heads[i])
                else:
                    attention = Reduced(width, heads[i], reductions[i], kind == "linear")
                mlp = ConvolvedMlp(width, ratios[i] * width, kind == "linear")
                blocks.append(Block(width, attention, mlp))
            setattr(self, f"patch_embed{i + 1}", embed)
            setattr(self, f"block{i + 1}", blocks)
            setattr(self, f"norm{i + 1}", nn.LayerNorm(width, EPS))
            channels = width
        self.stages = len(widths)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        maps = []
        for i in range(1, self.stages + 1):
            embed = getattr(self, f"patch_embed{i}")
            x = embed.proj(x)
            grid = tuple(x.shape[2:])
            x = embed.norm(tokens_of(x))
            for block in getattr(self, f"block{i}"):
                x = block(x, grid, maps)
            x = getattr(self, f"norm{i}")(x)
            if i < self.stages:
                x = image_of(x, grid)
        return self.head(x.mean(1))[0], maps


class Twins(nn.Module):
    def __init__(self, widths, heads, depths, reductions, classes):
        super().__init__()
        self.patch_embeds, self.blocks = nn.ModuleList(), nn.ModuleList()
        self.pos_block = nn.ModuleList()
        channels = 3
        for i, width in enumerate(widths):
            side = 4 if i == 0 else 2
            self.patch_embeds.append(
                nest(proj=nn.Conv2d(channels, width, side, side), norm=nn.LayerNorm(width))
            )
            self.blocks.append(
                nn.ModuleList(
                    Block(
                        width,
                        Reduced(width, heads[i], reductions[i])
                        if block % 2
                        else Windowed(width, heads[i]),
                        PlainMlp(width, 4 * width),
                    )
                    for block in range(depths[i])
                )
            )
            self.pos_block.append(
                nest(proj=nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, groups=width)))
            )
            channels = width
        self.norm, self.head = nn.LayerNorm(channels, EPS), nn.Linear(channels, classes)

    def forward(self, x):
        maps = []
        for i, blocks in enumerate(self.blocks):
            x = self.patch_embeds[i].proj(x)
            grid = tuple(x.shape[2:])
            x = self.patch_embeds[i].norm(tokens_of(x))
            for j, block in enumerate(blocks):
                x = block(x, grid, maps)
                if j == 0:
                    image = image_of(x, grid)
                    x = tokens_of(self.pos_block[i].proj(image) + image)
            if i + 1 < len(self.blocks):
                x = image_of(x, grid)
        return self.head(self.norm(x).mean(1))[0], maps


def reference(path, module, image):
    torch.set_default_dtype(torch.float64)
    with torch.no_grad():
        output, maps = filled(module).double()(array("input", (3, image, image))[None].double())
    torch.set_default_dtype(torch.float32)
    arrays = {"output": output.numpy().astype(np.float32)}
    for layer, m in enumerate(maps):
        rows = [0, m.shape[1] // 2 + 1, m.shape[1] - 1]
        arrays[f"rows_{layer}"] = np.array(rows)
        arrays[f"map_{layer}"] = m[:, rows].numpy().astype(np.float32)
    np.savez_compressed(path, **arrays)
    shapes = ", ".join("×".join(str(n) for n in m.shape) for m in maps)
    peak = np.mean([m.amax(-1).mean().item() for m in maps])
    print(f"{path.name}: |output| up to {output.abs().max():.3f}, mean peak {peak:.3f}; {shapes}")


B0 = dict(
    widths=[32, 64, 160, 256],
    heads=[1, 2, 5, 8],
    ratios=[8, 8, 4, 4],
    depths=[2, 2, 2, 2],
    reductions=[8, 4, 2, 1],
)


def main():
    here = pathlib.Path(__file__).parent
    reference(here / "pvt_v2_b0.npz", PvtV2(**B0, classes=1000, kind="softmax"), 224)
    reference(here / "ecoformer_b0.npz", PvtV2(**B0, classes=100, kind="hash"), 224)
    print("the least |value| whose sign is a bit:", min(Hashed.margins))
    small = dict(widths=[32, 64], heads=[1, 2], ratios=[8, 4], depths=[1, 2], reductions=[8, 4])
    reference(here / "pvt_v2_li.npz", PvtV2(**small, classes=10, kind="linear"), 72)
    twins = Twins([32, 64, 96, 128], [1, 2, 3, 4], [2, 2, 2, 2], [8, 4, 2, 1], 10)
    reference(here / "twins.npz", twins, 224)


if __name__ == "__main__":
    main()
