"""The transformer of "Progress measures for grokking via mechanistic interpretability" (2023)."""

import torch

from make_families import ACTIVATIONS, IDS, attend


def grokking(w, ids, maps, *, width=32, heads=2, each=12, layers=1, hidden=48, vocabulary=29, context=24, mlp=True):
    x = w("embed.W_E", width, vocabulary).T[ids] + w("pos_embed.W_pos", context, width)[: len(ids)]
    for i in range(layers):
        b = f"blocks.{i}." if mlp else f"attn_blocks.{i}."
        q, k, v = (torch.einsum("hdm,nm->hnd", w(f"{b}attn.W_{part}", heads, each, width), x) for part in "QKV")
        w(b + "attn.mask", context, context)
        x = x + attend(q, k, v, maps, causal=True) @ w(b + "attn.W_O", width, heads * each).T
        if mlp:
            h = ACTIVATIONS["relu"](x @ w(b + "mlp.W_in", hidden, width).T + w(b + "mlp.b_in", hidden))
            x = x + h @ w(b + "mlp.W_out", width, hidden).T + w(b + "mlp.b_out", width)
    return x @ w("unembed.W_U", width, vocabulary)


CASES = {
    "grokking": (
        "grokking transformer", grokking, {}, IDS, None, {}, None, "blocks.0.mlp.W_out", "blocks.0.attn.b_V",
    ),
    "grokking_attention_only": (
        "grokking transformer", grokking, dict(mlp=False, layers=2), IDS, None, {}, None,
        "attn_blocks.1.attn.W_V", "attn_blocks.0.ln1.w_ln",
    ),
}
