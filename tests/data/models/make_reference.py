#!/usr/bin/python3
"""What PyTorch computes, in double precision, from weights that the tests make again by themselves:
logits and rows of attention maps.

    python3 make_reference.py            writes the *.npz beside this file
    python3 make_reference.py FILE.pth   writes the DeiT-Tiny state dict alone, as a user would

The element `i` of the tensor `name` is a number u in [-1, 1) made from both by a hash (`uniform`),
scaled by what the tensor is for (`weights`). tests/support/hashed_weights.cpp does the same.
"""

import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MASK = (1 << 64) - 1


def uniform(name, count):
    """FNV-1a of the name, plus the index times the golden ratio, mixed as splitmix64 does; the upper
    24 bits as a number in [-1, 1). Exact in every step."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & MASK
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / (1 << 23) - 1


def weights(name, shape):
    """Matrices keep the variance of their input and make queries and keys that differ (scores of
    standard deviation about 2); LayerNorm weights lie around 1; biases and tokens around 0;
    periods between 1 and 5, variances between 0.5 and 1.5."""
    u = uniform(name, math.prod(shape)).reshape(shape)
    matrix = len(shape) >= 2 and name.endswith("weight")
    if matrix:
        scale, offset = 2.4 / math.sqrt(math.prod(shape[1:])), 0.0
    elif name.endswith("weight"):
        scale, offset = 0.2, 1.0
    elif name.endswith("bias"):
        scale, offset = 0.2, 0.0
    elif name.endswith("running_var"):
        scale, offset = 0.5, 1.0
    elif name.endswith("_scale_inv"):
        scale, offset = 0.001, 0.002
    elif name.endswith("periods"):
        scale, offset = 2.0, 3.0
    else:
        scale, offset = 0.5, 0.0
    return torch.from_numpy((offset + scale * u).astype(np.float32))


def hashed_bytes(name, shape):
    """The bytes of a tensor whose name ends in _blocks; of _scales, 121 to 124; others without the two that are NaN as
    E4M3."""
    values = np.floor((uniform(name, math.prod(shape)) + 1) * 128).astype(np.uint8).reshape(shape)
    if name.endswith("_scales"):
        return values % 4 + 121
    return values if name.endswith("_blocks") else np.where(values % 128 == 127, 0, values).astype(np.uint8)


def array(name, shape):
    """An input, already normalised."""
    return torch.from_numpy((1.5 * uniform(name, math.prod(shape))).astype(np.float32).reshape(shape))


def filled(module):
    module.load_state_dict({k: weights(k, tuple(v.shape)) for k, v in module.state_dict().items()})
    return module.eval()


class Attention(nn.Module):
    """With the names of the family: fused (`qkv`, `proj`) or separate."""

    def split(self, t, heads):
        return t.unflatten(-1, (heads, -1)).transpose(1, 2)

    def core(self, q, k, v, heads, maps):
        q, k, v = (self.split(t, heads) for t in (q, k, v))
        attention = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1)
        maps.append(attention[0])
        return (attention @ v).transpose(1, 2).flatten(2)


class TimmAttention(Attention):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, maps):
        return self.proj(self.core(*self.qkv(x).chunk(3, -1), self.heads, maps))


class TimmMlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class TimmBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width, 1e-6), TimmAttention(width, heads)
        self.norm2, self.mlp = nn.LayerNorm(width, 1e-6), TimmMlp(width, 4 * width)

    def forward(self, x, maps):
        x = x + self.attn(self.norm1(x), maps)
        return x + self.mlp(self.norm2(x))


class TimmPatches(nn.Module):
    def __init__(self, width, patch):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)

    def forward(self, image):
        return self.proj(image).flatten(2).transpose(1, 2)


class Timm(nn.Module):
    """timm's VisionTransformer; `distilled` as DeiT's, with the mean of both heads."""

    def __init__(self, width, heads, layers, image, patch, classes, distilled=False):
        super().__init__()
        tokens = (image // patch) ** 2 + 1 + distilled
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        if distilled:
            self.dist_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, tokens, width))
        self.patch_embed = TimmPatches(width, patch)
        self.blocks = nn.ModuleList(TimmBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, 1e-6)
        self.head = nn.Linear(width, classes)
        if distilled:
            self.head_dist = nn.Linear(width, classes)
        self.distilled = distilled

    def forward(self, image):
        maps = []
        prefix = [self.cls_token] + ([self.dist_token] if self.distilled else [])
        x = torch.cat([*prefix, self.patch_embed(image)], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x, maps)
        x = self.norm(x)
        logits = self.head(x[:, 0])
        if self.distilled:
            logits = (logits + self.head_dist(x[:, 1])) / 2
        return logits[0], maps


def nest(**modules):
    """A module with the given submodules, for names with dots."""
    holder = nn.Module()
    for name, module in modules.items():
        setattr(holder, name, module)
    return holder


class HuggingFace(nn.Module):
    """transformers' ViTForImageClassification."""

    def __init__(self, width, heads, layers, image, patch, classes):
        super().__init__()
        self.heads, self.width = heads, width
        embeddings = nest(
            patch_embeddings=nest(projection=nn.Conv2d(3, width, patch, patch)),
        )
        embeddings.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        embeddings.position_embeddings = nn.Parameter(
            torch.zeros(1, (image // patch) ** 2 + 1, width)
        )
        linear = lambda i=width, o=width: nn.Linear(i, o)
        layer = lambda: nest(
            attention=nest(
                attention=nest(query=linear(), key=linear(), value=linear()),
                output=nest(dense=linear()),
            ),
            intermediate=nest(dense=linear(width, 4 * width)),
            output=nest(dense=linear(4 * width, width)),
            layernorm_before=nn.LayerNorm(width, 1e-12),
            layernorm_after=nn.LayerNorm(width, 1e-12),
        )
        self.vit = nest(
            embeddings=embeddings,
            encoder=nest(layer=nn.ModuleList(layer() for _ in range(layers))),
            layernorm=nn.LayerNorm(width, 1e-12),
        )
        self.classifier = nn.Linear(width, classes)

    def forward(self, image):
        maps, core = [], Attention()
        e = self.vit.embeddings
        x = e.patch_embeddings.projection(image).flatten(2).transpose(1, 2)
        x = torch.cat([e.cls_token, x], 1) + e.position_embeddings
        for layer in self.vit.encoder.layer:
            h, a = layer.layernorm_before(x), layer.attention.attention
            h = core.core(a.query(h), a.key(h), a.value(h), self.heads, maps)
            x = x + layer.attention.output.dense(h)
            h = F.gelu(layer.intermediate.dense(layer.layernorm_after(x)))
            x = x + layer.output.dense(h)
        return self.classifier(self.vit.layernorm(x)[:, 0])[0], maps


class VitPytorch(nn.Module):
    """lucidrains' ViT in its present nesting: linear patches, no qkv bias."""

    def __init__(self, width, heads, head_width, layers, image, patch, classes):
        super().__init__()
        self.heads, self.patch = heads, patch
        numbers, inner = 3 * patch * patch, heads * head_width
        self.pos_embedding = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, width))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.to_patch_embedding = nn.Sequential(
            nn.Identity(), nn.LayerNorm(numbers), nn.Linear(numbers, width), nn.LayerNorm(width)
        )
        attention = lambda: nest(
            norm=nn.LayerNorm(width),
            to_qkv=nn.Linear(width, 3 * inner, bias=False),
            to_out=nn.Sequential(nn.Linear(inner, width), nn.Identity()),
        )
        mlp = lambda: nest(
            net=nn.Sequential(
                nn.LayerNorm(width),
                nn.Linear(width, 2 * width),
                nn.GELU(),
                nn.Identity(),
                nn.Linear(2 * width, width),
            )
        )
        self.transformer = nest(
            norm=nn.LayerNorm(width),
            layers=nn.ModuleList(nn.ModuleList([attention(), mlp()]) for _ in range(layers)),
        )
        self.mlp_head = nn.Linear(width, classes)

    def forward(self, image):
        maps, core, p = [], Attention(), self.patch
        x = image.unflatten(3, (-1, p)).unflatten(2, (-1, p))  # b c h p1 w p2
        x = x.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)  # b (h w) (p1 p2 c)
        x = torch.cat([self.cls_token, self.to_patch_embedding(x)], 1) + self.pos_embedding
        for attention, mlp in self.transformer.layers:
            h = attention.to_qkv(attention.norm(x)).chunk(3, -1)
            x = x + attention.to_out(core.core(*h, self.heads, maps))
            x = x + mlp.net(x)
        return self.mlp_head(self.transformer.norm(x)[:, 0])[0], maps


