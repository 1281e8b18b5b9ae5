"""Whisper's encoder in the names of Hugging Face and of OpenAI: two convolutions of a sound's spectrum, of which the second
halves the frames, stored positions, layers whose keys have no bias.

From openai/whisper, whisper/model.py; huggingface/transformers, models/whisper/modeling_whisper.py.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, attend, heads_of
from make_reference import array

OPENAI = dict(prefix="encoder.", positions="encoder.positional_embedding", layer="encoder.blocks.", attention="attn.",
              q="query", k="key", v="value", out="out", norm1="attn_ln", norm2="mlp_ln", mlp1="mlp.0", mlp2="mlp.2",
              last="encoder.ln_post")
HUGGING_FACE = dict(prefix="model.encoder.", positions="model.encoder.embed_positions.weight",
                    layer="model.encoder.layers.", attention="self_attn.", q="q_proj", k="k_proj", v="v_proj",
                    out="out_proj", norm1="self_attn_layer_norm", norm2="final_layer_norm", mlp1="fc1", mlp2="fc2",
                    last="model.encoder.layer_norm")


def whisper(w, spectrum, maps, *, names, width=24, heads=3, layers=2, hidden=40, act="gelu", decoder=None):
    """What the last layer gives, before the norm."""
    convolve = lambda x, name, stride: ACTIVATIONS["gelu"](
        F.conv1d(x[None], w(name + ".weight", width, len(x), 3), w(name + ".bias", width), stride=stride, padding=1)[0])
    x = convolve(convolve(spectrum, names["prefix"] + "conv1", 1), names["prefix"] + "conv2", 2).T
    x = x + w(names["positions"], len(x), width)
    for i in range(layers):
        l = f"{names['layer']}{i}."
        h = w.norm(x, l + names["norm1"], 1e-5)
        q, k, v = (heads_of(w.linear(h, l + names["attention"] + names[part], width, bias=part != "k"), heads)
                   for part in "qkv")
        x = x + w.linear(attend(q, k, v, maps), l + names["attention"] + names["out"], width)
        h = w.norm(x, l + names["norm2"], 1e-5)
        x = x + w.linear(ACTIVATIONS[act](w.linear(h, l + names["mlp1"], hidden)), l + names["mlp2"], width)
    w.norm(x, names["last"], 1e-5)
    if decoder:  # the decoder is not run
        w(decoder + "layers.0.encoder_attn.k_proj.weight", width, width)
        w(decoder + "embed_positions.weight", 5, width)
    return x


SPECTRUM = array("input", (8, 38)).double()

CONFIG = {
    "activation_dropout": 0.0,
    "activation_function": "relu",
    "apply_spec_augment": False,
    "architectures": ["WhisperForConditionalGeneration"],
    "attention_dropout": 0.0,
    "begin_suppress_tokens": [220, 50257],
    "bos_token_id": 50257,
    "classifier_proj_size": 256,
    "d_model": 24,
    "decoder_attention_heads": 6,
    "decoder_ffn_dim": 1536,
    "decoder_layerdrop": 0.0,
    "decoder_layers": 4,
    "decoder_start_token_id": 50258,
    "dropout": 0.0,
    "encoder_attention_heads": 3,
    "encoder_ffn_dim": 40,
    "encoder_layerdrop": 0.0,
    "encoder_layers": 2,
    "eos_token_id": 50257,
    "forced_decoder_ids": [[1, 50259], [2, 50359], [3, 50363]],
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "mask_feature_length": 10,
    "mask_feature_prob": 0.0,
    "mask_time_prob": 0.05,
    "max_length": 448,
    "max_source_positions": 19,
    "max_target_positions": 448,
    "median_filter_width": 7,
    "model_type": "whisper",
    "num_hidden_layers": 2,
    "num_mel_bins": 8,
    "pad_token_id": 50257,
    "scale_embedding": False,
    "suppress_tokens": [],
    "torch_dtype": "float32",
    "transformers_version": "4.27.0",
    "use_cache": True,
    "use_weighted_layer_sum": False,
    "vocab_size": 51865,
}

CASES = {
    "hugging_face_whisper": (
        "Hugging Face Whisper encoder", whisper, dict(names=HUGGING_FACE, act="relu", decoder="model.decoder."), SPECTRUM,
        CONFIG, {}, {"activation_function": "gelu_10"}, "model.encoder.layers.1.self_attn.v_proj.bias",
        "model.encoder.layers.0.self_attn.k_proj.bias",
    ),
    "openai_whisper": (
        "OpenAI Whisper encoder", whisper, dict(names=OPENAI), SPECTRUM, None, {"heads": "3"}, None,
        "encoder.conv2.bias", "encoder.blocks.1.cross_attn.query.weight",
    ),
}
