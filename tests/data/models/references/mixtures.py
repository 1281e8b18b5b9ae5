"""Mixtures of experts in Hugging Face's names: Mixtral's, Qwen2's with an MLP of all tokens, Qwen3's with layers that have
one MLP, OLMoE's; the experts in one tensor each, or stacked as transformers 5 holds them.

From huggingface/transformers, models/mixtral, qwen2_moe, qwen3_moe and olmoe, and conversion_mapping.py. Every token's
experts are computed one token at a time.
"""

import numpy as np
import torch

from make_families import ACTIVATIONS, IDS
from references.llama import CONFIG, QWEN3, gated_mlp, llama


def route(logits, active, sums_to_one):
    """Numbers and weights of each token's experts [N, k]."""
    weights, chosen = logits.softmax(-1).topk(active, -1)
    gaps = logits.sort(-1, descending=True).values
    gap = (gaps[:, active - 1] - gaps[:, active]).min() if active < logits.shape[-1] else 1
    assert gap > 1e-4, gap  # rounding must not change the choice
    return chosen, weights / weights.sum(-1, keepdim=True) if sums_to_one else weights


def experts(count, active, hidden, names, sums_to_one=True, plain_layers=(), plain_width=None, shared=None, turned=False):
    """`names`: those of the router and of gate, hidden and output matrix of expert E; of two, both matrices that are
    stacked, which are `turned` if their rows are inputs; `shared`: hidden width of the MLP of all tokens. The reference
    has experts_LAYER and expert_weights_LAYER."""

    def of_layer(w, x, prefix, layer, _, act):
        if layer in plain_layers:
            return gated_mlp(w, x, prefix, layer, plain_width, act)
        width = x.shape[-1]
        router, *parts = (prefix + name for name in names)
        chosen, weights = route(w.linear(x, router, count, bias=False), active, sums_to_one)
        if len(parts) == 2:
            stack = lambda name, rows, columns: (w(name, count, columns, rows).transpose(1, 2) if turned else
                                                 w(name, count, rows, columns))
            both, down = stack(parts[0], 2 * hidden, width), stack(parts[1], width, hidden)
            gate, up = both[:, :hidden], both[:, hidden:]
        else:
            gate, up, down = (
                torch.stack([w(part.replace("E", str(e)) + ".weight", *shape) for e in range(count)])
                for part, shape in zip(parts, ((hidden, width), (hidden, width), (width, hidden)))
            )
        w.kept[f"experts_{layer}"] = chosen.numpy().astype(np.float32)
        w.kept[f"expert_weights_{layer}"] = weights.numpy().astype(np.float32)
        rows = []
        for token, numbers, shares in zip(x, chosen, weights):
            rows.append(sum(s * (down[e] @ (ACTIVATIONS[act](gate[e] @ token) * (up[e] @ token)))
                            for e, s in zip(numbers, shares)))
        if shared is None:
            return torch.stack(rows)
        parts = (w.linear(x, f"{prefix}mlp.shared_expert.{part}_proj", shared, bias=False) for part in ("gate", "up"))
        h = w.linear(ACTIVATIONS[act](next(parts)) * next(parts), prefix + "mlp.shared_expert.down_proj", width, bias=False)
        return torch.stack(rows) + w.linear(x, prefix + "mlp.shared_expert_gate", 1, bias=False).sigmoid() * h

    return of_layer


MIXTRAL_NAMES = ("block_sparse_moe.gate", *(f"block_sparse_moe.experts.E.w{i}" for i in (1, 3, 2)))
QWEN_NAMES = ("mlp.gate", *(f"mlp.experts.E.{part}_proj" for part in ("gate", "up", "down")))
STACKED_NAMES = ("mlp.gate", "mlp.experts.gate_up_proj", "mlp.experts.down_proj")

MIXTRAL = {
    **{key: value for key, value in CONFIG.items() if key not in ("attention_bias", "mlp_bias", "pretraining_tp")},
    "architectures": ["MixtralForCausalLM"],
    "head_dim": 12,
    "intermediate_size": 24,
    "model_type": "mixtral",
    "num_experts_per_tok": 2,
    "num_local_experts": 4,
    "output_router_logits": False,
    "rms_norm_eps": 1e-05,
    "router_aux_loss_coef": 0.02,
    "sliding_window": None,
}
QWEN3_MOE = {
    **QWEN3,
    "architectures": ["Qwen3MoeForCausalLM"],
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "model_type": "qwen3_moe",
    "moe_intermediate_size": 20,
    "norm_topk_prob": False,
    "num_experts": 6,
    "num_experts_per_tok": 3,
    "num_hidden_layers": 4,
    "output_router_logits": False,
    "router_aux_loss_coef": 0.001,
}
QWEN2_MOE = {
    **{key: value for key, value in QWEN3_MOE.items() if key not in ("attention_bias", "head_dim")},
    "architectures": ["Qwen2MoeForCausalLM"],
    "decoder_sparse_step": 2,
    "intermediate_size": 28,
    "model_type": "qwen2_moe",
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "shared_expert_intermediate_size": 36,
}
OLMOE = {
    **MIXTRAL,
    "architectures": ["OlmoeForCausalLM"],
    "attention_bias": False,
    "clip_qkv": None,
    "model_type": "olmoe",
    "norm_topk_prob": False,
    "num_experts": 5,
    "num_key_value_heads": 4,
}
for key in ("head_dim", "num_local_experts", "sliding_window"):
    del OLMOE[key]

