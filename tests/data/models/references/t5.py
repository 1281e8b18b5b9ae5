"""T5's encoder in Hugging Face's names: RMS norms, scores without a scale, biases of the first layer in all of them. What
the last layer gives, before the norm; or, with its decoder, the logits of each token of the second text.

From huggingface/transformers, models/t5/modeling_t5.py.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.parts import rms


def bucket(away, buckets, furthest, causal=False):
    """Of a key `away` tokens behind the query; the later half of the buckets is of keys after it, unless none is seen."""
    half = buckets if causal else buckets // 2
    exact = half // 2
    distance = (-away).clamp(min=0) if causal else away.abs()
    scale = torch.log(distance.clamp(min=1).double() / exact) / math.log(furthest / exact)
    far = (exact + (scale * (half - exact)).long()).clamp(max=half - 1)
    return (0 if causal else (away > 0) * half) + torch.where(distance < exact, distance, far)


def position_bias(w, name, count, buckets, furthest, heads, causal=False):
    places = torch.arange(count)
    away = places[None] - places[:, None]
    bias = w(name + ".relative_attention_bias.weight", buckets, heads)[bucket(away, buckets, furthest, causal)]
    bias = bias.permute(2, 0, 1)
    return bias.masked_fill(away > 0, -math.inf) if causal else bias


def attention(w, name, x, source, bias, heads, head_width, maps):
    """x [N, D] asks `source` [M, D]."""
    q, k, v = (heads_of(w.linear(of, f"{name}.{part}", heads * head_width, bias=False), heads)
               for of, part in ((x, "q"), (source, "k"), (source, "v")))
    maps.append((q @ k.transpose(-1, -2) + bias).softmax(-1))
    return w.linear((maps[-1] @ v).transpose(0, 1).flatten(1), name + ".o", x.shape[-1], bias=False)


def mlp(w, name, x, hidden, act, gated):
    first = ACTIVATIONS[act](w.linear(x, name + (".wi_0" if gated else ".wi"), hidden, bias=False))
    if gated:
        first = first * w.linear(x, name + ".wi_1", hidden, bias=False)
    return w.linear(first, name + ".wo", x.shape[-1], bias=False)


def t5(w, ids, maps, *, width=24, heads=4, head_width=8, hidden=40, layers=2, vocabulary=29, buckets=8, furthest=20,
       eps=1e-6, act="relu", gated=False, blocks=0, head=False):
    """`blocks` of a decoder, which reads ids[1]; `head`: of its own, not the token embedding."""
    ids, second = ids if isinstance(ids, tuple) else (ids, None)
    table = w("shared.weight", vocabulary, width)
    x = table[ids]
    bias = position_bias(w, "encoder.block.0.layer.0.SelfAttention", len(ids), buckets, furthest, heads)
    for i in range(layers):
        b = f"encoder.block.{i}.layer."
        h = rms(w, x, b + "0.layer_norm", eps)
        x = x + attention(w, b + "0.SelfAttention", h, h, bias, heads, head_width, maps)
        x = x + mlp(w, b + "1.DenseReluDense", rms(w, x, b + "1.layer_norm", eps), hidden, act, gated)
    memory = rms(w, x, "encoder.final_layer_norm", eps)
    if not blocks:
        return x
    y = table[second]
    bias = position_bias(w, "decoder.block.0.layer.0.SelfAttention", len(second), buckets, furthest, heads, causal=True)
    for i in range(blocks):
        b = f"decoder.block.{i}.layer."
        h = rms(w, y, b + "0.layer_norm", eps)
        y = y + attention(w, b + "0.SelfAttention", h, h, bias, heads, head_width, maps)
        h = rms(w, y, b + "1.layer_norm", eps)
        y = y + attention(w, b + "1.EncDecAttention", h, memory, 0, heads, head_width, maps)
        y = y + mlp(w, b + "2.DenseReluDense", rms(w, y, b + "2.layer_norm", eps), hidden, act, gated)
    y = rms(w, y, "decoder.final_layer_norm", eps)
    return w.linear(y, "lm_head", vocabulary, bias=False) if head else y * width**-0.5 @ table.T


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

WHOLE = {**CONFIG, "architectures": ["T5ForConditionalGeneration"], "num_decoder_layers": 1}
BOTH = (IDS, torch.tensor([0, 7, 28, 3, 3, 11]))

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
    "hugging_face_t5": (
        "Hugging Face T5", t5, dict(blocks=1), BOTH, WHOLE, {}, {"is_gated_act": True, "feed_forward_proj": "gated-mish"},
        "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", "decoder.block.0.layer.1.gate.weight",
    ),
    "hugging_face_t5_gated": (
        "Hugging Face T5", t5, dict(act="gelu_tanh", gated=True, eps=1e-3, blocks=2, head=True), BOTH, GATED, {},
        {"feed_forward_proj": "gated-mish"}, "decoder.block.1.layer.1.layer_norm.weight",
        "decoder.block.1.layer.1.EncDecAttention.relative_attention_bias.weight",
    ),
}
