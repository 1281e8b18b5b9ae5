"""Language models with recurrent attention: Qwen3.5's text model, whose gated delta rule and gated softmax attention
alternate, Qwen3-Next, which has a mixture of experts as well, flash-linear-attention's GLA and RetNet, and Mamba-2.

From huggingface/transformers, models/qwen3_5, models/qwen3_next and models/mamba2; fla-org/flash-linear-attention,
fla/layers/gla.py, fla/layers/multiscale_retention.py and fla/ops. Maps are the outputs of the recurrences for values that are 1 at one
token and 0 at all others.
"""

import math

import torch
import torch.nn.functional as F

from make_families import IDS, heads_of
from references.mixtures import QWEN_NAMES, STACKED_NAMES, experts
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary, turn_halves


def short_convolution(w, x, name, taps):
    """x [N, C] → silu of the causal convolution of each channel."""
    kernels = w(name + ".weight", x.shape[1], 1, taps)
    return F.silu(F.conv1d(F.pad(x.T[None], (taps - 1, 0)), kernels, groups=x.shape[1])[0].T)


def recurrence(q, k, log_decay, beta=None):
    """The map [N, N] of one head, token by token: S ← α S + k u, u the token's unit value, or with β the delta rule."""
    tokens = len(q)
    state, rows = torch.zeros(q.shape[1], tokens).double(), []
    for t in range(tokens):
        state = state * log_decay[t].exp().reshape(-1, 1)
        value = F.one_hot(torch.tensor(t), tokens).double()
        if beta is not None:
            value = beta[t] * (value - state.T @ k[t])
        state = state + torch.outer(k[t], value)
        rows.append(state.T @ q[t])
    return torch.stack(rows)


def unit(x):
    return x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt()


def gated_norm(w, h, gate, name, eps):
    """h [H, N, dv], gate [N, H·dv] → [N, H·dv]: the RMS norm of each head, times silu."""
    return rms(w, h, name, eps).transpose(0, 1).flatten(1) * F.silu(gate)


def projections_apart(w, h, l, heads, key_heads, width, value_width):
    keys, values = key_heads * width, heads * value_width
    return (w.linear(h, l + "in_proj_" + name, count, bias=False)
            for name, count in (("qkv", 2 * keys + values), ("z", values), ("b", heads), ("a", heads)))


def projections_in_groups(w, h, l, heads, key_heads, width, value_width):
    share = heads // key_heads
    rows = w.linear(h, l + "in_proj_qkvz", 2 * key_heads * width + 2 * heads * value_width, bias=False)
    sizes = [width, width, share * value_width, share * value_width]
    q, k, v, gate = (part.flatten(1) for part in rows.unflatten(-1, (key_heads, -1)).split(sizes, -1))
    rows = w.linear(h, l + "in_proj_ba", 2 * heads, bias=False).unflatten(-1, (key_heads, -1))
    return torch.cat([q, k, v], -1), gate, *(part.flatten(1) for part in rows.chunk(2, -1))


