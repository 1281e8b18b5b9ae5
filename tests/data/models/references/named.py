"""Models from scratch in names of nobody's, as course projects have them: what they are is read
from the words, and the rest is said in options."""

import torch

from make_families import ACTIVATIONS, IDS, IMAGE, attend, heads_of
from make_reference import array


def scratch_gpt(w, ids, maps, *, width=36, heads=3, layers=2, vocabulary=29, context=24, act="relu"):
    """One projection a head, stored masks, norms before; an output projection, a head with a bias."""
    x = w("token_emb.weight", vocabulary, width)[ids] + w("pos_emb.weight", context, width)[: len(ids)]
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.norm(x, b + "ln1", 1e-5)
        parts = {name: [] for name in ("Key", "query", "W_v")}
        for head in range(heads):
            for name, found in parts.items():
                found.append(w.linear(h, f"{b}sa_heads.heads.{head}.{name}", width // heads, bias=False))
            w(f"{b}sa_heads.heads.{head}.tril", context, context)
        q, k, v = (torch.stack(parts[name]) for name in ("query", "Key", "W_v"))
        x = x + w.linear(attend(q, k, v, maps, causal=True), b + "sa_heads.proj", width)
        h = ACTIVATIONS[act](w.linear(w.norm(x, b + "ln2", 1e-5), b + "feed_fwd.net.0", 2 * width))
        x = x + w.linear(h, b + "feed_fwd.net.2", width)
    return w.linear(w.norm(x, "ln_f", 1e-5), "lm_head", vocabulary)


def by_torch(w, x, name, heads, maps, causal=False):
    """nn.MultiheadAttention."""
    width = x.shape[-1]
    rows = x @ w(name + ".in_proj_weight", 3 * width, width).T + w(name + ".in_proj_bias", 3 * width)
    h = attend(*(heads_of(part, heads) for part in rows.chunk(3, -1)), maps, causal=causal)
    return w.linear(h, name + ".out_proj", width)


def scratch_vit(w, image, maps, *, width=40, heads=4, layers=2, patch=8, classes=5):
    """nn.MultiheadAttention, norms after, the last one among the blocks' numbers."""
    x = w.patches(image, "embedding.patch", width, patch)
    x = torch.cat([w("embedding.cls", 1, 1, width)[0], x])
    x = x + w("embedding.pos", 1, len(x), width)[0]
    for i in range(layers):
        b = f"encoder.{i}."
        x = w.norm(x + by_torch(w, x, b + "attention", heads, maps), b + "norm1", 1e-5)
        h = ACTIVATIONS["gelu"](w.linear(x, b + "mlp.0", width))  # square weights: numbers give the order
        x = w.norm(x + w.linear(h, b + "mlp.3", width), b + "norm2", 1e-5)
    return w.linear(w.norm(x, f"encoder.{layers}", 1e-5)[0], "classifier", classes)


def scratch_encoder(w, inputs, maps, *, width=24, heads=2, layers=2, vocabulary=31, context=40, series=False, scaled=True):
    """nn.TransformerEncoder within a model of texts, or of numbers [N, F] with a projection."""
    if series:
        x = w.linear(inputs, "input_projection", width) * (width**0.5 if scaled else 1)
    else:
        x = w("embedding.weight", vocabulary, width)[inputs] * width**0.5
    x = x + w("pos_encoder.pe", 1, context, width)[0, : len(x)]
    for i in range(layers):
        b = f"transformer_encoder.layers.{i}."
        h = by_torch(w, w.norm(x, b + "norm1", 1e-5), b + "self_attn", heads, maps)
        x = x + h
        h = ACTIVATIONS["relu"](w.linear(w.norm(x, b + "norm2", 1e-5), b + "linear1", 3 * width))
        x = x + w.linear(h, b + "linear2", width)
    w.linear(x, "fc.0", 16)
    w.linear(torch.zeros(16, dtype=torch.double), "fc.3", 2)
    return x


def blocks_alone(w, tokens, maps, *, width=24, heads=2, layers=2):
    """nn.TransformerEncoder with its norm, behind layers of the code's own that make its tokens; these are given."""
    w("value_embedding.0.weight", width, 5, 3)
    w("mixing.weight", width, width)
    w("to_class.weight", 3, width)
    x = tokens
    for i in range(layers):
        b = f"transformer_encoder.layers.{i}."
        x = w.norm(x + by_torch(w, x, b + "self_attn", heads, maps, causal=True), b + "norm1", 1e-5)
        h = ACTIVATIONS["gelu"](w.linear(x, b + "linear1", 3 * width))
        x = w.norm(x + w.linear(h, b + "linear2", width), b + "norm2", 1e-5)
    w.norm(x, "transformer_encoder.norm", 1e-5)
    return x


def scratch_translator(w, texts, maps, *, width=24, heads=3, layers=2, blocks=1, vocabulary=31, context=40, torch_names=False):
    """An encoder and a decoder: as nn.Transformer's parts, norms after; or with separate projections, norms before."""

    def attention(x, source, name, causal=False):
        if not torch_names:
            q, k, v = (heads_of(w.linear(of, f"{name}.W_{part}", width), heads) for of, part in ((x, "q"), (source, "k"), (source, "v")))
            return w.linear(attend(q, k, v, maps, causal=causal), name + ".W_o", width)
        rows, offsets = w(name + ".in_proj_weight", 3 * width, width), w(name + ".in_proj_bias", 3 * width)
        q, k, v = (heads_of(of @ r.T + o, heads) for of, r, o in zip((x, source, source), rows.chunk(3), offsets.chunk(3)))
        return w.linear(attend(q, k, v, maps, causal=causal), name + ".out_proj", width)

    def branch(x, norm, compute):
        if torch_names:
            return w.norm(x + compute(x), norm, 1e-5)
        return x + compute(w.norm(x, norm, 1e-5))

    def mlp(x, b):
        first, second = ("linear1", "linear2") if torch_names else ("feed_forward.fc1", "feed_forward.fc2")
        return w.linear(ACTIVATIONS["relu"](w.linear(x, b + first, 2 * width)), b + second, width)

    def embed(ids, name):
        return w(name + ".weight", vocabulary, width)[ids] * width**0.5 + w("pos_encoding.pe", 1, context, width)[0, : len(ids)]

    own, other = ("self_attn", "multihead_attn") if torch_names else ("self_attention", "cross_attention")
    root = "transformer." if torch_names else ""
    x = embed(texts[0], "src_embed" if torch_names else "encoder.embedding")
    for i in range(layers):
        b = f"{root}encoder.layers.{i}."
        x = branch(x, b + "norm1", lambda h: attention(h, h, b + own))
        x = branch(x, b + "norm2", lambda h: mlp(h, b))
    x = w.norm(x, root + "encoder.norm", 1e-5)
    y = embed(texts[1], "tgt_embed" if torch_names else "decoder.embedding")
    for i in range(blocks):
        b = f"{root}decoder.layers.{i}."
        y = branch(y, b + "norm1", lambda h: attention(h, h, b + own, causal=True))
        y = branch(y, b + "norm2", lambda h: attention(h, x, b + other))
        y = branch(y, b + "norm3", lambda h: mlp(h, b))
    y = w.norm(y, root + "decoder.norm", 1e-5)
    return w.linear(y, "fc_out" if torch_names else "decoder.fc_out", vocabulary)


NAMED = "transformer by its names"
BOTH = (IDS, torch.tensor([2, 0, 28, 3, 3, 11]))
PRE = {"norm_position": "pre", "activation": "relu"}
CASES = {
    "named_gpt": (
        NAMED, scratch_gpt, {}, IDS, None, PRE | {"layer.scores.causal": "true", "scale": "head_width^-1/2"}, None, "blocks.1.ln2.weight", "blocks.0.sa_heads.gate.weight",
    ),
    "named_vit": (
        NAMED, scratch_vit, {}, IMAGE, None,
        {"norm_position": "post", "activation": "gelu", "heads": "4"}, None,
        "encoder.0.mlp.3.weight", "encoder.1.attention.bias_k",
    ),
    "named_text_encoder": (
        NAMED, scratch_encoder, {}, IDS, None,
        PRE | {"heads": "2", "embedding_scale": "0", "layer.scores.causal": "false"}, None,
        "transformer_encoder.layers.0.linear1.weight", "token_type_embedding.weight",
    ),
    "named_series": (
        NAMED, scratch_encoder, dict(series=True, scaled=False), array("input", (17, 5)).double(), None, PRE | {"heads": "2"}, None,
        "transformer_encoder.layers.1.self_attn.in_proj_weight", "norm_first.weight",
    ),
    "named_series_scaled": (
        NAMED, scratch_encoder, dict(series=True), array("input", (17, 5)).double(), None,
        PRE | {"heads": "2", "embedding_scale": "0"}, None, "input_projection.weight", "transformer_encoder.layers.0.gate",
    ),
    "named_blocks_alone": (
        NAMED, blocks_alone, {}, array("input", (17, 24)).double(), None,
        {"input.kind": "embeddings", "norm_position": "post", "activation": "gelu", "heads": "2", "layer.scores.causal": "true"},
        None, "transformer_encoder.layers.1.norm2.weight", "transformer_encoder.layers.0.gate",
    ),
    "named_translator": (
        NAMED, scratch_translator, {}, BOTH, None, PRE | {"heads": "3", "embedding_scale": "0", "scale": "head_width^-1/2"}, None,
        "decoder.layers.0.cross_attention.W_k.weight", "decoder.layers.0.cross_attention.gate",
    ),
    "named_torch_translator": (
        NAMED, scratch_translator, dict(torch_names=True), BOTH, None,
        {"norm_position": "post", "activation": "relu", "heads": "3", "embedding_scale": "0"}, None,
        "transformer.decoder.layers.0.multihead_attn.in_proj_weight", "transformer.decoder.layers.0.norm4.weight",
    ),
}
