"""gpt-oss: softmax with a sink logit a head, windows in even layers, YaRN between fractional pairs, and experts with
biases, whose gates and hidden layers alternate and are clipped; their weights in one tensor each, or as MXFP4.

From huggingface/transformers, models/gpt_oss, modeling_rope_utils.py, and integrations/mxfp4.py for the numbers of
4 bits. Every token's experts are computed one token at a time.
"""

import math

import numpy as np
import torch

from make_families import IDS, heads_of
from references.mixtures import route
from references.parts import angles_of, causal_mask, rms, turn_halves, yarn

VALUES_OF_4_BITS = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)


def packed(w, name, experts, rows, columns):
    """The weights [E, rows, columns] of MXFP4: blocks of 32 numbers of 4 bits, each with a power of 2."""
    pairs = w.bytes(name + "_blocks", experts, rows, columns // 32, 16)
    powers = w.bytes(name + "_scales", experts, rows, columns // 32)
    codes = torch.stack([pairs % 16, pairs // 16], -1).flatten(-2)
    numbers = VALUES_OF_4_BITS[codes % 8] * (1 - 2 * (codes // 8))
    return (numbers * 2.0 ** (powers[..., None] - 127).double()).flatten(-2)


def experts(w, x, prefix, layer, count, active, hidden, quantised):
    width, limit = x.shape[-1], 7.0
    logits = w.linear(x, prefix + "router", count)
    chosen, weights = route(logits, active, True)
    # The softmax of the chosen logits is that of all, divided by the sum of the chosen.
    assert torch.allclose(weights, logits.gather(-1, chosen).softmax(-1))
    p = prefix + "experts."
    if quantised:
        both = packed(w, p + "gate_up_proj", count, 2 * hidden, width)
        down = packed(w, p + "down_proj", count, width, hidden)
    else:
        both = w(p + "gate_up_proj", count, width, 2 * hidden).transpose(1, 2)
        down = w(p + "down_proj", count, hidden, width).transpose(1, 2)
    both_bias, down_bias = w(p + "gate_up_proj_bias", count, 2 * hidden), w(p + "down_proj_bias", count, width)
    w.kept[f"experts_{layer}"] = chosen.numpy().astype(np.float32)
    w.kept[f"expert_weights_{layer}"] = weights.numpy().astype(np.float32)
    rows, clipped = [], 0
    for token, numbers, shares in zip(x, chosen, weights):
        row = 0
        for e, share in zip(numbers, shares):
            values = both[e] @ token + both_bias[e]
            gate, up = values[0::2], values[1::2]
            clipped += (gate > limit).sum() + (up.abs() > limit).sum()
            gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
            row = row + share * (down[e] @ ((up + 1) * gate * torch.sigmoid(1.702 * gate)) + down_bias[e])
        rows.append(row)
    assert clipped > 0
    return torch.stack(rows)


def gpt_oss(w, ids, maps, *, width=64, heads=4, key_heads=2, head_width=24, hidden=32, layers=3, vocabulary=29,
            count=5, active=2, window=6, theta=150000.0, eps=1e-5, quantised=False, slides=lambda i: i % 2 == 0,
            scaling=dict(factor=32.0, context=8, whole=False)):
    x = w("model.embed_tokens.weight", vocabulary, width)[ids]
    frequencies, amplitude = yarn(head_width, theta, **scaling)
    angles = angles_of(len(ids), frequencies)
    for i in range(layers):
        l = f"model.layers.{i}."
        h = rms(w, x, l + "input_layernorm", eps)
        q, k, v = (
            heads_of(w.linear(h, f"{l}self_attn.{part}_proj", n * head_width), n)
            for part, n in (("q", heads), ("k", key_heads), ("v", key_heads))
        )
        q, k = turn_halves(q, angles, amplitude), turn_halves(k, angles, amplitude)
        k, v = (part.repeat_interleave(heads // key_heads, 0) for part in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(head_width)
        scores = scores.masked_fill(causal_mask(len(ids), window if slides(i) else None), -math.inf)
        sinks = w(l + "self_attn.sinks", heads)[:, None, None].expand(-1, len(ids), 1)
        maps.append(torch.cat([scores, sinks], -1).softmax(-1)[..., :-1])
        h = (maps[-1] @ v).transpose(0, 1).flatten(1)
        x = x + w.linear(h, l + "self_attn.o_proj", width)
        h = rms(w, x, l + "post_attention_layernorm", eps)
        x = x + experts(w, h, l + "mlp.", i, count, active, hidden, quantised)
    return w.linear(rms(w, x, "model.norm", eps), "lm_head", vocabulary, bias=False)


GPT_OSS = {
    "architectures": ["GptOssForCausalLM"],
    "attention_bias": True,
    "attention_dropout": 0.0,
    "eos_token_id": 2,
    "experts_per_token": 2,
    "head_dim": 24,
    "hidden_act": "silu",
    "hidden_size": 64,
    "initial_context_length": 8,
    "initializer_range": 0.02,
    "intermediate_size": 32,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "max_position_embeddings": 256,
    "model_type": "gpt_oss",
    "num_attention_heads": 4,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "num_local_experts": 5,
    "output_router_logits": False,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 8,
                     "rope_type": "yarn", "truncate": False},
    "rope_theta": 150000,
    "router_aux_loss_coef": 0.9,
    "sliding_window": 6,
    "swiglu_limit": 7.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.55.0",
    "use_cache": True,
    "vocab_size": 29,
}
MXFP4 = {"quantization_config": {"modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"],
                                 "quant_method": "mxfp4"}}

CASES = {
    "hugging_face_gpt_oss": (
        "Hugging Face gpt-oss", gpt_oss, {}, IDS, GPT_OSS, {}, {"swiglu_limit": 6.0}, "model.layers.2.self_attn.sinks",
        "model.layers.0.mlp.experts.gate_up_proj_scales",
    ),
    "hugging_face_gpt_oss_mxfp4": (
        "Hugging Face gpt-oss", gpt_oss,
        dict(quantised=True, eps=1e-4, count=4, active=3, slides=lambda i: i == 2,
             scaling=dict(factor=4.0, context=64, fast=4.0, slow=0.5, whole=True)),
        IDS,
        {**GPT_OSS, **MXFP4, "rms_norm_eps": 1e-4, "num_local_experts": 4, "num_experts_per_tok": 3,
         "layer_types": ["full_attention", "full_attention", "sliding_attention"],
         "rope_scaling": {**GPT_OSS["rope_scaling"], "beta_fast": 4.0, "beta_slow": 0.5, "factor": 4.0,
                          "original_max_position_embeddings": 64, "truncate": True}},
        {}, {"quantization_config": {"quant_method": "bitsandbytes"}},
        "model.layers.1.mlp.experts.down_proj_scales", "model.layers.0.mlp.experts.gate_up_proj_shift",
    ),
    "hugging_face_gpt_oss_without_config": (
        "Hugging Face gpt-oss", gpt_oss,
        dict(head_width=64, heads=2, key_heads=1, active=4, window=128, scaling=dict(factor=32.0, context=4096, whole=False)), IDS, None,
        {}, None, "model.layers.1.mlp.router.bias", "model.layers.0.self_attn.lora_A.weight",
    ),
}
