#!/usr/bin/python3
"""Small language models from scratch that differ in what no tensor shows, each beside what PyTorch
computes of it in double precision, as docs/self-test.md lays it out: writes VARIATION.npz beside this
file. Weights are hashed from their names (../models/make_reference.py): the tests make them again.
"""

import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "models"))
from make_reference import weights

VOCABULARY, WIDTH, HEADS, LAYERS, HIDDEN, TOKENS = 31, 24, 3, 2, 48, 12
EACH = WIDTH // HEADS


def weight(name, *shape):
    return weights(name, shape).double()


def linear(name, x, outputs):
    return x @ weight(name + ".weight", outputs, x.shape[-1]).T + weight(name + ".bias", outputs)


def norm(name, x):
    return F.layer_norm(x, [WIDTH], weight(name + ".weight", WIDTH), weight(name + ".bias", WIDTH))


def split(x, channels_first):
    """[B, N, H·d] → [B, H, N, d]."""
    batch, count, _ = x.shape
    if channels_first:  # "b n (d h) -> b h n d"
        return x.view(batch, count, EACH, HEADS).permute(0, 3, 1, 2)
    return x.view(batch, count, HEADS, EACH).transpose(1, 2)


def joined(x, channels_first):
    if channels_first:
        return x.permute(0, 2, 3, 1).flatten(2)
    return x.transpose(1, 2).flatten(2)


