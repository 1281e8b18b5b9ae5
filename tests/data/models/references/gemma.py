"""Gemma in Hugging Face's names. The first: Llama's layers with 1 + weight in the norms and scaled embeddings. Gemma 2:
norms before and after each part, soft caps, every other layer's window. Gemma 3: norms of queries and keys, and another
θ in layers with a window.

From huggingface/transformers, models/gemma/modeling_gemma.py, models/gemma2/modeling_gemma2.py and
models/gemma3/modeling_gemma3.py.
"""

import math

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, turn_halves

import torch


def gemma2(w, ids, maps, *, width=24, heads=4, key_heads=2, head_width=8, hidden=40, layers=3, vocabulary=29,
           scalar=6.0, window=5, soft_cap=2.0, logit_cap=3.0, eps=1e-6):
    table = w("model.embed_tokens.weight", vocabulary, width)
    x = table[ids] * math.sqrt(width)
    angles = angles_of(len(ids), rotary(head_width, 10000.0))
    norm = lambda y, name: rms(w, y, name, eps, plus_one=True)
    for i in range(layers):
        l = f"model.layers.{i}."
        h = norm(x, l + "input_layernorm")
        q = heads_of(w.linear(h, l + "self_attn.q_proj", heads * head_width, bias=False), heads)
        k = heads_of(w.linear(h, l + "self_attn.k_proj", key_heads * head_width, bias=False), key_heads)
        v = heads_of(w.linear(h, l + "self_attn.v_proj", key_heads * head_width, bias=False), key_heads)
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        hidden_keys = causal_mask(len(ids), window if i % 2 == 0 else None)
        h = attend_terms(q, k, v, maps, scalar**-0.5, hidden_keys, soft_cap)
        h = w.linear(h, l + "self_attn.o_proj", width, bias=False)
        x = x + norm(h, l + "post_attention_layernorm")
        h = norm(x, l + "pre_feedforward_layernorm")
        gate = ACTIVATIONS["gelu_tanh"](w.linear(h, l + "mlp.gate_proj", hidden, bias=False))
        h = gate * w.linear(h, l + "mlp.up_proj", hidden, bias=False)
        x = x + norm(w.linear(h, l + "mlp.down_proj", width, bias=False), l + "post_feedforward_layernorm")
    logits = norm(x, "model.norm") @ table.T
    return logit_cap * torch.tanh(logits / logit_cap)


def gemma(w, ids, maps, *, width=24, heads=4, key_heads=1, head_width=8, hidden=40, layers=1, vocabulary=29, eps=1e-3):
    table = w("model.embed_tokens.weight", vocabulary, width)
    x = table[ids] * math.sqrt(width)
    angles = angles_of(len(ids), rotary(head_width, 10000.0))
    for i in range(layers):
        l = f"model.layers.{i}."
        h = rms(w, x, l + "input_layernorm", eps, plus_one=True)
        q = heads_of(w.linear(h, l + "self_attn.q_proj", heads * head_width, bias=False), heads)
        k = heads_of(w.linear(h, l + "self_attn.k_proj", key_heads * head_width, bias=False), key_heads)
        v = heads_of(w.linear(h, l + "self_attn.v_proj", key_heads * head_width, bias=False), key_heads)
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        h = attend_terms(q, k, v, maps, head_width**-0.5, causal_mask(len(ids)))
        x = x + w.linear(h, l + "self_attn.o_proj", width, bias=False)
        h = rms(w, x, l + "post_attention_layernorm", eps, plus_one=True)
        gate = ACTIVATIONS["gelu_tanh"](w.linear(h, l + "mlp.gate_proj", hidden, bias=False))
        h = gate * w.linear(h, l + "mlp.up_proj", hidden, bias=False)
        x = x + w.linear(h, l + "mlp.down_proj", width, bias=False)
    return rms(w, x, "model.norm", eps, plus_one=True) @ table.T


