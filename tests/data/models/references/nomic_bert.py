"""Nomic's BERT: fused queries, keys and values (all of one, then all of the next), rotary positions, gated MLPs whose
second matrix is the gate, norms after each part.

From nomic-ai/nomic-bert-2048, modeling_hf_nomic_bert.py.
"""

import torch

from make_families import ACTIVATIONS, IDS, attend, heads_of
from references.eleuther import turn_pairs
from references.parts import angles_of, rotary, turn_halves


def nomic_bert(w, ids, maps, *, root="bert.", width=24, heads=3, hidden=20, layers=2, vocabulary=29, theta=1000.0,
               part=1.0, pairs=False, scaling=None, act="silu", eps=1e-12, bias=False, masked=True):
    table = w(root + "embeddings.word_embeddings.weight", vocabulary, width)
    x = table[ids] + w(root + "embeddings.token_type_embeddings.weight", 2, width)[0]
    x = w.norm(x, root + "emb_ln", eps)
    turned = int(width // heads * part)
    if scaling:
        factor, trained = scaling
        if len(ids) > trained:
            theta *= (factor * len(ids) / trained - (factor - 1)) ** (turned / (turned - 2))
    angles = angles_of(len(ids), rotary(turned, theta))
    turn = turn_pairs if pairs else turn_halves
    for i in range(layers):
        l = f"{root}encoder.layers.{i}."
        q, k, v = w.linear(x, l + "attn.Wqkv", 3 * width, bias=bias).unflatten(-1, (3, heads, -1)).permute(1, 2, 0, 3)
        h = attend(turn(q, angles), turn(k, angles), v, maps)
        x = w.norm(x + w.linear(h, l + "attn.out_proj", width, bias=bias), l + "norm1", eps)
        gated = w.linear(x, l + "mlp.fc11", hidden, bias=bias)
        gated = gated * ACTIVATIONS[act](w.linear(x, l + "mlp.fc12", hidden, bias=bias))
        x = w.norm(x + w.linear(gated, l + "mlp.fc2", width, bias=bias), l + "norm2", eps)
    if not masked:
        return x
    c = "cls.predictions."
    h = ACTIVATIONS[act](w.linear(x, c + "transform.dense", width, bias=bias))
    h = w.norm(h, c + "transform.layer_norm", eps)
    return h @ w(c + "decoder.weight", vocabulary, width).T


CONFIG = {
    "activation_function": "swiglu",
    "architectures": ["NomicBertForPreTraining"],
    "attn_pdrop": 0.0,
    "bos_token_id": None,
    "causal": False,
    "dense_seq_output": True,
    "embd_pdrop": 0.0,
    "eos_token_id": None,
    "fused_bias_fc": True,
    "fused_dropout_add_ln": True,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-12,
    "max_trained_positions": 2048,
    "mlp_fc1_bias": False,
    "mlp_fc2_bias": False,
    "model_type": "nomic_bert",
    "n_embd": 24,
    "n_head": 3,
    "n_inner": 18,
    "n_layer": 2,
    "n_positions": 64,
    "pad_vocab_size_multiple": 1,
    "parallel_block": False,
    "parallel_block_tied_norm": False,
    "prenorm": False,
    "qkv_proj_bias": False,
    "reorder_and_upcast_attn": False,
    "resid_pdrop": 0.0,
    "rotary_emb_base": 1000,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "rotary_emb_scale_base": None,
    "rotary_scaling_factor": None,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
    "summary_activation": None,
    "summary_first_dropout": 0.0,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "torch_dtype": "float32",
    "transformers_version": "4.34.0",
    "type_vocab_size": 2,
    "use_cache": True,
    "use_flash_attn": True,
    "use_rms_norm": False,
    "use_xentropy": True,
    "vocab_size": 29,
}
OTHER = {
    **CONFIG, "activation_function": "geglu", "architectures": ["NomicBertModel"], "max_trained_positions": 8,
    "rotary_emb_base": 500, "rotary_emb_fraction": 0.5, "rotary_emb_interleaved": True, "rotary_scaling_factor": 2.0,
    "layer_norm_epsilon": 1e-5, "qkv_proj_bias": True, "mlp_fc1_bias": True, "mlp_fc2_bias": True,
}

CASES = {
    "nomic_bert": (
        "Nomic BERT", nomic_bert, {}, IDS, CONFIG, {}, {"prenorm": True}, "bert.encoder.layers.1.mlp.fc12.weight",
        "bert.encoder.layers.0.attn.q_norm.weight",
    ),
    "nomic_bert_pairs": (
        "Nomic BERT", nomic_bert,
        dict(root="", theta=500.0, part=0.5, pairs=True, scaling=(2.0, 8), act="gelu", eps=1e-5, bias=True, masked=False),
        IDS, OTHER, {}, {"rotary_emb_scale_base": 512}, "emb_ln.bias", "encoder.layers.1.attn.k_norm.weight",
    ),
}
