"""ModernBERT in Hugging Face's names: windows around the token in all layers but every third, rotary positions of two
bases, gated MLPs, no norm before the first attention.

From huggingface/transformers, models/modernbert/modular_modernbert.py.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import angles_of, rotary, turn_halves


def modernbert(w, ids, maps, *, width=24, heads=3, hidden=20, layers=4, vocabulary=29, every=3, window=6,
               thetas=(160000.0, 10000.0), eps=1e-5, head="masked"):
    table = w("model.embeddings.tok_embeddings.weight", vocabulary, width)
    norm = lambda y, name: w.norm(y, name, eps, bias=False)
    x = norm(table[ids], "model.embeddings.norm")
    places = torch.arange(len(ids))
    far = (places - places[:, None]).abs() > window // 2
    for i in range(layers):
        l = f"model.layers.{i}."
        h = norm(x, l + "attn_norm") if i > 0 else x
        q, k, v = (heads_of(p, heads) for p in w.linear(h, l + "attn.Wqkv", 3 * width, bias=False).chunk(3, -1))
        angles = angles_of(len(ids), rotary(width // heads, thetas[i % every > 0]))
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // heads)
        maps.append((scores if i % every == 0 else scores.masked_fill(far, -math.inf)).softmax(-1))
        h = (maps[-1] @ v).transpose(0, 1).flatten(1)
        x = x + w.linear(h, l + "attn.Wo", width, bias=False)
        inner, gate = w.linear(norm(x, l + "mlp_norm"), l + "mlp.Wi", 2 * hidden, bias=False).chunk(2, -1)
        x = x + w.linear(ACTIVATIONS["gelu"](inner) * gate, l + "mlp.Wo", width, bias=False)
    last, x = x, norm(x, "model.final_norm")
    if head == "none":  # tokens of the last layer and the mean of the normed tokens
        return last, x.mean(0)
    if head == "mean":
        x = x.mean(0)
    h = norm(ACTIVATIONS["gelu"](w.linear(x, "head.dense", width, bias=False)), "head.norm")
    if head == "mean":
        return w.linear(h, "classifier", 5)
    return h @ table.T + w("decoder.bias", vocabulary)


CONFIG = {
    "architectures": ["ModernBertForMaskedLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 50281,
    "classifier_activation": "gelu",
    "classifier_bias": False,
    "classifier_dropout": 0.0,
    "classifier_pooling": "mean",
    "cls_token_id": 50281,
    "decoder_bias": True,
    "deterministic_flash_attn": False,
    "embedding_dropout": 0.0,
    "global_attn_every_n_layers": 3,
    "global_rope_theta": 160000.0,
    "gradient_checkpointing": False,
    "hidden_activation": "gelu",
    "hidden_size": 24,
    "initializer_cutoff_factor": 2.0,
    "initializer_range": 0.02,
    "intermediate_size": 20,
    "layer_norm_eps": 1e-05,
    "local_attention": 6,
    "local_rope_theta": 10000.0,
    "max_position_embeddings": 64,
    "mlp_bias": False,
    "mlp_dropout": 0.0,
    "model_type": "modernbert",
    "norm_bias": False,
    "norm_eps": 1e-05,
    "num_attention_heads": 3,
    "num_hidden_layers": 4,
    "position_embedding_type": "absolute",
    "reference_compile": False,
    "sparse_pred_ignore_index": -100,
    "sparse_prediction": False,
    "torch_dtype": "float32",
    "transformers_version": "4.48.0",
    "vocab_size": 29,
}
LATER = {
    **{key: value for key, value in CONFIG.items()
       if key not in ("global_attn_every_n_layers", "global_rope_theta", "local_rope_theta", "layer_norm_eps")},
    "layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention"],
    "local_attention": 8,
    "rope_parameters": {"full_attention": {"rope_theta": 500.0, "rope_type": "default"},
                        "sliding_attention": {"rope_theta": 50.0, "rope_type": "default"}},
}

CASES = {
    "hugging_face_modernbert": (
        "Hugging Face ModernBERT", modernbert, {}, IDS, CONFIG, {}, {"classifier_activation": "relu"},
        "model.layers.1.attn_norm.weight", "model.layers.0.attn.Wqkv.scale",
    ),
    "hugging_face_modernbert_later": (
        "Hugging Face ModernBERT", modernbert, dict(every=2, window=8, thetas=(500.0, 50.0)), IDS, LATER, {},
        {"rope_parameters": {"sliding_attention": {"rope_type": "yarn", "factor": 2.0}}},
        "head.norm.weight", "model.layers.2.attn.q_norm.weight",
    ),
    "hugging_face_modernbert_classifier": (
        "Hugging Face ModernBERT classifier", modernbert, dict(head="mean"), IDS,
        {**CONFIG, "architectures": ["ModernBertForSequenceClassification"]}, {}, {"classifier_pooling": "last"},
        "head.norm.weight", "head.dense.gate",
    ),
    "hugging_face_modernbert_without_config": (
        "Hugging Face ModernBERT", modernbert, dict(layers=3, head="none", window=128), IDS, None,
        {"heads": "3", "readout": "mean_all"}, None,
        "model.layers.0.attn.Wo.weight", "model.layers.2.mlp.gate.weight",
    ),
}
