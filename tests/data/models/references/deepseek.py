"""DeepSeek-V2 and -V3: multi-head latent attention, with the latents of queries or without them, and mixtures of experts
with an MLP for all tokens, whose routers choose within groups of experts; FP8 weights with a factor for 128 × 128.

From huggingface/transformers, models/deepseek_v2 and deepseek_v3, and the authors' modeling_deepseek.py, which scales
scores by the square of YaRN's factor in V2, too. Every token's experts are computed one token at a time.
"""

import math

import numpy as np
import torch

from make_families import ACTIVATIONS, IDS
from references.llama import CONFIG
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, yarn, yarn_factor


def turn_pairs(x, angles, amplitude):
    """x [.., N, r]: channels 2i and 2i + 1 turned together, as complex numbers."""
    turns = torch.polar(torch.full_like(angles, amplitude), angles)
    return torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous()) * turns).flatten(-2)


def turn_halves(x, angles, amplitude):
    a, b = x.chunk(2, -1)
    cos, sin = amplitude * angles.cos(), amplitude * angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def float8(bytes):
    """E4M3: a sign, 4 bits of exponent and 3 of fraction."""
    sign, exponent, fraction = 1 - 2 * (bytes // 128), bytes // 8 % 16, bytes % 8
    normal = (1 + fraction / 8) * 2.0 ** (exponent - 7)
    return sign * torch.where(exponent == 0, fraction / 8 * 2.0**-6, normal).double()


def matrix(w, name, rows, columns, quantised):
    if not quantised:
        return w(name + ".weight", rows, columns)
    values = float8(w.bytes(name + ".weight", rows, columns))
    factors = w(name + ".weight_scale_inv", -(-rows // 128), -(-columns // 128))
    return values * factors.repeat_interleave(128, 0)[:rows].repeat_interleave(128, 1)[:, :columns]


def gated(w, x, prefix, hidden, quantised):
    gate, up = (x @ matrix(w, f"{prefix}{part}_proj", hidden, x.shape[-1], quantised).T for part in ("gate", "up"))
    return (ACTIVATIONS["silu"](gate) * up) @ matrix(w, prefix + "down_proj", x.shape[-1], hidden, quantised).T


def route(w, logits, prefix, active, groups, active_groups, corrected, sums_to_one, scale):
    """Numbers and weights of each token's experts [N, k], by falling weight."""
    scores = logits.sigmoid() if corrected else logits.softmax(-1)
    ranked = scores + w(prefix + "gate.e_score_correction_bias", logits.shape[-1]) if corrected else scores
    gaps = []
    if groups > 1:
        by_group = ranked.unflatten(-1, (groups, -1))
        of_groups = by_group.topk(2, -1).values.sum(-1) if corrected else by_group.max(-1).values
        falling = of_groups.sort(-1, descending=True).values
        gaps.append(falling[:, active_groups - 1] - falling[:, active_groups])
        best = of_groups.topk(active_groups, -1).indices
        hidden = torch.ones_like(of_groups).scatter(1, best, 0).bool()
        ranked = by_group.masked_fill(hidden[..., None], -math.inf).flatten(1)
    falling = ranked.sort(-1, descending=True).values
    gaps.append(falling[:, active - 1] - falling[:, active])
    assert min(gap.min() for gap in gaps) > 1e-4  # rounding must not change the choice
    chosen = ranked.topk(active, -1).indices
    weights = scores.gather(1, chosen)
    weights, order = weights.sort(-1, descending=True)
    if sums_to_one:
        weights = weights / weights.sum(-1, keepdim=True)
    return chosen.gather(1, order), weights * scale


def mixture(w, x, prefix, layer, count, hidden, shared, stacked, quantised, **routing):
    chosen, weights = route(w, w.linear(x, prefix + "gate", count, bias=False), prefix, **routing)
    w.kept[f"experts_{layer}"] = chosen.numpy().astype(np.float32)
    w.kept[f"expert_weights_{layer}"] = weights.numpy().astype(np.float32)
    width = x.shape[-1]
    if stacked:
        both = w(prefix + "experts.gate_up_proj", count, 2 * hidden, width)
        down = w(prefix + "experts.down_proj", count, width, hidden)
    else:
        parts = [[matrix(w, f"{prefix}experts.{e}.{part}_proj", *shape, quantised)
                  for part, shape in (("gate", (hidden, width)), ("up", (hidden, width)), ("down", (width, hidden)))]
                 for e in range(count)]
        both = torch.stack([torch.cat([gate, up]) for gate, up, _ in parts])
        down = torch.stack([last for _, _, last in parts])
    rows = []
    for token, numbers, shares in zip(x, chosen, weights):
        row = 0
        for e, share in zip(numbers, shares):
            gate, up = (both[e] @ token).chunk(2)
            row = row + share * (down[e] @ (ACTIVATIONS["silu"](gate) * up))
        rows.append(row)
    return torch.stack(rows) + gated(w, x, prefix + "shared_experts.", shared, quantised)


def deepseek(w, ids, maps, *, width=32, heads=4, latent=20, query_latent=None, nope=10, rope=6, value=7, hidden=36,
             first=1, layers=3, vocabulary=29, theta=10000.0, eps=1e-5, scaling=None, mscale=0.0, mscale_all=0.0,
             turn=turn_pairs, biases=False, quantised=False, further=0, count=6, expert_hidden=12, shared=24, active=3,
             groups=1, active_groups=1, corrected=False, sums_to_one=False, scale=1.0, stacked=False):
    x = w("model.embed_tokens.weight", vocabulary, width)[ids]
    frequencies, amplitude = (rotary(rope, theta), 1.0) if scaling is None else yarn(rope, theta, **scaling)
    factor = (nope + rope) ** -0.5
    if mscale_all:
        amplitude = yarn_factor(scaling["factor"], mscale) / yarn_factor(scaling["factor"], mscale_all)
        factor *= yarn_factor(scaling["factor"], mscale_all) ** 2
    angles = angles_of(len(ids), frequencies)

    def narrow(h, name, outputs):
        y = h @ matrix(w, name, outputs, width, quantised).T
        return y + w(name + ".bias", outputs) if biases else y

    def attention(h, l):
        if query_latent is None:
            q = h @ matrix(w, l + "q_proj", heads * (nope + rope), width, quantised).T
        else:
            c = rms(w, narrow(h, l + "q_a_proj", query_latent), l + "q_a_layernorm", 1e-6)
            q = c @ matrix(w, l + "q_b_proj", heads * (nope + rope), query_latent, quantised).T
        q_nope, q_rope = q.unflatten(-1, (heads, -1)).transpose(0, 1).split([nope, rope], -1)
        c, k_rope = narrow(h, l + "kv_a_proj_with_mqa", latent + rope).split([latent, rope], -1)
        c = rms(w, c, l + "kv_a_layernorm", 1e-6)
        both = c @ matrix(w, l + "kv_b_proj", heads * (nope + value), latent, quantised).T
        k_nope, v = both.unflatten(-1, (heads, -1)).transpose(0, 1).split([nope, value], -1)
        k_rope = turn(k_rope, angles, amplitude).expand(heads, -1, -1)
        q = torch.cat([q_nope, turn(q_rope, angles, amplitude)], -1)
        h = attend_terms(q, torch.cat([k_nope, k_rope], -1), v, maps, factor, causal_mask(len(ids)))
        y = h @ matrix(w, l + "o_proj", width, heads * value, quantised).T
        return y + w(l + "o_proj.bias", width) if biases else y

    for i in range(layers + further):
        l = f"model.layers.{i}."
        if i == layers:
            last = x
            for part in ("enorm", "hnorm", "shared_head.norm"):
                w(f"{l}{part}.weight", width)
            w(l + "eh_proj.weight", width, 2 * width)
        x = x + attention(rms(w, x, l + "input_layernorm", eps), l + "self_attn.")
        h = rms(w, x, l + "post_attention_layernorm", eps)
        x = x + (gated(w, h, l + "mlp.", hidden, quantised) if i < first else
                 mixture(w, h, l + "mlp.", i, count, expert_hidden, shared, stacked, quantised, active=active,
                         groups=groups, active_groups=active_groups, corrected=corrected, sums_to_one=sums_to_one,
                         scale=scale))
    if further:  # these layers predict further tokens and are no part of the model
        x, maps[:] = last, maps[:layers]
        del w.kept[f"experts_{layers}"], w.kept[f"expert_weights_{layers}"]
    return w.linear(rms(w, x, "model.norm", eps), "lm_head", vocabulary, bias=False)


V2_LITE = {
    **{key: value for key, value in CONFIG.items() if key != "mlp_bias"},
    "architectures": ["DeepseekV2ForCausalLM"],
    "aux_loss_alpha": 0.001,
    "first_k_dense_replace": 1,
    "intermediate_size": 36,
    "kv_lora_rank": 20,
    "model_type": "deepseek_v2",
    "moe_intermediate_size": 12,
    "moe_layer_freq": 1,
    "n_group": 1,
    "n_routed_experts": 6,
    "n_shared_experts": 2,
    "norm_topk_prob": False,
    "num_experts_per_tok": 3,
    "num_hidden_layers": 3,
    "num_key_value_heads": 4,
    "q_lora_rank": None,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 6,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707,
                     "original_max_position_embeddings": 16, "type": "yarn"},
    "routed_scaling_factor": 1.0,
    "scoring_func": "softmax",
    "seq_aux": True,
    "topk_group": 1,
    "topk_method": "greedy",
    "v_head_dim": 7,
}
V2 = {**V2_LITE, "attention_bias": True, "n_group": 4, "n_routed_experts": 8, "num_hidden_layers": 2, "q_lora_rank": 14,
      "rope_scaling": None, "routed_scaling_factor": 2.5, "topk_group": 2, "topk_method": "group_limited_greedy"}
V3 = {
    **{key: value for key, value in V2.items() if key not in ("aux_loss_alpha", "seq_aux")},
    "architectures": ["DeepseekV3ForCausalLM"],
    "attention_bias": False,
    "ep_size": 1,
    "intermediate_size": 144,
    "model_type": "deepseek_v3",
    "n_routed_experts": 12,
    "norm_topk_prob": True,
    "num_nextn_predict_layers": 1,
    "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
                            "weight_block_size": [128, 128]},
    "rope_scaling": {**V2_LITE["rope_scaling"], "mscale": 1.0, "mscale_all_dim": 0.5},
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
}
V3_PLAIN = {**{key: value for key, value in V3.items()
               if key not in ("first_k_dense_replace", "num_nextn_predict_layers", "quantization_config", "topk_method",
                              "scoring_func")},
            "first_k_dense_replace": 0, "n_group": 1, "topk_group": 1, "rope_interleave": False, "q_lora_rank": None,
            "rope_scaling": None, "rope_theta": 500.0, "norm_topk_prob": False, "intermediate_size": 36}

CASES = {
    "hugging_face_deepseek_v2_lite": (
        "Hugging Face DeepSeek-V2", deepseek,
        dict(scaling=dict(factor=40.0, context=16), mscale=0.707, mscale_all=0.707), IDS, V2_LITE, {},
        {"norm_topk_prob": True}, "model.layers.1.self_attn.kv_a_layernorm.weight",
        "model.layers.1.mlp.gate.e_score_correction_bias",
    ),
    "hugging_face_deepseek_v2": (
        "Hugging Face DeepSeek-V2", deepseek,
        dict(query_latent=14, biases=True, count=8, groups=4, active_groups=2, scale=2.5, layers=2, stacked=True), IDS,
        V2, {}, {"topk_method": "noaux_tc"}, "model.layers.0.self_attn.q_a_layernorm.weight",
        "model.layers.0.self_attn.q_proj.weight",
    ),
    "hugging_face_deepseek_v3": (
        "Hugging Face DeepSeek-V3", deepseek,
        dict(query_latent=14, hidden=144, count=12, groups=4, active_groups=2, corrected=True, sums_to_one=True,
             scale=2.5, layers=2, further=1, quantised=True, scaling=dict(factor=40.0, context=16), mscale=1.0,
             mscale_all=0.5),
        IDS, V3, {}, {"quantization_config": {"weight_block_size": [64, 64]}},
        "model.layers.0.mlp.up_proj.weight_scale_inv", "model.layers.1.mlp.shared_experts.input_scale",
    ),
    "hugging_face_deepseek_v3_plain": (
        "Hugging Face DeepSeek-V3", deepseek,
        dict(first=0, count=12, corrected=True, scale=2.5, layers=2, turn=turn_halves, theta=500.0), IDS, V3_PLAIN, {},
        {"topk_method": "greedy"}, "model.layers.0.mlp.gate.e_score_correction_bias",
        "model.layers.0.mlp.shared_expert_gate.weight",
    ),
}