def gemma3(w, ids, maps, *, width=24, heads=4, key_heads=2, head_width=8, hidden=40, layers=4, vocabulary=29,
           scalar=6.0, window=5, local=(0, 1, 3), theta=700.0, local_theta=20.0, factor=4.0, eps=1e-6, picture=None,
           seen_anyway=None):
    """Layers in `local` see the last tokens of a window; the positions of the others are divided by `factor`.
    `picture` gives the rows of tokens that stand for one, and `seen_anyway` [N, N] keys that no mask hides."""
    table = w("model.embed_tokens.weight", vocabulary, width)
    x = table[ids] * math.sqrt(width)
    x = x if picture is None else picture(x)
    norm = lambda y, name: rms(w, y, name, eps, plus_one=True)
    for i in range(layers):
        l = f"model.layers.{i}."
        h = norm(x, l + "input_layernorm")
        q = heads_of(w.linear(h, l + "self_attn.q_proj", heads * head_width, bias=False), heads)
        k = heads_of(w.linear(h, l + "self_attn.k_proj", key_heads * head_width, bias=False), key_heads)
        v = heads_of(w.linear(h, l + "self_attn.v_proj", key_heads * head_width, bias=False), key_heads)
        q, k = norm(q, l + "self_attn.q_norm"), norm(k, l + "self_attn.k_norm")
        frequencies = rotary(head_width, local_theta) if i in local else rotary(head_width, theta) / factor
        angles = angles_of(len(ids), frequencies)
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        mask = causal_mask(len(ids), window if i in local else None)
        mask = mask if seen_anyway is None else mask & ~seen_anyway
        h = attend_terms(q, k, v, maps, scalar**-0.5, mask)
        h = w.linear(h, l + "self_attn.o_proj", width, bias=False)
        x = x + norm(h, l + "post_attention_layernorm")
        h = norm(x, l + "pre_feedforward_layernorm")
        gate = ACTIVATIONS["gelu_tanh"](w.linear(h, l + "mlp.gate_proj", hidden, bias=False))
        h = gate * w.linear(h, l + "mlp.up_proj", hidden, bias=False)
        x = x + norm(w.linear(h, l + "mlp.down_proj", width, bias=False), l + "post_feedforward_layernorm")
    return norm(x, "model.norm") @ table.T


CONFIG = {
    "architectures": ["Gemma2ForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "attn_logit_softcapping": 2.0,
    "bos_token_id": 2,
    "cache_implementation": "hybrid",
    "eos_token_id": 1,
    "final_logit_softcapping": 3.0,
    "head_dim": 8,
    "hidden_act": "gelu_pytorch_tanh",
    "hidden_activation": "gelu_pytorch_tanh",
    "hidden_size": 24,
    "initializer_range": 0.02,
    "intermediate_size": 40,
    "max_position_embeddings": 8192,
    "model_type": "gemma2",
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "query_pre_attn_scalar": 6,
    "rms_norm_eps": 1e-06,
    "rope_theta": 10000.0,
    "sliding_window": 5,
    "torch_dtype": "float32",
    "transformers_version": "4.42.4",
    "use_cache": True,
    "vocab_size": 29,
}

GEMMA = {
    **{key: value for key, value in CONFIG.items()
       if key not in ("attn_logit_softcapping", "cache_implementation", "final_logit_softcapping",
                      "query_pre_attn_scalar", "sliding_window")},
    "architectures": ["GemmaForCausalLM"],
    "hidden_act": "gelu",  # hidden_activation is used instead
    "model_type": "gemma",
    "num_hidden_layers": 1,
    "num_key_value_heads": 1,
    "rms_norm_eps": 0.001,
}

GEMMA3 = {
    **{key: value for key, value in CONFIG.items() if key != "hidden_act"},
    "architectures": ["Gemma3ForCausalLM"],
    "attn_logit_softcapping": None,
    "final_logit_softcapping": None,
    "model_type": "gemma3_text",
    "num_hidden_layers": 4,
    "rope_local_base_freq": 20.0,
    "rope_scaling": {"factor": 4.0, "rope_type": "linear"},
    "rope_theta": 700.0,
    "sliding_window_pattern": 3,
}
LATER = {
    **{key: value for key, value in GEMMA3.items()
       if key not in ("rope_local_base_freq", "rope_scaling", "rope_theta", "sliding_window_pattern")},
    "layer_types": ["full_attention", "sliding_attention"],
    "num_hidden_layers": 2,
    "rope_parameters": {"full_attention": {"rope_theta": 300.0, "rope_type": "default"},
                        "sliding_attention": {"rope_theta": 50.0, "rope_type": "default"}},
}

CASES = {
    "hugging_face_gemma": (
        "Hugging Face Gemma", gemma, {}, IDS, GEMMA, {}, {"hidden_activation": None},
        "model.layers.0.mlp.gate_proj.weight", "model.layers.0.self_attn.q_proj.lora_A.weight",
    ),
    "hugging_face_gemma2": (
        "Hugging Face Gemma 2", gemma2, {}, IDS, CONFIG, {}, {"use_bidirectional_attention": True},
        "model.layers.1.post_feedforward_layernorm.weight", "model.layers.2.self_attn.sinks",
    ),
    "hugging_face_gemma3": (
        "Hugging Face Gemma 3", gemma3, {}, IDS, GEMMA3, {}, {"rope_scaling": {"rope_type": "ntk"}},
        "model.layers.3.self_attn.k_norm.weight", "model.layers.2.self_attn.sinks",
    ),
    "hugging_face_gemma3_later": (
        "Hugging Face Gemma 3", gemma3, dict(layers=2, local=(1,), theta=300.0, local_theta=50.0, factor=1.0), IDS, LATER, {},
        {"layer_types": ["full_attention", "linear_attention"]},
        "model.layers.1.post_feedforward_layernorm.weight", "model.layers.0.self_attn.gate.weight",
    ),
}
