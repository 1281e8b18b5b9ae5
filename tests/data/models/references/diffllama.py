"""DiffLlama: differential attention of Llama's heads in pairs, with grouped keys, whose values are as wide as two
heads; the RMS of each pair's output times 1 − λ₀.

From huggingface/transformers, models/diffllama.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.llama import CONFIG
from references.parts import angles_of, causal_mask, rms, rotary, turn_halves


def diffllama(w, ids, maps, *, width=32, heads=4, key_heads=2, head_width=8, hidden=48, layers=2, vocabulary=29,
              theta=10000.0, eps=1e-5, tied=False, biases=False):
    table = w("model.embed_tokens.weight", vocabulary, width)
    x = table[ids]
    angles = angles_of(len(ids), rotary(head_width, theta))
    hidden_keys = causal_mask(len(ids))
    for i in range(layers):
        l = f"model.layers.{i}."
        h = rms(w, x, l + "input_layernorm", eps)
        q, k, v = (
            heads_of(w.linear(h, f"{l}self_attn.{part}_proj", count * head_width, bias=biases), count)
            for part, count in (("q", heads), ("k", key_heads), ("v", key_heads))
        )
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        k, v = (part.repeat_interleave(heads // key_heads, 0) for part in (k, v))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(head_width)).masked_fill(hidden_keys, -math.inf)
        first, second = scores.softmax(-1).chunk(2)
        a1, b1, a2, b2 = (w(l + "self_attn.lambda_" + name, head_width) for name in ("q1", "k1", "q2", "k2"))
        first_factor = 0.8 - 0.6 * math.exp(-0.3 * i)
        factor = torch.exp(a1 @ b1) - torch.exp(a2 @ b2) + first_factor
        maps.append(first - factor * second)
        h = maps[-1] @ torch.cat(v.chunk(2), -1)
        h = (1 - first_factor) * h / (h.square().mean(-1, keepdim=True) + eps).sqrt()
        x = x + w.linear(h.transpose(0, 1).flatten(1), l + "self_attn.o_proj", width, bias=biases)
        h = rms(w, x, l + "post_attention_layernorm", eps)
        gate = ACTIVATIONS["silu"](w.linear(h, l + "mlp.gate_proj", hidden, bias=False))
        x = x + w.linear(gate * w.linear(h, l + "mlp.up_proj", hidden, bias=False), l + "mlp.down_proj", width, bias=False)
    x = rms(w, x, "model.norm", eps)
    return x @ table.T if tied else w.linear(x, "lm_head", vocabulary, bias=False)


DIFFLLAMA = {
    **{key: value for key, value in CONFIG.items() if key not in ("mlp_bias", "pretraining_tp")},
    "architectures": ["DiffLlamaForCausalLM"],
    "head_dim": None,
    "lambda_std_dev": 0.1,
    "model_type": "diffllama",
    "rms_norm_eps": 1e-05,
}

CASES = {
    "hugging_face_diffllama": (
        "Hugging Face DiffLlama", diffllama, {}, IDS, DIFFLLAMA, {}, {"num_key_value_heads": 1},
        "model.layers.1.self_attn.lambda_k2", "model.layers.0.self_attn.subln.weight",
    ),
    "hugging_face_diffllama_wide": (
        "Hugging Face DiffLlama", diffllama,
        dict(heads=6, key_heads=6, head_width=4, theta=500.0, eps=1e-4, tied=True, biases=True), IDS,
        {**DIFFLLAMA, "attention_bias": True, "head_dim": 4, "num_attention_heads": 6, "num_key_value_heads": 6,
         "rms_norm_eps": 1e-4, "rope_theta": 500.0, "tie_word_embeddings": True},
        {}, {"hidden_act": "mish"}, "model.layers.0.self_attn.q_proj.bias", "model.layers.1.self_attn.q_norm.weight",
    ),
}
