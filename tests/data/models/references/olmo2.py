"""OLMo 2 in Hugging Face's names: norms of what each part gives, and of all queries and all keys.

From huggingface/transformers, models/olmo2/modular_olmo2.py.
"""

from make_families import ACTIVATIONS, IDS, heads_of
from references.llama import CONFIG as LLAMA
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, turn_halves


def olmo2(w, ids, maps, *, width=32, heads=4, key_heads=2, hidden=48, layers=2, vocabulary=29, theta=500000.0, eps=1e-5):
    x = w("model.embed_tokens.weight", vocabulary, width)[ids]
    each = width // heads
    angles = angles_of(len(ids), rotary(each, theta))
    for i in range(layers):
        l = f"model.layers.{i}."
        q = rms(w, w.linear(x, l + "self_attn.q_proj", heads * each, bias=False), l + "self_attn.q_norm", eps)
        k = rms(w, w.linear(x, l + "self_attn.k_proj", key_heads * each, bias=False), l + "self_attn.k_norm", eps)
        v = w.linear(x, l + "self_attn.v_proj", key_heads * each, bias=False)
        q, k = turn_halves(heads_of(q, heads), angles), turn_halves(heads_of(k, key_heads), angles)
        h = attend_terms(q, k, heads_of(v, key_heads), maps, each**-0.5, causal_mask(len(ids)))
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

CASES = {
    "hugging_face_olmo2": (
        "Hugging Face OLMo 2", olmo2, {}, IDS, CONFIG, {}, {"clip_qkv": 8.0},
        "model.layers.1.post_feedforward_layernorm.weight", "model.layers.0.input_layernorm.weight",
    ),
}
