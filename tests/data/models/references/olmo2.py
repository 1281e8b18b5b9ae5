"""OLMo 2 and 3 in Hugging Face's names: norms of what each part gives, and of all queries and all keys; in OLMo 3
windows in some layers, and scaled rotary positions only in the others.

From huggingface/transformers, models/olmo2/modular_olmo2.py, and models/olmo3/modular_olmo3.py of version 4.57, whose
sliding layers have unscaled positions like those of its authors' OLMo-core.
"""

import math

import torch


from make_families import ACTIVATIONS, IDS, heads_of
from references.llama import CONFIG as LLAMA
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, turn_halves


def yarn(width, theta, factor, context, fast, slow):
    frequencies = rotary(width, theta)
    place = lambda turns: width * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low, high = max(math.floor(place(fast)), 0), min(math.ceil(place(slow)), width - 1)
    ramp = ((torch.arange(width // 2).double() - low) / (high - low)).clamp(0, 1)
    return frequencies / factor * ramp + frequencies * (1 - ramp)


def olmo2(w, ids, maps, *, width=32, heads=4, key_heads=2, hidden=48, layers=2, vocabulary=29, theta=500000.0, eps=1e-5,
          window=5, slides=(), scaling=None):
    """`slides` has the layers with a window; `scaling` is the factor of yarn, its context, its turns and the amplitude
    of the other layers."""
    x = w("model.embed_tokens.weight", vocabulary, width)[ids]
    each = width // heads
    for i in range(layers):
        l = f"model.layers.{i}."
        *stretch, amplitude = (1.0,) if scaling is None or i in slides else scaling
        angles = angles_of(len(ids), yarn(each, theta, *stretch) if stretch else rotary(each, theta))
        q = rms(w, w.linear(x, l + "self_attn.q_proj", heads * each, bias=False), l + "self_attn.q_norm", eps)
        k = rms(w, w.linear(x, l + "self_attn.k_proj", key_heads * each, bias=False), l + "self_attn.k_norm", eps)
        v = w.linear(x, l + "self_attn.v_proj", key_heads * each, bias=False)
        q, k = (turn_halves(heads_of(part, count), angles, amplitude) for part, count in ((q, heads), (k, key_heads)))
        hidden_keys = causal_mask(len(ids), window if i in slides else None)
        h = attend_terms(q, k, heads_of(v, key_heads), maps, each**-0.5, hidden_keys)
        h = w.linear(h, l + "self_attn.o_proj", width, bias=False)
        x = x + rms(w, h, l + "post_attention_layernorm", eps)
        gate = ACTIVATIONS["silu"](w.linear(x, l + "mlp.gate_proj", hidden, bias=False))
        h = gate * w.linear(x, l + "mlp.up_proj", hidden, bias=False)
        x = x + rms(w, w.linear(h, l + "mlp.down_proj", width, bias=False), l + "post_feedforward_layernorm", eps)
    return w.linear(rms(w, x, "model.norm", eps), "lm_head", vocabulary, bias=False)


CONFIG = {
    **{key: value for key, value in LLAMA.items() if key not in ("mlp_bias", "pretraining_tp")},
    "architectures": ["Olmo2ForCausalLM"],
    "model_type": "olmo2",
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000,
}

SLIDES, FULL = "sliding_attention", "full_attention"
YARN = {"attention_factor": 1.25, "beta_fast": 8.0, "beta_slow": 0.5, "factor": 4.0, "original_max_position_embeddings": 16,
        "rope_type": "yarn"}
OLMO3 = {
    **CONFIG,
    "architectures": ["Olmo3ForCausalLM"],
    "layer_types": [SLIDES, SLIDES, FULL, SLIDES],
    "model_type": "olmo3",
    "num_hidden_layers": 4,
    "rope_scaling": YARN,
    "sliding_window": 5,
}

CASES = {
    "hugging_face_olmo3": (
        "Hugging Face OLMo 3", olmo2, dict(layers=4, slides=(0, 1, 3), scaling=(4.0, 16, 8.0, 0.5, 1.25)), IDS, OLMO3, {},
        {"layer_types": [SLIDES, SLIDES, "chunked_attention", SLIDES]},
        "model.layers.3.self_attn.k_norm.weight", "model.layers.0.input_layernorm.weight",
    ),
    "hugging_face_olmo3_by_default": (
        "Hugging Face OLMo 3", olmo2,
        dict(layers=5, key_heads=4, theta=1000.0, window=4, slides=(0, 1, 2, 4), scaling=(4.0, 16, 8.0, 0.5, 1.25)), IDS,
        {**{key: value for key, value in OLMO3.items() if not key.startswith("rope_") and key != "layer_types"},
         "num_hidden_layers": 5, "num_key_value_heads": 4, "rope_parameters": {**YARN, "rope_theta": 1000.0},
         "sliding_window": 4},
        {}, {"rope_parameters": {"partial_rotary_factor": 0.5}}, "model.layers.4.post_feedforward_layernorm.weight",
        "model.layers.2.self_attn.sinks",
    ),
    "hugging_face_olmo2": (
        "Hugging Face OLMo 2", olmo2, {}, IDS, CONFIG, {}, {"clip_qkv": 8.0},
        "model.layers.1.post_feedforward_layernorm.weight", "model.layers.0.input_layernorm.weight",
    ),
}