CASES = {
    "hugging_face_mixtral": (
        "Hugging Face Mixtral", llama,
        dict(head_width=12, eps=1e-5, feed_forward=experts(4, 2, 24, MIXTRAL_NAMES)), IDS, MIXTRAL, {},
        {"rope_scaling": {"rope_type": "su2", "factor": 2.0}}, "model.layers.1.block_sparse_moe.experts.2.w3.weight",
        "model.layers.0.block_sparse_moe.experts.5.w1.weight",
    ),
    "hugging_face_mixtral_stacked": (
        "Hugging Face Mixtral", llama,
        dict(head_width=12, eps=1e-5, window=5, feed_forward=experts(4, 1, 24, STACKED_NAMES)), IDS,
        {**MIXTRAL, "num_experts_per_tok": 1, "sliding_window": 5}, {},
        {"hidden_act": "mish"}, "model.layers.1.mlp.experts.down_proj", "model.layers.0.mlp.shared_expert_gate.weight",
    ),
    "hugging_face_mixtral_without_config": (
        "Hugging Face Mixtral", llama, dict(theta=1e6, eps=1e-5, feed_forward=experts(3, 2, 24, MIXTRAL_NAMES)), IDS,
        None, {"heads": "4"}, None, "model.layers.1.block_sparse_moe.gate.weight",
        "model.layers.0.block_sparse_moe.gate.bias_scale",
    ),
    "hugging_face_qwen2_moe": (
        "Hugging Face Qwen2-MoE", llama,
        dict(theta=1e6, layers=3, biases=True, out_bias=False,
             feed_forward=experts(6, 3, 20, QWEN_NAMES, sums_to_one=False, plain_layers=(0, 2), plain_width=28, shared=36)),
        IDS, QWEN2_MOE, {}, {"decoder_sparse_step": 0}, "model.layers.1.mlp.shared_expert_gate.weight",
        "model.layers.0.mlp.shared_expert.scale",
    ),
    "hugging_face_qwen2_moe_stacked": (
        "Hugging Face Qwen2-MoE", llama,
        dict(theta=1e6, biases=True, out_bias=False, window=5, slides_from=1,
             feed_forward=experts(4, 2, 24, STACKED_NAMES, shared=16)), IDS,
        {**QWEN2_MOE, "decoder_sparse_step": 1, "max_window_layers": 1, "moe_intermediate_size": 24, "norm_topk_prob": True,
         "num_experts": 4, "num_experts_per_tok": 2, "num_hidden_layers": 2, "shared_expert_intermediate_size": 16,
         "use_sliding_window": True},
        {}, {"hidden_act": "mish"}, "model.layers.1.mlp.shared_expert.down_proj.weight",
        "model.layers.0.mlp.shared_expert.up_proj.bias_scale",
    ),
    "hugging_face_qwen3_moe": (
        "Hugging Face Qwen3-MoE", llama,
        dict(head_width=12, theta=1e6, head_norms=True, layers=4,
             feed_forward=experts(6, 3, 20, QWEN_NAMES, sums_to_one=False)), IDS, QWEN3_MOE, {},
        {"norm_topk_prob": "sometimes"}, "model.layers.3.mlp.experts.4.up_proj.weight",
        "model.layers.0.mlp.shared_expert.gate_proj.weight",
    ),
    "hugging_face_qwen3_moe_plain_layers": (
        "Hugging Face Qwen3-MoE", llama,
        dict(head_width=12, theta=1e6, head_norms=True, layers=4, window=5,
             feed_forward=experts(6, 3, 20, QWEN_NAMES, plain_layers=(0, 2, 3), plain_width=28)), IDS,
        {**QWEN3_MOE, "decoder_sparse_step": 2, "intermediate_size": 28, "mlp_only_layers": [3], "norm_topk_prob": True,
         "use_sliding_window": True}, {},
        {"mlp_only_layers": "3"}, "model.layers.2.mlp.up_proj.weight", "model.layers.1.mlp.shared_expert_gate.weight",
    ),
    "hugging_face_qwen3_moe_stacked": (
        "Hugging Face Qwen3-MoE", llama,
        dict(head_width=12, theta=1e6, head_norms=True,
             feed_forward=experts(6, 3, 20, STACKED_NAMES, plain_layers=(0,), plain_width=28)), IDS, None,
        {"activation": "silu", "layer.mlp.active_experts": "3"}, None, "model.layers.1.mlp.experts.gate_up_proj",
        "model.layers.1.mlp.experts.gate_up_proj_scale",
    ),
    "hugging_face_olmoe": (
        "Hugging Face OLMoE", llama,
        dict(key_heads=4, eps=1e-5, all_norms=True, feed_forward=experts(5, 2, 24, QWEN_NAMES, sums_to_one=False)),
        IDS, OLMOE, {}, {"clip_qkv": 8.0}, "model.layers.1.self_attn.q_norm.weight",
        "model.layers.0.mlp.experts.6.up_proj.weight",
    ),
}
