"""The GPT of Karpathy's lecture: one projection a head, stacked masks, scores by 1/√d or 1/√D."""

import math

import torch

from make_families import ACTIVATIONS, IDS, attend


def lecture_gpt(w, ids, maps, *, width=36, heads=12, layers=2, vocabulary=29, context=24, by_width=False):
    table = w("token_embedding_table.weight", vocabulary, width)
    x = table[ids] + w("position_embedding_table.weight", context, width)[: len(ids)]
    each = width // heads
    scale = 1 / math.sqrt(width if by_width else each)
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.norm(x, b + "ln1", 1e-5)
        parts = {name: [] for name in ("key", "query", "value")}
        for head in range(heads):
            for name, found in parts.items():
                found.append(w.linear(h, f"{b}sa.heads.{head}.{name}", each, bias=False))
            w(f"{b}sa.heads.{head}.tril", context, context)
        q, k, v = (torch.stack(parts[name]) for name in ("query", "key", "value"))
        h = attend(q, k, v, maps, scale, causal=True)
        x = x + w.linear(h, b + "sa.proj", width)
        h = ACTIVATIONS["relu"](w.linear(w.norm(x, b + "ln2", 1e-5), b + "ffwd.net.0", 4 * width))
        x = x + w.linear(h, b + "ffwd.net.2", width)
    return w.linear(w.norm(x, "ln_f", 1e-5), "lm_head", vocabulary)


NAMED = "transformer by its names"
CODE = {"norm_position": "pre", "activation": "relu"}
CASES = {
    "named_lecture": (
        NAMED, lecture_gpt, {}, IDS, None, CODE | {"scale": "head_width^-1/2"}, None,
        "blocks.1.ln2.bias", "blocks.0.sa.heads.3.gate.weight",
    ),
    "named_lecture_by_width": (
        NAMED, lecture_gpt, dict(by_width=True, heads=3), IDS, None, CODE | {"scale": "width^-1/2"}, None,
        "blocks.0.sa.heads.2.value.weight", "blocks.1.sa.rope.freqs",
    ),
}
