"""T5's encoder in Hugging Face's names: RMS norms, scores without a scale, biases of the first layer in all of them. What
the last layer gives, before the norm.

From huggingface/transformers, models/t5/modeling_t5.py.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import rms


def bucket(away, buckets, furthest):
    """Of a key `away` tokens behind the query; the later half of the buckets is of keys after it."""
    half, exact = buckets // 2, buckets // 4
    distance = away.abs()
    scale = torch.log(distance.clamp(min=1).double() / exact) / math.log(furthest / exact)
    far = (exact + (scale * (half - exact)).long()).clamp(max=half - 1)
    return (away > 0) * half + torch.where(distance < exact, distance, far)


def t5(w, ids, maps, *, width=24, heads=4, head_width=8, hidden=40, layers=2, vocabulary=29, buckets=8, furthest=20,
       eps=1e-6, act="relu", gated=False):
    x = w("shared.weight", vocabulary, width)[ids]
    places = torch.arange(len(ids))
    table = w("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", buckets, heads)
    bias = table[bucket(places[None] - places[:, None], buckets, furthest)].permute(2, 0, 1)
    for i in range(layers):
        a, m = f"encoder.block.{i}.layer.0.", f"encoder.block.{i}.layer.1."
        h = rms(w, x, a + "layer_norm", eps)
        q, k, v = (heads_of(w.linear(h, a + "SelfAttention." + part, heads * head_width, bias=False), heads)
                   for part in "qkv")
        maps.append((q @ k.transpose(-1, -2) + bias).softmax(-1))
        h = (maps[-1] @ v).transpose(0, 1).flatten(1)
        x = x + w.linear(h, a + "SelfAttention.o", width, bias=False)
        h = rms(w, x, m + "layer_norm", eps)
        first = ACTIVATIONS[act](w.linear(h, m + "DenseReluDense." + ("wi_0" if gated else "wi"), hidden, bias=False))
        if gated:
            first = first * w.linear(h, m + "DenseReluDense.wi_1", hidden, bias=False)
        x = x + w.linear(first, m + "DenseReluDense.wo", width, bias=False)
    rms(w, x, "encoder.final_layer_norm", eps)
    return x


CONFIG = {
    "architectures": ["T5EncoderModel"],
    "classifier_dropout": 0.0,
    "d_ff": 40,
    "d_kv": 8,
    "d_model": 24,
    "decoder_start_token_id": 0,
    "dropout_rate": 0.1,
    "eos_token_id": 1,
    "feed_forward_proj": "relu",
    "initializer_factor": 1.0,
    "is_encoder_decoder": True,
    "layer_norm_epsilon": 1e-06,
    "model_type": "t5",
    "n_positions": 512,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "num_layers": 2,
    "output_past": True,
    "pad_token_id": 0,
    "relative_attention_max_distance": 20,
    "relative_attention_num_buckets": 8,
    "transformers_version": "4.30.0",
    "use_cache": True,
    "vocab_size": 29,
}
GATED = {**CONFIG, "dense_act_fn": "gelu_new", "feed_forward_proj": "gated-gelu", "is_gated_act": True,
         "layer_norm_epsilon": 1e-3, "model_type": "mt5", "tie_word_embeddings": False}

CASES = {
    "hugging_face_t5_encoder": (
        "Hugging Face T5 encoder", t5, {}, IDS, CONFIG, {}, {"feed_forward_proj": "gated-mish"},
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "decoder.block.0.layer.0.SelfAttention.q.weight",
    ),
    "hugging_face_t5_encoder_gated": (
        "Hugging Face T5 encoder", t5, dict(act="gelu_tanh", gated=True, eps=1e-3), IDS, GATED, {}, {"dense_act_fn": "relu"},
        "encoder.block.1.layer.1.layer_norm.weight", "encoder.block.1.layer.0.SelfAttention.sinks",
    ),
}