class Described(nn.Module):
    """The second example of docs/architecture-descriptions.md."""

    def __init__(self, width, heads, layers, patch, classes):
        super().__init__()
        self.heads, self.patch = heads, patch
        linear = lambda: nn.Linear(width, width, bias=False)
        self.stem = nn.Linear(3 * patch * patch, width, bias=False)
        self.layers = nn.ModuleList(
            nest(
                wq=linear(),
                wk=linear(),
                wv=linear(),
                wo=linear(),
                ln_a=nn.LayerNorm(width),
                up=nn.Linear(width, 2 * width),
                down=nn.Linear(2 * width, width),
                ln_b=nn.LayerNorm(width),
            )
            for _ in range(layers)
        )
        self.clf = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, image):
        maps, core, p = [], Attention(), self.patch
        x = F.unfold(image, p, stride=p).transpose(1, 2)  # each patch as (c, row, column)
        x = self.stem(x)
        for l in self.layers:
            x = l.ln_a(x + l.wo(core.core(l.wq(x), l.wk(x), l.wv(x), self.heads, maps)))
            x = l.ln_b(x + l.down(F.relu(l.up(x))))
        return self.clf(x.mean(1))[0], maps


class TorchEncoder(nn.Module):
    """torch.nn.TransformerEncoder itself; the maps by its own MultiheadAttention."""

    def __init__(self, width, heads, hidden, layers):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, hidden, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)

    def forward(self, tokens):
        maps = []
        x = tokens
        for layer in self.encoder.layers:
            maps.append(layer.self_attn(x, x, x, average_attn_weights=False)[1][0])
            x = layer(x)
        assert torch.equal(x, self.encoder(tokens))
        return x[0], maps


