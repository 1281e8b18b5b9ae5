"""GPT-NeoX (Pythia) and GPT-J in Hugging Face's names: attention and MLP side by side, a part of each head turned, in
halves or in pairs; GPT-Neo: scores without a scale, windows in local layers.

From huggingface/transformers, models/gpt_neox/modeling_gpt_neox.py, models/gptj/modeling_gptj.py and
models/gpt_neo/modeling_gpt_neo.py.
"""

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import angles_of, attend_terms, causal_mask, rotary, turn_halves


def turn_pairs(x, angles):
    """x [H, N, d], angles [N, r/2]: channels 2i and 2i + 1 of the first r turned together."""
    turned = 2 * angles.shape[-1]
    a, b = x[..., :turned:2], x[..., 1:turned:2]
    pairs = torch.stack([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)
    return torch.cat([pairs.flatten(-2), x[..., turned:]], -1)


def gpt_neox(w, ids, maps, *, width=32, heads=4, hidden=44, layers=2, vocabulary=29, part=0.25, base=10000.0, eps=1e-5,
             act="gelu", parallel=True, head=True):
    x = w("gpt_neox.embed_in.weight", vocabulary, width)[ids]
    each = width // heads
    angles = angles_of(len(ids), rotary(int(each * part), base))
    for i in range(layers):
        l = f"gpt_neox.layers.{i}."
        rows = w.linear(w.norm(x, l + "input_layernorm", eps), l + "attention.query_key_value", 3 * width)
        q, k, v = heads_of(rows, heads).chunk(3, -1)  # queries, keys and values of a head are adjacent
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        a = attend_terms(q, k, v, maps, each**-0.5, causal_mask(len(ids)))
        a = w.linear(a, l + "attention.dense", width)
        read = x if parallel else x + a
        h = ACTIVATIONS[act](w.linear(w.norm(read, l + "post_attention_layernorm", eps), l + "mlp.dense_h_to_4h", hidden))
        x = x + a + w.linear(h, l + "mlp.dense_4h_to_h", width)
    return w.linear(w.norm(x, "gpt_neox.final_layer_norm", eps), "embed_out", vocabulary, bias=False)


def gptj(w, ids, maps, *, width=36, heads=3, hidden=48, layers=2, vocabulary=29, turned=8, eps=1e-5):
    x = w("transformer.wte.weight", vocabulary, width)[ids]
    each = width // heads
    angles = angles_of(len(ids), rotary(turned, 10000.0))
    for i in range(layers):
        l = f"transformer.h.{i}."
        h = w.norm(x, l + "ln_1", eps)
        q, k, v = (heads_of(w.linear(h, l + f"attn.{p}_proj", width, bias=False), heads) for p in "qkv")
        a = attend_terms(turn_pairs(q, angles), turn_pairs(k, angles), v, maps, each**-0.5, causal_mask(len(ids)))
        m = ACTIVATIONS["gelu_tanh"](w.linear(h, l + "mlp.fc_in", hidden))
        x = x + w.linear(a, l + "attn.out_proj", width, bias=False) + w.linear(m, l + "mlp.fc_out", width)
    return w.linear(w.norm(x, "transformer.ln_f", eps), "lm_head", vocabulary)


def gpt_neo(w, ids, maps, *, root="transformer.", width=32, heads=4, hidden=128, types=("global", "local", "global"),
            window=5, vocabulary=29, context=24, act="gelu_tanh", eps=1e-5, tied=True):
    table = w(root + "wte.weight", vocabulary, width)
    x = table[ids] + w(root + "wpe.weight", context, width)[: len(ids)]
    for i, kind in enumerate(types):
        l = f"{root}h.{i}."
        h = w.norm(x, l + "ln_1", eps)
        q, k, v = (heads_of(w.linear(h, l + f"attn.attention.{p}_proj", width, bias=False), heads) for p in "qkv")
        h = attend_terms(q, k, v, maps, 1.0, causal_mask(len(ids), window if kind == "local" else None))
        x = x + w.linear(h, l + "attn.attention.out_proj", width)
        h = ACTIVATIONS[act](w.linear(w.norm(x, l + "ln_2", eps), l + "mlp.c_fc", hidden))
        x = x + w.linear(h, l + "mlp.c_proj", width)
    x = w.norm(x, root + "ln_f", eps)
    return x @ table.T if tied else w.linear(x, "lm_head", vocabulary, bias=False)


NEOX = {
    "architectures": ["GPTNeoXForCausalLM"],
    "attention_bias": True,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "classifier_dropout": 0.1,
    "eos_token_id": 0,
    "hidden_act": "gelu",
    "hidden_dropout": 0.0,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 44,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 64,
    "model_type": "gpt_neox",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "rope_scaling": None,
    "rotary_emb_base": 10000,
    "rotary_pct": 0.25,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "transformers_version": "4.24.0",
    "use_cache": True,
    "use_parallel_residual": True,
    "vocab_size": 29,
}

GPTJ = {
    "activation_function": "gelu_new",
    "architectures": ["GPTJForCausalLM"],
    "attn_pdrop": 0.0,
    "bos_token_id": 50256,
    "embd_pdrop": 0.0,
    "eos_token_id": 50256,
    "gradient_checkpointing": False,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gptj",
    "n_embd": 36,
    "n_head": 3,
    "n_inner": 48,
    "n_layer": 2,
    "n_positions": 64,
    "resid_pdrop": 0.0,
    "rotary": True,
    "rotary_dim": 8,
    "scale_attn_weights": True,
    "summary_type": "cls_index",
    "task_specific_params": {"text-generation": {"do_sample": True, "temperature": 1.0}},
    "tie_word_embeddings": False,
    "tokenizer_class": "GPT2Tokenizer",
    "transformers_version": "4.18.0",
    "use_cache": True,
    "vocab_size": 29,
}

# EleutherAI/gpt-neo-125m writes these keys.
NEO = {
    "activation_function": "gelu_new",
    "architectures": ["GPTNeoForCausalLM"],
    "attention_dropout": 0,
    "attention_layers": ["global", "local", "global"],
    "attention_types": [[["global", "local"], 1], [["global"], 1]],
    "bos_token_id": 50256,
    "embed_dropout": 0,
    "eos_token_id": 50256,
    "gradient_checkpointing": False,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": None,
    "layer_norm_epsilon": 1e-05,
    "max_position_embeddings": 24,
    "model_type": "gpt_neo",
    "num_heads": 4,
    "num_layers": 3,
    "resid_dropout": 0,
    "summary_activation": None,
    "summary_first_dropout": 0.1,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "transformers_version": "4.9.0.dev0",
    "use_cache": True,
    "vocab_size": 29,
    "window_size": 5,
}

CASES = {
    "hugging_face_gpt_neo": (
        "Hugging Face GPT-Neo", gpt_neo, {}, IDS, NEO, {}, {"attention_layers": ["global", "local", "local"]},
        "transformer.h.1.attn.attention.out_proj.bias", "transformer.h.0.attn.attention.q_proj.bias_scale",
    ),
    "hugging_face_gpt_neo_all_local": (
        "Hugging Face GPT-Neo", gpt_neo,
        dict(width=24, heads=2, hidden=40, types=["local"] * 2, window=3, act="gelu", eps=1e-3, tied=False), IDS,
        {**{key: value for key, value in NEO.items() if key != "attention_layers"}, "activation_function": "gelu",
         "attention_types": [[["local"], 2]], "hidden_size": 24, "intermediate_size": 40, "layer_norm_epsilon": 1e-3,
         "num_heads": 2, "num_layers": 2, "tie_word_embeddings": False, "window_size": 3},
        {}, {"attention_types": [[["global"], 3]]}, "transformer.h.1.ln_2.weight",
        "transformer.h.0.attn.attention.rotary_emb.weight",
    ),
    "hugging_face_gpt_neo_without_config": (
        "Hugging Face GPT-Neo", gpt_neo, dict(root="", window=256), IDS, None, {"heads": "4"}, None, "wpe.weight",
        "h.2.attn.attention.k_proj.bias_scale",
    ),
    "hugging_face_gpt_neox": (
        "Hugging Face GPT-NeoX", gpt_neox, {}, IDS, NEOX, {}, {"hidden_act": "mish"},
        "gpt_neox.layers.1.attention.query_key_value.weight", "gpt_neox.layers.0.attention.rope.weight",
    ),
    "hugging_face_gpt_neox_sequential": (
        "Hugging Face GPT-NeoX", gpt_neox, dict(part=0.5, base=500.0, act="gelu_tanh", parallel=False, eps=1e-3), IDS,
        {**NEOX, "rotary_pct": 0.5, "rotary_emb_base": 500, "rope_theta": 500, "hidden_act": "gelu_fast",
         "use_parallel_residual": False, "layer_norm_eps": 1e-3},
        {}, {"rope_theta": 10000}, "gpt_neox.layers.1.post_attention_layernorm.bias",
        "gpt_neox.layers.0.mlp.gate.weight",
    ),
    "hugging_face_gptj": (
        "Hugging Face GPT-J", gptj, {}, IDS, GPTJ, {}, {"rotary_dim": "all"},
        "transformer.h.1.attn.out_proj.weight", "transformer.h.0.ln_2.weight",
    ),
}
