"""DeBERTa, v2 and v3 in Hugging Face's names: BERT's layers without positions of tokens, where queries are also multiplied
with keys of relative positions and keys with their queries.

From huggingface/transformers, models/deberta_v2/modeling_deberta_v2.py and models/deberta/modeling_deberta.py.
"""

import math

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IDS, heads_of


def place_of(tokens, buckets, furthest):
    """Of each query i and key j the row of i − j, which is its own up to buckets / 2 and one of a logarithmic scale
    beyond."""
    away = torch.arange(tokens)[:, None] - torch.arange(tokens)[None]
    middle = buckets // 2
    scale = torch.log(away.abs().clamp(min=middle) / middle) / math.log((furthest - 1) / middle)
    beyond = middle + torch.ceil(scale * (middle - 1)).long()
    place = torch.where(away.abs() <= middle, away, beyond * away.sign())
    return (place + buckets).clamp(0, 2 * buckets - 1)


def deberta(w, ids, maps, *, width=24, heads=3, hidden=40, layers=2, vocabulary=29, buckets=6, furthest=14, eps=1e-5,
            act="gelu", pooled="gelu", types=0, unused=0, head="classifier", kernel=0, groups=1):
    norm = lambda y, name: w.norm(y, name, eps)
    e = "deberta.embeddings."
    table = w(e + "word_embeddings.weight", vocabulary, width)
    x = table[ids]
    if types:
        x = x + w(e + "token_type_embeddings.weight", types, width)[0]
    if unused:  # many files have them, whatever position_biased_input says
        w(e + "position_embeddings.weight", unused, width)
    x = norm(x, e + "LayerNorm")
    relative = norm(w("deberta.encoder.rel_embeddings.weight", 2 * buckets, width), "deberta.encoder.LayerNorm")
    places = place_of(len(ids), buckets, furthest)
    embedded = x
    for i in range(layers):
        l = f"deberta.encoder.layer.{i}."
        project = lambda y, name: heads_of(w.linear(y, l + f"attention.self.{name}_proj", width), heads)
        q, k, v = project(x, "query"), project(x, "key"), project(x, "value")
        of_queries = q @ project(relative, "key").transpose(-1, -2)  # [H, N, 2·buckets]
        of_keys = k @ project(relative, "query").transpose(-1, -2)
        scores = q @ k.transpose(-1, -2)
        for a in range(len(ids)):
            for b in range(len(ids)):
                scores[:, a, b] += of_queries[:, a, places[a, b]] + of_keys[:, b, places[a, b]]
        maps.append((scores / math.sqrt(3 * (width // heads))).softmax(-1))
        h = w.linear((maps[-1] @ v).transpose(0, 1).flatten(1), l + "attention.output.dense", width)
        x = norm(x + h, l + "attention.output.LayerNorm")
        h = ACTIVATIONS[act](w.linear(x, l + "intermediate.dense", hidden))
        x = norm(x + w.linear(h, l + "output.dense", width), l + "output.LayerNorm")
        if i == 0 and kernel:
            c = "deberta.encoder.conv."
            weight = w(c + "conv.weight", width, width // groups, kernel)
            h = F.conv1d(embedded.T[None], weight, w(c + "conv.bias", width), padding=kernel // 2, groups=groups)[0].T
            x = norm(x + ACTIVATIONS[act](h), c + "LayerNorm")
    if head == "classifier":
        act = {**ACTIVATIONS, "tanh": torch.tanh}[pooled]
        return w.linear(act(w.linear(x[0], "pooler.dense", width)), "classifier", 5)
    h = norm(ACTIVATIONS[act](w.linear(x, "cls.predictions.transform.dense", width)),
             "cls.predictions.transform.LayerNorm")
    return h @ table.T + w("cls.predictions.bias", vocabulary)


def first_deberta(w, ids, maps, *, width=24, heads=3, hidden=40, layers=2, vocabulary=29, furthest=4, eps=1e-5,
                  act="gelu", pooled="gelu", head="classifier"):
    """Queries, keys and values of each head together; relative positions each their own up to the furthest."""
    norm = lambda y, name: w.norm(y, name, eps)
    e = "deberta.embeddings."
    table = w(e + "word_embeddings.weight", vocabulary, width)
    x = norm(table[ids], e + "LayerNorm")
    relative = w("deberta.encoder.rel_embeddings.weight", 2 * furthest, width)
    i, j = torch.arange(len(ids))[:, None], torch.arange(len(ids))[None]
    places = (i - j + furthest).clamp(0, 2 * furthest - 1)
    for layer in range(layers):
        l = f"deberta.encoder.layer.{layer}."
        s = l + "attention.self."
        q, k, v = heads_of(w.linear(x, s + "in_proj", 3 * width, bias=False), heads).chunk(3, -1)
        q = q + heads_of(w(s + "q_bias", width)[None], heads)
        v = v + heads_of(w(s + "v_bias", width)[None], heads)
        of_keys = heads_of(w.linear(relative, s + "pos_proj", width, bias=False), heads)
        of_queries = heads_of(w.linear(relative, s + "pos_q_proj", width), heads)
        rows = torch.arange(len(ids))
        scores = q @ k.transpose(-1, -2)
        scores = scores + (q @ of_keys.transpose(-1, -2))[:, rows[:, None], places]
        scores = scores + (k @ of_queries.transpose(-1, -2))[:, rows[None], places]
        maps.append((scores / math.sqrt(3 * (width // heads))).softmax(-1))
        h = w.linear((maps[-1] @ v).transpose(0, 1).flatten(1), l + "attention.output.dense", width)
        x = norm(x + h, l + "attention.output.LayerNorm")
        h = ACTIVATIONS[act](w.linear(x, l + "intermediate.dense", hidden))
        x = norm(x + w.linear(h, l + "output.dense", width), l + "output.LayerNorm")
    if head == "classifier":
        act = {**ACTIVATIONS, "tanh": torch.tanh}[pooled]
        return w.linear(act(w.linear(x[0], "pooler.dense", width)), "classifier", 5)
    h = norm(ACTIVATIONS[act](w.linear(x, "cls.predictions.transform.dense", width)),
             "cls.predictions.transform.LayerNorm")
    return h @ table.T + w("cls.predictions.bias", vocabulary)


CONFIG = {
    "architectures": ["DebertaV2ForSequenceClassification"],
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 24,
    "initializer_range": 0.02,
    "intermediate_size": 40,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 14,
    "max_relative_positions": -1,
    "model_type": "deberta-v2",
    "norm_rel_ebd": "layer_norm",
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "pooler_dropout": 0,
    "pooler_hidden_act": "gelu",
    "pooler_hidden_size": 24,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "position_buckets": 6,
    "relative_attention": True,
    "share_att_key": True,
    "torch_dtype": "float32",
    "transformers_version": "4.30.0",
    "type_vocab_size": 0,
    "vocab_size": 29,
}
MASKED = {
    **CONFIG,
    "architectures": ["DebertaV2ForMaskedLM"],
    "hidden_act": "gelu_new",
    "legacy": True,
    "max_position_embeddings": 512,
    "max_relative_positions": 40,
    "pos_att_type": "c2p|p2c",
    "position_buckets": 8,
    "type_vocab_size": 2,
}

FIRST = {
    **{key: value for key, value in CONFIG.items() if key not in ("norm_rel_ebd", "position_buckets", "share_att_key")},
    "architectures": ["DebertaForSequenceClassification"],
    "max_position_embeddings": 512,
    "max_relative_positions": 4,
    "model_type": "deberta",
    "padding_idx": 0,
    "pos_att_type": "c2p|p2c",
}
CONVOLVED = {**CONFIG, "conv_act": "gelu", "conv_kernel_size": 3, "conv_groups": 2}

CASES = {
    "hugging_face_deberta": (
        "Hugging Face DeBERTa v2", deberta, {}, IDS, CONFIG, {}, {"share_att_key": False}, "deberta.encoder.LayerNorm.bias",
        "deberta.encoder.layer.0.attention.self.pos_key_proj.weight",
    ),
    "hugging_face_deberta_masked": (
        "Hugging Face DeBERTa v2", deberta, dict(head="masked", act="gelu_tanh", buckets=8, furthest=40, types=2, unused=512), IDS,
        MASKED, {}, {"pos_att_type": "c2p"}, "cls.predictions.transform.LayerNorm.weight",
        "deberta.embeddings.embed_proj.weight",
    ),
    "hugging_face_deberta_without_config": (
        "Hugging Face DeBERTa v2", deberta, dict(furthest=512, eps=1e-7), IDS, None, {"heads": "3"}, None,
        "deberta.encoder.rel_embeddings.weight", "deberta.embeddings.position_embeddings.weight",
    ),
    "hugging_face_deberta_convolution": (
        "Hugging Face DeBERTa v2 (convolution)", deberta, dict(kernel=3, groups=2), IDS, CONVOLVED, {},
        {"conv_act": "tanh"}, "deberta.encoder.conv.LayerNorm.weight", "deberta.encoder.conv.gate.weight",
    ),
    "hugging_face_deberta_first": (
        "Hugging Face DeBERTa", first_deberta, {}, IDS, FIRST, {}, {"talking_head": True},
        "deberta.encoder.layer.1.attention.self.q_bias", "deberta.encoder.layer.0.attention.self.k_bias",
    ),
    "hugging_face_deberta_first_masked": (
        "Hugging Face DeBERTa", first_deberta, dict(head="masked", furthest=20, eps=1e-7), IDS, None, {"heads": "3"}, None,
        "deberta.encoder.layer.0.attention.self.pos_q_proj.bias", "deberta.encoder.LayerNorm.weight",
    ),
}