def turned(x, form, theta):
    """Su et al. 2021: channels i and i + d/2 (half), or 2i and 2i + 1 (pair)."""
    angles = torch.arange(x.shape[-2], dtype=torch.double)[:, None] * theta ** (
        -torch.arange(0, EACH, 2, dtype=torch.double) / EACH
    )
    cos, sin = angles.cos(), angles.sin()
    a, b = (x[..., : EACH // 2], x[..., EACH // 2 :]) if form == "half" else (x[..., ::2], x[..., 1::2])
    turned_a, turned_b = a * cos - b * sin, b * cos + a * sin
    if form == "half":
        return torch.cat([turned_a, turned_b], -1)
    return torch.stack([turned_a, turned_b], -1).flatten(-2)


def sinusoids(order, count):
    place = torch.arange(count, dtype=torch.double)[:, None]
    half = WIDTH // 2
    if order == "halves_to_end":  # fairseq's SinusoidalPositionalEmbedding, tensor2tensor's timing signal
        angles = place * torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    else:
        angles = place * 10000 ** (-2 * torch.arange(half, dtype=torch.double) / WIDTH)
    if order == "alternating":
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)
    return torch.cat([angles.sin(), angles.cos()], -1)


class Model:
    def __init__(self, **options):
        self.said = {
            "positions": "learned",
            "scale": EACH**-0.5,
            "causal": True,
            "activation": F.gelu,
            "alpha": 1.0,
        } | options

    def __getattr__(self, name):
        return self.said.get(name)

    def attend(self, name, x):
        if self.fused:
            qkv = linear(name + ".qkv", x, 3 * WIDTH)
            if self.fused == "heads_first":
                qkv = qkv.view(*x.shape[:2], HEADS, 3, EACH).transpose(2, 3).flatten(2)
            q, k, v = (split(part, self.channels_first) for part in qkv.chunk(3, -1))
        else:
            q, k, v = (split(linear(f"{name}.w{part}", x, WIDTH), self.channels_first) for part in "qkv")
        if self.cosine:
            q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        if self.rotary:
            q, k = (turned(part, self.rotary, self.theta or 10000.0) for part in (q, k))
        scores = self.scale * q @ k.transpose(-2, -1)
        if self.soft_cap:
            scores = self.soft_cap * torch.tanh(scores / self.soft_cap)
        place = torch.arange(x.shape[1])
        behind = place[:, None] - place[None]
        if self.alibi:
            slopes = torch.tensor([2.0**-4, 2.0**-8, 2.0**-2])  # slopes of two heads, and of one of four
            scores = scores - slopes[:, None, None] * behind.abs()
        if self.causal:
            scores = scores.masked_fill(behind < 0, -math.inf)
        if self.window:
            scores = scores.masked_fill(behind >= self.window, -math.inf)
        maps = scores.softmax(-1)
        heads = joined(maps @ v, self.channels_first and not self.split_alone)
        return linear(name + ".wo", heads, WIDTH), maps

    def run(self, ids):
        x = weight("tok_emb.weight", VOCABULARY, WIDTH)[ids] * (self.embedding_scale or 1)
        if self.positions == "learned":
            x = x + weight("pos_emb.weight", TOKENS, WIDTH)[: ids.shape[1]]
        elif self.positions:
            x = x + sinusoids(self.positions, ids.shape[1])
        all_maps, tokens = [], []
        for layer in range(LAYERS):
            name = f"layers.{layer}."
            mlp = lambda x: linear(
                name + "ff.2", self.activation(linear(name + "ff.0", x, HIDDEN)), WIDTH
            )
            if self.post:
                attended, maps = self.attend(name + "attn", x)
                x = norm(name + "ln1", self.alpha * x + attended)
                x = norm(name + "ln2", self.alpha * x + mlp(x))
            elif self.parallel:
                attended, maps = self.attend(name + "attn", norm(name + "ln1", x))
                x = self.alpha * x + attended + mlp(norm(name + "ln2", x))
            else:
                attended, maps = self.attend(name + "attn", norm(name + "ln1", x))
                x = self.alpha * x + attended
                x = self.alpha * x + mlp(norm(name + "ln2", x))
            all_maps.append(maps)
            tokens.append(x)
        if not self.last_norm_unused:
            x = norm("ln_f", x)
        logits = x[:, -1] @ weight("head.weight", VOCABULARY, WIDTH).T
        return logits, torch.stack(all_maps, 1), torch.stack(tokens, 1)


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


VARIATIONS = {
    "base": {},
    "scale_width": {"scale": WIDTH**-0.5},
    "no_scale": {"scale": 1.0},
    "scale_number": {"scale": 0.3},
    "embedding_scale": {"embedding_scale": WIDTH**0.5},
    "head_split": {"channels_first": True},
    "head_split_alone": {"channels_first": True, "split_alone": True},
    "parallel": {"parallel": True},
    "cosine": {"cosine": True, "scale": 10.0},
    "deep_norm": {"post": True, "alpha": (2 * LAYERS) ** 0.25},
    "residual_scale": {"alpha": 0.8},
    "last_norm_unused": {"last_norm_unused": True},
    "rotary_half_learned": {"rotary": "half"},
    "rotary_pair_learned": {"rotary": "pair"},
    "rotary_theta": {"positions": None, "rotary": "half", "theta": 1e6},
    "rotary_odd_theta": {"positions": None, "rotary": "pair", "theta": 2500.0},
    "window": {"window": 4},
    "soft_cap": {"soft_cap": 5.0},
    "fused": {"fused": "parts_first"},
    "fused_heads_first": {"fused": "heads_first"},
    "sinusoids": {"positions": "alternating"},
    "sinusoids_halves": {"positions": "halves"},
    "sinusoids_fairseq": {"positions": "halves_to_end", "embedding_scale": WIDTH**0.5},
    "post_norm": {"post": True},
    "gelu_tanh": {"activation": gelu_tanh},
    "not_causal": {"causal": False},
    "alibi": {"positions": None, "alibi": True},
    "several": {
        "fused": "heads_first",
        "rotary": "pair",
        "theta": 5e5,
        "scale": 1.0,
        "soft_cap": 15.0,
        "activation": F.silu,
        "post": True,
        "alpha": 1.5,
        "embedding_scale": WIDTH**0.5,
    },
    # No option gives each head a scale of its own: nothing fits.
    "scale_of_heads": {"scale": torch.tensor([0.2, 0.5, 0.9])[:, None, None]},
}

for number, (variation, options) in enumerate(VARIATIONS.items()):
    ids = torch.from_numpy(np.random.default_rng(number).integers(0, VOCABULARY, (1, TOKENS)))
    logits, maps, tokens = Model(**options).run(ids)
    np.savez(
        HERE / f"{variation}.npz",
        inputs=ids.int().numpy(),
        maps=maps.float().numpy(),
        tokens=tokens.float().numpy(),
        # A model that is not causal has no logits here, because names do not show which tokens its
        # head reads.
        **({} if variation == "not_causal" else {"logits": logits.float().numpy()}),
    )
