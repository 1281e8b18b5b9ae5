"""TransformerLens' HookedTransformer with learned positions and norms that are not folded.

From TransformerLensOrg/TransformerLens, transformer_lens/components.
"""

import torch

from make_families import ACTIVATIONS, IDS, attend


def norm(w, x, name):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return scaled * w(name + ".w", x.shape[-1]) + w(name + ".b", x.shape[-1])


def hooked(w, ids, maps, *, width=32, heads=2, each=12, layers=2, hidden=48, vocabulary=29, context=24, mlp=True, classes=None):
    x = w("embed.W_E", vocabulary, width)[ids] + w("pos_embed.W_pos", context, width)[: len(ids)]
    for i in range(layers):
        b = f"blocks.{i}."
        h = norm(w, x, b + "ln1")
        w(b + "attn.mask", context, context)
        q, k, v = (
            torch.einsum("nd,hde->hne", h, w(f"{b}attn.W_{part}", heads, width, each))
            + w(f"{b}attn.b_{part}", heads, each)[:, None]
            for part in "QKV"
        )
        h = attend(q, k, v, maps, causal=True)
        x = x + h @ w(b + "attn.W_O", heads, each, width).flatten(0, 1) + w(b + "attn.b_O", width)
        if mlp:
            h = norm(w, x, b + "ln2") @ w(b + "mlp.W_in", width, hidden) + w(b + "mlp.b_in", hidden)
            x = x + ACTIVATIONS["gelu_tanh"](h) @ w(b + "mlp.W_out", hidden, width) + w(b + "mlp.b_out", width)
    x = norm(w, x, "ln_final")
    if classes:  # d_vocab_out: only the last token is read
        x, vocabulary = x[-1], classes
    return x @ w("unembed.W_U", width, vocabulary) + w("unembed.b_U", vocabulary)


CASES = {
    "transformer_lens": (
        "TransformerLens", hooked, {}, IDS, None, {}, None, "blocks.1.attn.b_K", "blocks.1.attn.W_gate",
    ),
    "transformer_lens_attention_only": (
        "TransformerLens", hooked, dict(mlp=False), IDS, None, {}, None, "blocks.0.ln1.w", "blocks.0.mlp.W_gate",
    ),
    "transformer_lens_classifier": (
        "TransformerLens", hooked, dict(classes=3), IDS, None, {}, None, "blocks.1.ln2.w", "blocks.1.attn.W_gate",
    ),
}