def reference(path, module, inputs):
    with torch.no_grad():
        output, maps = filled(module).double()(inputs[None].double())
    rows = [0, maps[0].shape[-1] // 2, maps[0].shape[-1] - 1]
    np.savez_compressed(
        path,
        output=output.numpy().astype(np.float32),
        rows=np.array(rows),
        map_rows=np.stack([m[:, rows].numpy() for m in maps]).astype(np.float32),
    )
    peak = np.stack([m.numpy() for m in maps]).max(-1).mean()
    print(f"{path.name}: |output| up to {output.abs().max():.3f}, a row's mean peak {peak:.3f}")


def deit_tiny():
    return Timm(192, 3, 12, 224, 16, 1000)


def main():
    if len(sys.argv) > 1:
        torch.save({"model": filled(deit_tiny()).state_dict()}, sys.argv[1])
        return
    here = pathlib.Path(__file__).parent
    reference(here / "deit_tiny.npz", deit_tiny(), array("input", (3, 224, 224)))
    small = array("input", (3, 32, 32))
    reference(here / "distilled.npz", Timm(64, 4, 3, 32, 8, 10, distilled=True), small)
    reference(here / "hugging_face_vit.npz", HuggingFace(128, 2, 4, 32, 8, 10), small)
    reference(here / "vit_pytorch.npz", VitPytorch(48, 3, 64, 3, 32, 8, 10), small)
    reference(here / "described.npz", Described(64, 4, 3, 8, 10), small)
    reference(here / "torch_encoder.npz", TorchEncoder(128, 2, 256, 4), array("input", (33, 128)))


if __name__ == "__main__":
    main()
