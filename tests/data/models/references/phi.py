"""Phi in Hugging Face's names: attention and MLP of one norm, a part of each head turned; norms of queries and keys or
none. Phi-3: Llama's layers with joined projections; longrope.

From huggingface/transformers, models/phi/modular_phi.py, models/phi3/modeling_phi3.py and modeling_rope_utils.py.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.llama import CONFIG as LLAMA
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, turn_halves


def phi(w, ids, maps, *, width=32, heads=4, key_heads=4, hidden=44, layers=2, vocabulary=29, part=0.5, eps=1e-5,
        head_norms=False):
    x = w("model.embed_tokens.weight", vocabulary, width)[ids]
    each = width // heads
    angles = angles_of(len(ids), rotary(int(each * part), 10000.0))
    for i in range(layers):
        l = f"model.layers.{i}."
        h = w.norm(x, l + "input_layernorm", eps)
        q = heads_of(w.linear(h, l + "self_attn.q_proj", width), heads)
        k = heads_of(w.linear(h, l + "self_attn.k_proj", key_heads * each), key_heads)
        v = heads_of(w.linear(h, l + "self_attn.v_proj", key_heads * each), key_heads)
        if head_norms:
            q = w.norm(q, l + "self_attn.q_layernorm", eps)
            k = w.norm(k, l + "self_attn.k_layernorm", eps)
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        a = attend_terms(q, k, v, maps, each**-0.5, causal_mask(len(ids)))
        m = ACTIVATIONS["gelu_tanh"](w.linear(h, l + "mlp.fc1", hidden))
        x = x + w.linear(a, l + "self_attn.dense", width) + w.linear(m, l + "mlp.fc2", width)
    return w.linear(w.norm(x, "model.final_layernorm", eps), "lm_head", vocabulary)


def phi3(w, ids, maps, *, width=32, heads=4, key_heads=2, hidden=40, layers=2, vocabulary=29, part=1.0, window=None,
         factors=None, amplitude=1.0, eps=1e-5):
    x = w("model.embed_tokens.weight", vocabulary, width)[ids]
    each = width // heads
    frequencies = rotary(int(each * part), 10000.0)
    if factors:
        frequencies = frequencies / torch.tensor(factors).double()
    angles = angles_of(len(ids), frequencies)
    for i in range(layers):
        l = f"model.layers.{i}."
        h = rms(w, x, l + "input_layernorm", eps)
        qkv = w.linear(h, l + "self_attn.qkv_proj", (heads + 2 * key_heads) * each, bias=False)
        q, k, v = qkv.split([heads * each, key_heads * each, key_heads * each], -1)
        q = turn_halves(heads_of(q, heads), angles, amplitude)
        k = turn_halves(heads_of(k, key_heads), angles, amplitude)
        h = attend_terms(q, k, heads_of(v, key_heads), maps, each**-0.5, causal_mask(len(ids), window))
        x = x + w.linear(h, l + "self_attn.o_proj", width, bias=False)
        h = rms(w, x, l + "post_attention_layernorm", eps)
        gate, up = w.linear(h, l + "mlp.gate_up_proj", 2 * hidden, bias=False).chunk(2, -1)
        x = x + w.linear(ACTIVATIONS["silu"](gate) * up, l + "mlp.down_proj", width, bias=False)
    return w.linear(rms(w, x, "model.norm", eps), "lm_head", vocabulary, bias=False)


CONFIG = {
    "architectures": ["PhiForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": None,
    "embd_pdrop": 0.0,
    "eos_token_id": None,
    "hidden_act": "gelu_new",
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 44,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 64,
    "model_type": "phi",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": None,
    "partial_rotary_factor": 0.5,
    "qk_layernorm": False,
    "resid_pdrop": 0.0,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "transformers_version": "4.37.0",
    "use_cache": True,
    "vocab_size": 29,
}

PHI3 = {
    **{key: value for key, value in LLAMA.items() if key not in ("mlp_bias", "pretraining_tp")},
    "architectures": ["Phi3ForCausalLM"],
    "embd_pdrop": 0.0,
    "intermediate_size": 40,
    "model_type": "phi3",
    "original_max_position_embeddings": 64,
    "resid_pdrop": 0.0,
    "rms_norm_eps": 1e-05,
    "sliding_window": 6,
}
SHORT, LONG = [1.0, 1.1, 1.3], [1.5, 2.5, 4.0]

CASES = {
    "hugging_face_phi": (
        "Hugging Face Phi", phi, {}, IDS, CONFIG, {}, {"hidden_act": "mish"},
        "model.layers.1.self_attn.dense.bias", "model.layers.0.post_attention_layernorm.weight",
    ),
    "hugging_face_phi_head_norms": (
        "Hugging Face Phi", phi, dict(key_heads=2, part=0.75, head_norms=True), IDS,
        {**CONFIG, "num_key_value_heads": 2, "qk_layernorm": True, "rope_theta": None, "partial_rotary_factor": None,
         "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default", "partial_rotary_factor": 0.75}},
        {}, {"rope_parameters": {"partial_rotary_factor": "half"}}, "model.layers.1.self_attn.q_layernorm.weight", "model.layers.0.mlp.fc3.weight",
    ),
    "hugging_face_phi3": (
        "Hugging Face Phi-3", phi3, dict(window=6), IDS, PHI3, {},
        {"rope_scaling": {"type": "yarn", "short_factor": SHORT, "long_factor": LONG}},
        "model.layers.1.mlp.gate_up_proj.weight", "model.layers.0.self_attn.q_proj.weight",
    ),
    "hugging_face_phi3_longrope": (
        "Hugging Face Phi-3", phi3,
        dict(part=0.75, factors=LONG, amplitude=math.sqrt(1 + math.log(64 / 16) / math.log(16))), IDS,
        {**PHI3, "original_max_position_embeddings": 16, "partial_rotary_factor": 0.75, "sliding_window": None,
         "rope_scaling": {"type": "su", "short_factor": SHORT, "long_factor": LONG}},
        {}, {"hidden_act": "mish"}, "model.layers.0.self_attn.qkv_proj.weight", "model.layers.0.self_attn.q_norm.weight",
    ),
}