def delta_net(w, h, l, maps, heads, key_heads, width, value_width, taps, eps, projections):
    keys, values = key_heads * width, heads * value_width
    mixed, gate, b, a = projections(w, h, l, heads, key_heads, width, value_width)
    beta = b.sigmoid()
    step = F.softplus(a + w(l + "dt_bias", heads))
    decay = -w(l + "A_log", heads).exp() * step
    q, k, v = short_convolution(w, mixed, l + "conv1d", taps).split([keys, keys, values], -1)
    q, k = (unit(heads_of(x, key_heads)).repeat_interleave(heads // key_heads, 0) for x in (q, k))
    maps.append(torch.stack([recurrence(q[i] * width**-0.5, k[i], decay[:, i], beta[:, i]) for i in range(heads)]))
    return gated_norm(w, maps[-1] @ heads_of(v, heads), gate, l + "norm", eps)


def gated_softmax(w, h, l, maps, heads, key_heads, width, angles, eps):
    both = w.linear(h, l + "q_proj", 2 * heads * width, bias=False).unflatten(-1, (heads, 2 * width))
    q, gate = both[..., :width].transpose(0, 1), both[..., width:].flatten(1)
    k = heads_of(w.linear(h, l + "k_proj", key_heads * width, bias=False), key_heads)
    v = heads_of(w.linear(h, l + "v_proj", key_heads * width, bias=False), key_heads)
    q = turn_halves(rms(w, q, l + "q_norm", eps, plus_one=True), angles)
    k = turn_halves(rms(w, k, l + "k_norm", eps, plus_one=True), angles)
    return attend_terms(q, k, v, maps, width**-0.5, causal_mask(len(h))) * gate.sigmoid()


def gated_mlp(w, x, l, hidden):
    h = F.silu(w.linear(x, l + "gate_proj", hidden, bias=False)) * w.linear(x, l + "up_proj", hidden, bias=False)
    return w.linear(h, l + "down_proj", x.shape[-1], bias=False)


def qwen3_5(w, ids, maps, *, types, width=32, heads=4, key_heads=2, head_width=12, turned=6, linear=(4, 2, 8, 6),
            taps=4, hidden=48, vocabulary=29, theta=1e4, eps=1e-6, tied=False, projections=projections_apart,
            feed_forward=None, predicts_later=False):
    if predicts_later:  # layers for later tokens, which are not run
        w("mtp.fc.weight", width, 2 * width)
        w("mtp.layers.0.input_layernorm.weight", width)
    table = w("model.embed_tokens.weight", vocabulary, width)
    x = table[ids]
    angles = angles_of(len(ids), rotary(turned, theta))
    for i, kind in enumerate(types):
        l = f"model.layers.{i}."
        h = rms(w, x, l + "input_layernorm", eps, plus_one=True)
        if kind == "linear_attention":
            h = delta_net(w, h, l + "linear_attn.", maps, *linear, taps, eps, projections)
            x = x + w.linear(h, l + "linear_attn.out_proj", width, bias=False)
        else:
            h = gated_softmax(w, h, l + "self_attn.", maps, heads, key_heads, head_width, angles, eps)
            x = x + w.linear(h, l + "self_attn.o_proj", width, bias=False)
        h = rms(w, x, l + "post_attention_layernorm", eps, plus_one=True)
        x = x + (feed_forward(w, h, l, i, None, "silu") if feed_forward else gated_mlp(w, h, l + "mlp.", hidden))
    x = rms(w, x, "model.norm", eps, plus_one=True)
    return x @ table.T if tied else w.linear(x, "lm_head", vocabulary, bias=False)


def fla(w, ids, maps, *, kind, width=32, heads=4, keys=16, values=32, hidden=48, layers=2, vocabulary=29, eps=1e-6,
        taps=0, affine=True, norm="g_norm_swish_gate", low_rank=16, tied=False):
    table = w("model.embeddings.weight", vocabulary, width)
    x = table[ids]
    for i in range(layers):
        l = f"model.layers.{i}.attn."
        h = rms(w, x, f"model.layers.{i}.attn_norm", eps)
        q, k, v = (w.linear(h, f"{l}{part}_proj", count, bias=False)
                   for part, count in (("q", keys), ("k", keys), ("v", values)))
        if taps:
            q, k, v = (short_convolution(w, part, f"{l}{name}_conv1d", taps) for part, name in ((q, "q"), (k, "k"), (v, "v")))
        q, k = heads_of(q, heads), heads_of(k, heads)
        if kind == "gla":
            decay = w.linear(w.linear(h, l + "gk_proj.0", low_rank, bias=False), l + "gk_proj.1", keys)
            decay = heads_of(F.logsigmoid(decay) / 16, heads)
        else:
            angles = angles_of(len(ids), rotary(keys // heads, 1e4))
            q, k = turn_halves(q, angles), turn_halves(k, angles)
            decay = torch.log(1 - 2.0 ** (-5 - torch.arange(heads).double()))[:, None].expand(heads, len(ids))
        scale = (keys // heads) ** -0.5
        maps.append(torch.stack([recurrence(q[j] * scale, k[j], decay[j]) for j in range(heads)]))
        h2 = maps[-1] @ heads_of(v, heads)
        gate = w.linear(h, l + "g_proj", values, bias=False)
        if affine:
            h2 = gated_norm(w, h2, gate, l + norm, eps)
        else:
            h2 = h2 / (h2.square().mean(-1, keepdim=True) + eps).sqrt()
            h2 = h2.transpose(0, 1).flatten(1) * F.silu(gate)
        x = x + w.linear(h2, l + "o_proj", width, bias=False)
        x = x + gated_mlp(w, rms(w, x, f"model.layers.{i}.mlp_norm", eps), f"model.layers.{i}.mlp.", hidden)
    x = rms(w, x, "model.norm", eps)
    return x @ table.T if tied else w.linear(x, "lm_head", vocabulary, bias=False)


def mamba2(w, ids, maps, *, width=32, heads=4, value_width=16, states=8, layers=2, vocabulary=29, eps=1e-5, taps=4,
           conv_bias=True, tied=False):
    """The map leaves the skip D x out, as the program's does."""
    values = heads * value_width
    table = w("backbone.embeddings.weight", vocabulary, width)
    x = table[ids]
    for i in range(layers):
        l = f"backbone.layers.{i}.mixer."
        h = rms(w, x, f"backbone.layers.{i}.norm", eps)
        gate, mixed, step = w.linear(h, l + "in_proj", 2 * values + 2 * states + heads, bias=False).split(
            [values, values + 2 * states, heads], -1)
        kernels = w(l + "conv1d.weight", mixed.shape[1], 1, taps)
        bias = w(l + "conv1d.bias", mixed.shape[1]) if conv_bias else None
        mixed = F.silu(F.conv1d(F.pad(mixed.T[None], (taps - 1, 0)), kernels, bias, groups=mixed.shape[1])[0].T)
        v, k, q = mixed.split([values, states, states], -1)
        step = F.softplus(step + w(l + "dt_bias", heads))
        decay = -w(l + "A_log", heads).exp() * step
        maps.append(torch.stack([recurrence(q, k, decay[:, j]) * step[:, j] for j in range(heads)]))
        v = heads_of(v, heads)
        y = (maps[-1] @ v + w(l + "D", heads)[:, None, None] * v).transpose(0, 1).flatten(1)
        y = rms(w, y * F.silu(gate), l + "norm", eps)
        x = x + w.linear(y, l + "out_proj", width, bias=False)
    x = rms(w, x, "backbone.norm_f", eps)
    return x @ table.T if tied else w.linear(x, "lm_head", vocabulary, bias=False)


LINEAR, FULL = "linear_attention", "full_attention"
QWEN = {
    "architectures": ["Qwen3_5ForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "attn_output_gate": True,
    "dtype": "bfloat16",
    "eos_token_id": 28,
    "full_attention_interval": 3,
    "head_dim": 12,
    "hidden_act": "silu",
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 48,
    "layer_types": [LINEAR, LINEAR, FULL, LINEAR],
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_value_head_dim": 6,
    "mamba_ssm_dtype": "float32",
    "max_position_embeddings": 64,
    "mlp_only_layers": [],
    "model_type": "qwen3_5_text",
    "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": False,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1e-06,
    "rope_parameters": {
        "mrope_interleaved": True, "mrope_section": [1, 1, 1], "partial_rotary_factor": 0.5, "rope_theta": 10000,
        "rope_type": "default",
    },
    "tie_word_embeddings": False,
    "use_cache": True,
    "vocab_size": 29,
}
# Qwen/Qwen3-Next-80B-A3B-Instruct writes these keys.
QWEN3_NEXT = {
    **{key: value for key, value in QWEN.items()
       if not key.startswith("mtp_") and key not in ("attn_output_gate", "dtype", "layer_types", "mamba_ssm_dtype",
                                                     "rope_parameters")},
    "architectures": ["Qwen3NextForCausalLM"],
    "bos_token_id": 27,
    "decoder_sparse_step": 1,
    "model_type": "qwen3_next",
    "moe_intermediate_size": 20,
    "norm_topk_prob": True,
    "num_experts": 6,
    "num_experts_per_tok": 3,
    "num_hidden_layers": 3,
    "output_router_logits": False,
    "rope_scaling": None,
    "rope_theta": 10000,
    "router_aux_loss_coef": 0.001,
    "shared_expert_intermediate_size": 36,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.57.0.dev0",
    "use_sliding_window": False,
}
GLA = {
    "architectures": ["GLAForCausalLM"],
    "attn": None,
    "attn_mode": "chunk",
    "bos_token_id": 1,
    "clamp_min": None,
    "conv_size": 4,
    "elementwise_affine": True,
    "eos_token_id": 2,
    "expand_k": 0.5,
    "expand_v": 1.0,
    "feature_map": None,
    "fuse_cross_entropy": True,
    "fuse_norm": True,
    "hidden_act": "swish",
    "hidden_ratio": 4,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 48,
    "max_position_embeddings": 2048,
    "model_type": "gla",
    "norm_eps": 1e-06,
    "num_heads": 4,
    "num_hidden_layers": 2,
    "num_kv_heads": None,
    "tie_word_embeddings": False,
    "transformers_version": "4.40.0",
    "use_cache": True,
    "use_gk": True,
    "use_gv": False,
    "use_output_gate": True,
    "use_short_conv": False,
    "vocab_size": 29,
}
RETNET = {
    **{key: value for key, value in GLA.items() if key not in ("clamp_min", "use_gk", "use_gv")},
    "architectures": ["RetNetForCausalLM"],
    "expand_k": 1.0,
    "expand_v": 2.0,
    "model_type": "retnet",
}

# AntonV/mamba2-130m-hf writes these keys.
MAMBA2 = {
    "architectures": ["Mamba2ForCausalLM"],
    "bos_token_id": 0,
    "chunk_size": 256,
    "conv_kernel": 4,
    "eos_token_id": 0,
    "expand": 2,
    "head_dim": 16,
    "hidden_act": "silu",
    "hidden_size": 32,
    "initializer_range": 0.1,
    "layer_norm_epsilon": 1e-05,
    "model_type": "mamba2",
    "n_groups": 1,
    "num_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "rescale_prenorm_residual": False,
    "residual_in_fp32": True,
    "rms_norm": True,
    "state_size": 8,
    "tie_word_embeddings": True,
    "time_step_floor": 0.0001,
    "time_step_limit": [0.0, "Infinity"],
    "time_step_max": 0.1,
    "time_step_min": 0.001,
    "time_step_rank": 256,
    "transformers_version": "4.45.0",
    "use_bias": False,
    "use_cache": True,
    "use_conv_bias": True,
    "vocab_size": 29,
}

CASES = {
    "hugging_face_mamba2": (
        "Hugging Face Mamba-2", mamba2, dict(tied=True), IDS, MAMBA2, {}, {"n_groups": 2},
        "backbone.layers.1.mixer.D", "backbone.layers.0.mixer.B_norm.weight",
    ),
    "hugging_face_mamba2_wide": (
        "Hugging Face Mamba-2", mamba2,
        dict(heads=6, value_width=12, states=10, layers=1, eps=1e-6, taps=3, conv_bias=False), IDS,
        {**MAMBA2, "conv_kernel": 3, "expand": 2.25, "head_dim": 12, "layer_norm_epsilon": 1e-6, "num_heads": 6,
         "num_hidden_layers": 1, "state_size": 10, "tie_word_embeddings": False,
         "time_step_limit": [0.0, {"__float__": "Infinity"}], "use_conv_bias": False},
        {}, {"time_step_limit": [0.0, 0.1]}, "backbone.layers.0.mixer.A_log", "backbone.layers.0.mixer.B_norm.weight",
    ),
    "hugging_face_qwen3_5": (
        "Hugging Face Qwen3.5", qwen3_5, dict(types=QWEN["layer_types"]), IDS, QWEN, {},
        {"layer_types": [LINEAR, LINEAR, "sliding_attention", LINEAR]}, "model.layers.0.linear_attn.norm.weight",
        "model.layers.1.linear_attn.in_proj_qkvz.weight",
    ),
    "hugging_face_qwen3_5_by_interval": (
        "Hugging Face Qwen3.5", qwen3_5,
        dict(types=[LINEAR, FULL, LINEAR, FULL], heads=2, key_heads=1, head_width=16, turned=4, linear=(2, 2, 8, 8), taps=3,
             theta=500.0, eps=1e-5, tied=True),
        IDS,
        {**{key: value for key, value in QWEN.items() if key not in ("layer_types", "rope_parameters")},
         "full_attention_interval": 2, "head_dim": 16, "linear_conv_kernel_dim": 3, "linear_num_value_heads": 2,
         "linear_value_head_dim": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "partial_rotary_factor": 0.25,
         "rms_norm_eps": 1e-5, "rope_theta": 500.0, "tie_word_embeddings": True},
        {}, {"attn_output_gate": False}, "model.layers.1.self_attn.q_norm.weight", "model.layers.0.mlp.experts.down_proj",
    ),
    "hugging_face_qwen3_next": (
        "Hugging Face Qwen3-Next", qwen3_5,
        dict(types=[LINEAR, LINEAR, FULL], projections=projections_in_groups, predicts_later=True,
             feed_forward=experts(6, 3, 20, QWEN_NAMES, shared=36)), IDS, QWEN3_NEXT, {}, {"use_sliding_window": True},
        "model.layers.1.mlp.shared_expert.up_proj.weight", "model.layers.1.linear_attn.in_proj_qkv.weight",
    ),
    "hugging_face_qwen3_next_stacked": (
        "Hugging Face Qwen3-Next", qwen3_5,
        dict(types=[LINEAR, FULL, LINEAR], linear=(6, 2, 8, 6), taps=3, tied=True, projections=projections_in_groups,
             feed_forward=experts(4, 2, 24, STACKED_NAMES, sums_to_one=False, plain_layers=(1,), plain_width=28, shared=16)),
        IDS,
        {**QWEN3_NEXT, "intermediate_size": 28, "layer_types": [LINEAR, FULL, LINEAR], "linear_conv_kernel_dim": 3,
         "linear_num_value_heads": 6, "mlp_only_layers": [1], "moe_intermediate_size": 24, "norm_topk_prob": False,
         "num_experts": 4, "num_experts_per_tok": 2, "shared_expert_intermediate_size": 16,
         "tie_word_embeddings": True},
        {}, {"hidden_act": "gelu"}, "model.layers.2.linear_attn.in_proj_ba.weight",
        "model.layers.1.linear_attn.in_proj_qkv.weight",
    ),
    "fla_gla": (
        "flash-linear-attention GLA", fla, dict(kind="gla"), IDS, GLA, {}, {"clamp_min": -5.0},
        "model.layers.1.attn.gk_proj.1.bias", "model.layers.0.attn_res_proj.weight",
    ),
    "fla_gla_convolved": (
        "flash-linear-attention GLA", fla,
        dict(kind="gla", heads=2, keys=32, values=32, taps=4, norm="g_norm", low_rank=8, eps=1e-5, tied=True), IDS,
        {**GLA, "expand_k": 1.0, "fuse_norm": False, "norm_eps": 1e-5, "num_heads": 2, "tie_word_embeddings": True,
         "use_short_conv": True},
        {}, {"feature_map": "relu"}, "model.layers.0.attn.k_conv1d.weight", "model.layers.1.attn.gv_proj.weight",
    ),
    "fla_retnet": (
        "flash-linear-attention RetNet", fla, dict(kind="retnet", keys=32, values=64), IDS, RETNET, {},
        {"attn": {"layers": [1], "num_heads": 4}}, "model.layers.1.attn.g_norm_swish_gate.weight",
        "model.layers.0.attn.gk_proj.0.weight",
    ),
    "fla_retnet_without_weights_of_norms": (
        "flash-linear-attention RetNet", fla, dict(kind="retnet", keys=16, values=16, heads=2, affine=False), IDS,
        {**RETNET, "elementwise_affine": False, "expand_k": 0.5, "expand_v": 0.5, "num_heads": 2}, {},
        {"num_kv_heads": 1}, "model.layers.0.attn.q_proj.weight", "model.layers.0.attn.q_norm.weight",
    ),
}
