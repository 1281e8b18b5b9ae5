"""BLOOM in Hugging Face's names: ALiBi, a norm of the embeddings, a head's queries, keys and values together.

From huggingface/transformers, models/bloom/modeling_bloom.py. Biases grow with the key's place alone there, which the
softmax cannot tell from its distance.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of


def slopes(heads):
    power = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    more = [2 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)]
    return torch.tensor(first + more).double()


def bloom(w, ids, maps, *, root="transformer.", width=48, heads=6, layers=2, vocabulary=29, eps=1e-5):
    table = w(root + "word_embeddings.weight", vocabulary, width)
    x = w.norm(table[ids], root + "word_embeddings_layernorm", eps)
    places = torch.arange(len(ids))
    for i in range(layers):
        l = f"{root}h.{i}."
        rows = w.linear(w.norm(x, l + "input_layernorm", eps), l + "self_attention.query_key_value", 3 * width)
        q, k, v = heads_of(rows, heads).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // heads) + slopes(heads)[:, None, None] * places
        maps.append(scores.masked_fill(places > places[:, None], -math.inf).softmax(-1))
        h = (maps[-1] @ v).transpose(0, 1).flatten(1)
        x = x + w.linear(h, l + "self_attention.dense", width)
        h = w.linear(w.norm(x, l + "post_attention_layernorm", eps), l + "mlp.dense_h_to_4h", 4 * width)
        x = x + w.linear(ACTIVATIONS["gelu_tanh"](h), l + "mlp.dense_4h_to_h", width)
    return w.norm(x, root + "ln_f", eps) @ table.T


CONFIG = {
    "apply_residual_connection_post_layernorm": False,
    "architectures": ["BloomForCausalLM"],
    "attention_dropout": 0.0,
    "attention_softmax_in_fp32": True,
    "bias_dropout_fusion": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_dropout": 0.0,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "masked_softmax_fusion": True,
    "model_type": "bloom",
    "n_embed": 48,
    "n_inner": None,
    "n_layer": 2,
    "num_attention_heads": 6,
    "offset_alibi": 100,
    "pad_token_id": 3,
    "pretraining_tp": 2,
    "seq_length": 2048,
    "skip_bias_add": True,
    "skip_bias_add_qkv": False,
    "slow_but_exact": False,
    "transformers_version": "4.20.0",
    "unk_token_id": 0,
    "use_cache": True,
    "vocab_size": 29,
}

CASES = {
    "hugging_face_bloom": (
        "Hugging Face BLOOM", bloom, {}, IDS, CONFIG, {}, {"apply_residual_connection_post_layernorm": True},
        "transformer.h.1.self_attention.query_key_value.weight", "transformer.h.0.self_attention.rope.weight",
    ),
    "hugging_face_bloom_bare": (
        "Hugging Face BLOOM", bloom, dict(root="", width=32, heads=4), IDS,
        {**{key: value for key, value in CONFIG.items() if not key.startswith("n_")}, "num_attention_heads": None,
         "n_head": 4, "hidden_size": 32, "num_hidden_layers": 2},
        {}, {"layer_norm_epsilon": "small"}, "word_embeddings_layernorm.bias", "h.1.mlp.gate.weight",
    ),
}
