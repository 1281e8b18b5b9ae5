"""OPT in Hugging Face's names: positions from the third row on; norms before the parts, or behind them; narrower
embeddings, which are projected before positions are added, and back before the head.

From huggingface/transformers, models/opt/modeling_opt.py.
"""

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import attend_terms, causal_mask


def opt(w, ids, maps, *, width=24, heads=3, hidden=40, layers=2, vocabulary=29, context=32, narrow=None, before=True,
        eps=1e-5):
    d = "model.decoder."
    table = w(d + "embed_tokens.weight", vocabulary, narrow or width)
    x = table[ids]
    if narrow:
        x = w.linear(x, d + "project_in", width, bias=False)
    x = x + w(d + "embed_positions.weight", context + 2, width)[2 : 2 + len(ids)]
    for i in range(layers):
        l = f"{d}layers.{i}."
        norm = lambda y, name: w.norm(y, l + name, eps)
        h = norm(x, "self_attn_layer_norm") if before else x
        q, k, v = (heads_of(w.linear(h, l + f"self_attn.{p}_proj", width), heads) for p in "qkv")
        h = attend_terms(q, k, v, maps, (width // heads) ** -0.5, causal_mask(len(ids)))
        x = x + w.linear(h, l + "self_attn.out_proj", width)
        if not before:
            x = norm(x, "self_attn_layer_norm")
        h = norm(x, "final_layer_norm") if before else x
        x = x + w.linear(ACTIVATIONS["relu"](w.linear(h, l + "fc1", hidden)), l + "fc2", width)
        if not before:
            x = norm(x, "final_layer_norm")
    if before:
        x = w.norm(x, d + "final_layer_norm", eps)
    if narrow:
        x = w.linear(x, d + "project_out", narrow, bias=False)
    return x @ table.T


CONFIG = {
    "_remove_final_layer_norm": False,
    "activation_dropout": 0.0,
    "activation_function": "relu",
    "architectures": ["OPTForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": 2,
    "do_layer_norm_before": True,
    "dropout": 0.1,
    "enable_bias": True,
    "eos_token_id": 2,
    "ffn_dim": 40,
    "hidden_size": 24,
    "init_std": 0.02,
    "layer_norm_elementwise_affine": True,
    "layerdrop": 0.0,
    "max_position_embeddings": 32,
    "model_type": "opt",
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "pad_token_id": 1,
    "prefix": "</s>",
    "torch_dtype": "float16",
    "transformers_version": "4.21.0",
    "use_cache": True,
    "vocab_size": 29,
    "word_embed_proj_dim": 24,
}

CASES = {
    "hugging_face_opt": (
        "Hugging Face OPT", opt, {}, IDS, CONFIG, {}, {"layer_norm_elementwise_affine": False},
        "model.decoder.layers.1.final_layer_norm.weight", "model.decoder.layers.0.self_attn.rotary.weight",
    ),
    "hugging_face_opt_narrow": (
        "Hugging Face OPT", opt, dict(narrow=16, before=False), IDS,
        {**CONFIG, "do_layer_norm_before": False, "word_embed_proj_dim": 16}, {}, {"activation_function": "mish"},
        "model.decoder.project_out.weight", "model.decoder.layers.0.fc3.weight",
    ),
}
