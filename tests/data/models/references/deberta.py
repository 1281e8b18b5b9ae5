"""DeBERTa v2 and v3 in Hugging Face's names: BERT's layers without positions of tokens, where queries are also multiplied
with keys of relative positions and keys with their queries.

From huggingface/transformers, models/deberta_v2/modeling_deberta_v2.py.
"""

import math

import torch

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
            act="gelu", pooled="gelu", types=0, unused=0, head="classifier"):
    norm = lambda y, name: w.norm(y, name, eps)
    e = "deberta.embeddings."
    table = w(e + "word_embeddings.weight", vocabulary, width)
    x = table[ids]
    if types:
        x = x + w(e + "token_type_embeddings.weight", types, width)[0]
    if unused:  # in many files, whatever position_biased_input says
        w(e + "position_embeddings.weight", unused, width)
    x = norm(x, e + "LayerNorm")
    relative = norm(w("deberta.encoder.rel_embeddings.weight", 2 * buckets, width), "deberta.encoder.LayerNorm")
    places = place_of(len(ids), buckets, furthest)
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
}
