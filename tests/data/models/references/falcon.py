"""Falcon in Hugging Face's names: one head of keys for all (7B), groups of heads with a norm for each branch (40B) or
one for both (11B), ALiBi with as many heads of keys and branches in turn (falcon-rw).

From huggingface/transformers, models/falcon/modeling_falcon.py, with the attention that it computes itself. ALiBi's
biases grow with the key's place; they are computed in bfloat16 there, and scaled like the products.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.bloom import slopes
from references.parts import angles_of, attend_terms, causal_mask, rotary, turn_halves


def falcon(w, ids, maps, *, root="transformer.", width=32, heads=4, key_heads=1, hidden=128, layers=2, vocabulary=29,
           norms=("input_layernorm",), parallel=True, alibi=False, biases=False, theta=10000.0, eps=1e-5, act="gelu"):
    table = w(root + "word_embeddings.weight", vocabulary, width)
    x, each, count = table[ids], width // heads, len(ids)
    angles = angles_of(count, rotary(each, theta))
    places = (slopes(heads).bfloat16()[:, None] * torch.arange(count)).double()  # in bfloat16
    for i in range(layers):
        l = f"{root}h.{i}."
        h = w.norm(x, l + norms[0], eps)
        rows = w.linear(h, l + "self_attention.query_key_value", (heads + 2 * key_heads) * each, bias=biases)
        groups = rows.unflatten(-1, (key_heads, heads // key_heads + 2, each))
        q, k, v = (part.flatten(1, 2).transpose(0, 1) for part in (groups[:, :, :-2], groups[:, :, -2:-1], groups[:, :, -1:]))
        if alibi:
            scores = (q @ k.transpose(-1, -2) + places[:, None]) / math.sqrt(each)
            maps.append(scores.masked_fill(causal_mask(count), -math.inf).softmax(-1))
            a = (maps[-1] @ v).transpose(0, 1).flatten(1)
        else:
            a = attend_terms(turn_halves(q, angles), turn_halves(k, angles), v, maps, each**-0.5, causal_mask(count))
        a = w.linear(a, l + "self_attention.dense", width, bias=biases)
        if not parallel:
            x = x + a
        if len(norms) > 1:
            h = w.norm(x, l + norms[1], eps)
        h = ACTIVATIONS[act](w.linear(h, l + "mlp.dense_h_to_4h", hidden, bias=biases))
        h = w.linear(h, l + "mlp.dense_4h_to_h", width, bias=biases)
        x = x + a + h if parallel else x + h
    return w.norm(x, root + "ln_f", eps) @ table.T


# tiiuae/falcon-7b writes these keys.
FALCON = {
    "alibi": False,
    "apply_residual_connection_post_layernorm": False,
    "architectures": ["FalconForCausalLM"],
    "attention_dropout": 0.0,
    "bias": False,
    "bos_token_id": 11,
    "eos_token_id": 11,
    "hidden_dropout": 0.0,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "falcon",
    "multi_query": True,
    "new_decoder_architecture": False,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "parallel_attn": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.27.4",
    "use_cache": True,
    "vocab_size": 29,
}

CASES = {
    "hugging_face_falcon": (
        "Hugging Face Falcon", falcon, {}, IDS, {**FALCON, "num_kv_heads": 4}, {}, {"multi_query": "sometimes"},
        "transformer.h.1.self_attention.dense.weight", "transformer.h.0.ln_mlp.bias_scale",
    ),
    "hugging_face_falcon_without_config": (
        "Hugging Face Falcon", falcon, dict(root=""), IDS, None, {"heads": "4"}, None, "h.1.input_layernorm.bias",
        "h.0.self_attention.query_key_value.scale",
    ),
    "hugging_face_falcon_groups": (
        "Hugging Face Falcon", falcon,
        dict(width=48, heads=6, key_heads=2, norms=("ln_attn", "ln_mlp"), hidden=80, theta=500.0, eps=1e-3), IDS,
        {**FALCON, "ffn_hidden_size": 80, "hidden_size": 48, "layer_norm_epsilon": 1e-3, "max_position_embeddings": 64,
         "new_decoder_architecture": True, "num_attention_heads": 6, "num_kv_heads": 2, "rope_scaling": None,
         "rope_theta": 500.0},
        {}, {"parallel_attn": False}, "transformer.h.1.ln_mlp.weight", "transformer.h.0.mlp.gate.weight",
    ),
    "hugging_face_falcon_one_norm": (
        "Hugging Face Falcon", falcon, dict(heads=4, key_heads=2, hidden=64, act="gelu_tanh"), IDS,
        {**FALCON, "activation": "gelu_new", "ff_factor": 2, "ffn_hidden_size": 64, "new_decoder_architecture": True,
         "num_kv_heads": 2, "num_ln_in_parallel_attn": 1},
        {}, {"apply_residual_connection_post_layernorm": True}, "transformer.h.1.mlp.dense_h_to_4h.weight",
        "transformer.h.0.mlp.gate.weight",
    ),
    "hugging_face_falcon_alibi": (
        "Hugging Face Falcon", falcon,
        dict(width=48, heads=12, key_heads=12, hidden=192, norms=("input_layernorm", "post_attention_layernorm"),
             parallel=False, alibi=True, biases=True), IDS,
        {**FALCON, "alibi": True, "bias": True, "hidden_size": 48, "multi_query": False, "num_attention_heads": 12,
         "num_kv_heads": 12, "parallel_attn": False},
        {}, {"num_kv_heads": 3}, "transformer.h.1.post_attention_layernorm.bias",
        "transformer.h.0.self_attention.rotary_emb.weight",
    ),
}
