"""Llama in Hugging Face's names, and those that share them: grouped keys, rotary halves, llama3 and linear scaling,
tied or not; Mistral's window, Qwen2's biases, Qwen3's norms of queries and keys, Granite's multipliers.

From huggingface/transformers, modeling_rope_utils.py and models/llama, mistral, qwen2, qwen3 and granite.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, turn_halves


def llama3(frequencies, factor, low, high, context):
    wavelength = 2 * math.pi / frequencies
    smooth = (context / wavelength - low) / (high - low)
    mixed = (1 - smooth) * frequencies / factor + smooth * frequencies
    mixed = torch.where(wavelength > context / low, frequencies / factor, mixed)
    return torch.where(wavelength < context / high, frequencies, mixed)


def gated_mlp(w, x, prefix, layer, hidden, act):
    gate = ACTIVATIONS[act](w.linear(x, prefix + "mlp.gate_proj", hidden, bias=False))
    h = gate * w.linear(x, prefix + "mlp.up_proj", hidden, bias=False)
    return w.linear(h, prefix + "mlp.down_proj", x.shape[-1], bias=False)


def llama(w, ids, maps, *, width=32, heads=4, key_heads=2, head_width=8, hidden=48, layers=2, vocabulary=29,
          theta=10000.0, eps=1e-6, act="silu", scaling=None, tied=False, biases=False, out_bias=None, window=None,
          slides_from=0, head_norms=False, all_norms=False, picture=None, feed_forward=None, turns=None,
          deeper=lambda i, x: x, multipliers=(1.0, None, 1.0, 1.0)):
    """`picture` gives the rows of tokens that stand for one, in place of their embeddings; `feed_forward` is in place
    of the MLP, `turns` of the angles of a text alone, and `deeper` changes what a layer gives; `multipliers` are those
    of embeddings, scores and branches, and the divisor of logits."""
    of_embeddings, of_scores, of_branches, divisor = multipliers
    table = w("model.embed_tokens.weight", vocabulary, width)
    x = of_embeddings * (table[ids] if picture is None else picture(table[ids]))
    frequencies = rotary(head_width, theta)
    if scaling:
        frequencies = scaling(frequencies)
    angles = turns(frequencies) if turns else angles_of(len(ids), frequencies)
    for i in range(layers):
        l = f"model.layers.{i}."
        h = rms(w, x, l + "input_layernorm", eps)
        q = w.linear(h, l + "self_attn.q_proj", heads * head_width, bias=biases)
        k = w.linear(h, l + "self_attn.k_proj", key_heads * head_width, bias=biases)
        if all_norms:
            q = rms(w, q, l + "self_attn.q_norm", eps)
            k = rms(w, k, l + "self_attn.k_norm", eps)
        q, k = heads_of(q, heads), heads_of(k, key_heads)
        v = heads_of(w.linear(h, l + "self_attn.v_proj", key_heads * head_width, bias=biases), key_heads)
        if head_norms:
            q = rms(w, q, l + "self_attn.q_norm", eps)
            k = rms(w, k, l + "self_attn.k_norm", eps)
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        h = attend_terms(q, k, v, maps, of_scores or head_width**-0.5,
                         causal_mask(len(ids), window if i >= slides_from else None))
        h = w.linear(h, l + "self_attn.o_proj", width, bias=biases if out_bias is None else out_bias)
        x = x + of_branches * h
        h = rms(w, x, l + "post_attention_layernorm", eps)
        x = deeper(i, x + of_branches * (feed_forward or gated_mlp)(w, h, l, i, hidden, act))
    x = rms(w, x, "model.norm", eps)
    return (x @ table.T if tied else w.linear(x, "lm_head", vocabulary, bias=False)) / divisor


CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.45.0",
    "use_cache": True,
    "vocab_size": 29,
}

LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
          "rope_type": "llama3"}

MISTRAL = {
    **{key: value for key, value in CONFIG.items() if key not in ("attention_bias", "mlp_bias", "pretraining_tp")},
    "architectures": ["MistralForCausalLM"],
    "head_dim": 12,
    "model_type": "mistral",
    "rms_norm_eps": 1e-05,
    "sliding_window": 5,
}
QWEN2 = {
    **{key: value for key, value in MISTRAL.items() if key != "head_dim"},
    "architectures": ["Qwen2ForCausalLM"],
    "max_window_layers": 1,
    "model_type": "qwen2",
    "num_attention_heads": 8,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0,
    "sliding_window": 5,
    "tie_word_embeddings": True,
    "use_sliding_window": False,
}
QWEN3 = {**QWEN2, "architectures": ["Qwen3ForCausalLM"], "attention_bias": False, "head_dim": 12, "model_type": "qwen3",
         "num_attention_heads": 4, "tie_word_embeddings": False}
SMOLLM = {**CONFIG, "is_llama_config": True, "rope_interleaved": False, "rope_theta": 100000, "num_attention_heads": 6,
          "hidden_size": 24, "num_key_value_heads": 2, "tie_word_embeddings": True, "rms_norm_eps": 1e-05,
          "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1.0}}

GRANITE = {
    **{key: value for key, value in CONFIG.items() if key != "pretraining_tp"},
    "architectures": ["GraniteForCausalLM"],
    "attention_multiplier": 0.21,
    "embedding_multiplier": 12.0,
    "logits_scaling": 8.0,
    "model_type": "granite",
    "residual_multiplier": 0.22,
    "rms_norm_eps": 1e-05,
    "tie_word_embeddings": True,
}

CASES = {
    "hugging_face_granite": (
        "Hugging Face Granite", llama, dict(eps=1e-5, tied=True, multipliers=(12.0, 0.21, 0.22, 8.0)), IDS, GRANITE, {},
        {"residual_multiplier": 0.0}, "model.layers.1.self_attn.o_proj.weight", "model.layers.0.self_attn.q_norm.weight",
    ),
    "hugging_face_granite_by_default": (
        "Hugging Face Granite", llama, dict(biases=True, multipliers=(1.0, 1.0, 1.0, 3.0)), IDS,
        {**{key: value for key, value in GRANITE.items() if not key.endswith("_multiplier")}, "attention_bias": True,
         "logits_scaling": 3.0, "rms_norm_eps": 1e-06, "tie_word_embeddings": False},
        {}, {"logits_scaling": 0}, "model.norm.weight", "model.layers.1.block_sparse_moe.router.layer.weight",
    ),
    "hugging_face_llama": (
        "Hugging Face Llama", llama, {}, IDS, CONFIG, {}, {"rope_scaling": {"rope_type": "su2", "factor": 2.0}},
        "model.layers.1.post_attention_layernorm.weight", "model.layers.0.self_attn.sinks",
    ),
    "hugging_face_llama3": (
        "Hugging Face Llama", llama,
        dict(theta=500.0, eps=1e-5, head_width=12, tied=True, scaling=lambda f: llama3(f, 8.0, 1.0, 4.0, 16)), IDS,
        {**CONFIG, "rope_theta": 500.0, "rms_norm_eps": 1e-5, "head_dim": 12, "rope_scaling": LLAMA3,
         "tie_word_embeddings": True},
        {}, {"hidden_act": "mish"}, "model.norm.weight", "model.layers.1.mlp.experts.0.gate_proj.weight",
    ),
    "hugging_face_llama_without_config": (
        "Hugging Face Llama", llama, dict(act="gelu", key_heads=1, biases=True), IDS, None,
        {"heads": "4", "activation": "gelu"}, None, "model.layers.0.self_attn.k_proj.bias",
        "model.layers.1.self_attn.lora_A.weight",
    ),
    "hugging_face_smollm": (
        "Hugging Face Llama", llama, dict(width=24, heads=6, head_width=4, theta=100000.0, eps=1e-5, tied=True), IDS,
        SMOLLM, {}, {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
        "model.layers.0.self_attn.o_proj.weight", "model.layers.1.self_attn.gate.weight",
    ),
    "hugging_face_mistral": (
        "Hugging Face Llama", llama, dict(head_width=12, eps=1e-5, window=5), IDS, MISTRAL, {},
        {"layer_types": ["full_attention", "sliding_attention"]},
        "model.layers.1.self_attn.v_proj.weight", "model.layers.0.self_attn.q_proj.bias_scale",
    ),
    "hugging_face_qwen2": (
        "Hugging Face Llama", llama, dict(heads=8, head_width=4, theta=1e6, tied=True, biases=True, out_bias=False), IDS,
        QWEN2, {}, {"layer_types": ["full_attention", "linear_attention"]},
        "model.layers.1.self_attn.q_proj.bias", "model.layers.0.mlp.shared_expert_gate.weight",
    ),
    "hugging_face_qwen2_windows": (
        "Hugging Face Llama", llama,
        dict(heads=8, head_width=4, theta=1e6, tied=True, biases=True, out_bias=False, window=5, slides_from=1), IDS,
        {**QWEN2, "use_sliding_window": True}, {}, {"hidden_act": "mish"},
        "model.layers.0.self_attn.k_proj.weight", "model.layers.0.self_attn.sinks",
    ),
    "hugging_face_qwen3": (
        "Hugging Face Qwen3", llama, dict(head_width=12, theta=1e6, head_norms=True), IDS, QWEN3, {},
        {"use_sliding_window": "sometimes"},
        "model.layers.1.self_attn.k_norm.weight", "model.layers.0.linear_attn.A_log",
    ),
}
