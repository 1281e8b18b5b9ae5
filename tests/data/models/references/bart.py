"""BART, mBART, Marian and Pegasus in Hugging Face's names: the logits of each token of the second text.

From huggingface/transformers, models/bart/modeling_bart.py, models/mbart/modeling_mbart.py,
models/marian/modeling_marian.py and models/pegasus/modeling_pegasus.py.
"""

import math

import numpy as np
import torch

from make_families import ACTIVATIONS, IDS, attend, heads_of


def sinusoids(count, width):
    """All sines before all cosines."""
    angles = np.array([[p / 10000 ** (2 * (j // 2) / width) for j in range(width)] for p in range(count)])
    return torch.from_numpy(np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], 1))


class Bart:
    def __init__(self, w, maps, *, width=24, heads=3, decoder_heads=2, hidden=40, decoder_hidden=32, layers=2, blocks=1,
                 vocabulary=29, own_vocabulary=0, context=30, before=False, act="gelu", scaled=False, positions="learned", norms=True,
                 head=False):
        self.__dict__.update(locals())
        if own_vocabulary:
            self.tables = {"encoder": w("model.encoder.embed_tokens.weight", vocabulary, width),
                           "decoder": w("model.decoder.embed_tokens.weight", own_vocabulary, width)}
        else:
            shared = w("model.shared.weight", vocabulary, width)
            self.tables = {"encoder": shared, "decoder": shared}

    def embed(self, side, ids):
        x = self.tables[side][ids] * (math.sqrt(self.width) if self.scaled else 1)
        if self.positions == "learned":
            x = x + self.w(f"model.{side}.embed_positions.weight", self.context + 2, self.width)[2 : 2 + len(ids)]
        elif self.positions == "stored":
            x = x + self.w(f"model.{side}.embed_positions.weight", self.context, self.width)[: len(ids)]
        else:
            x = x + sinusoids(len(ids), self.width)
        return self.w.norm(x, f"model.{side}.layernorm_embedding", 1e-5) if self.norms else x

    def branch(self, x, norm, compute):
        normed = self.w.norm(x, norm, 1e-5) if self.before else x
        x = x + compute(normed)
        return x if self.before else self.w.norm(x, norm, 1e-5)

    def attention(self, name, x, source, heads, causal=False):
        q, k, v = (heads_of(self.w.linear(of, f"{name}.{part}_proj", self.width), heads)
                   for of, part in ((x, "q"), (source, "k"), (source, "v")))
        return self.w.linear(attend(q, k, v, self.maps, causal=causal), name + ".out_proj", self.width)

    def mlp(self, b, x, hidden):
        return self.w.linear(ACTIVATIONS[self.act](self.w.linear(x, b + "fc1", hidden)), b + "fc2", self.width)

    def ends(self, side, x):
        return self.w.norm(x, f"model.{side}.layer_norm", 1e-5) if self.before else x

    def __call__(self, ids, second):
        x = self.embed("encoder", ids)
        for i in range(self.layers):
            b = f"model.encoder.layers.{i}."
            x = self.branch(x, b + "self_attn_layer_norm", lambda h: self.attention(b + "self_attn", h, h, self.heads))
            x = self.branch(x, b + "final_layer_norm", lambda h: self.mlp(b, h, self.hidden))
        memory = self.ends("encoder", x)
        y = self.embed("decoder", second)
        for i in range(self.blocks):
            b = f"model.decoder.layers.{i}."
            y = self.branch(y, b + "self_attn_layer_norm",
                            lambda h: self.attention(b + "self_attn", h, h, self.decoder_heads, causal=True))
            y = self.branch(y, b + "encoder_attn_layer_norm",
                            lambda h: self.attention(b + "encoder_attn", h, memory, self.decoder_heads))
            y = self.branch(y, b + "final_layer_norm", lambda h: self.mlp(b, h, self.decoder_hidden))
        y = self.ends("decoder", y)
        count = self.own_vocabulary or self.vocabulary
        logits = self.w.linear(y, "lm_head", count, bias=False) if self.head else y @ self.tables["decoder"].T
        return logits + self.w("final_logits_bias", 1, count)[0]


def bart(w, ids, maps, **what):
    return Bart(w, maps, **what)(*ids)


def config(kind, **more):
    return {
        "activation_function": "gelu",
        "architectures": ["BartForConditionalGeneration"],
        "attention_dropout": 0.1,
        "bos_token_id": 0,
        "classifier_dropout": 0.0,
        "d_model": 24,
        "decoder_attention_heads": 2,
        "decoder_ffn_dim": 32,
        "decoder_layerdrop": 0.0,
        "decoder_layers": 1,
        "decoder_start_token_id": 2,
        "dropout": 0.1,
        "encoder_attention_heads": 3,
        "encoder_ffn_dim": 40,
        "encoder_layerdrop": 0.0,
        "encoder_layers": 2,
        "eos_token_id": 2,
        "forced_eos_token_id": 2,
        "init_std": 0.02,
        "is_encoder_decoder": True,
        "max_position_embeddings": 30,
        "model_type": kind,
        "num_hidden_layers": 2,
        "pad_token_id": 1,
        "scale_embedding": False,
        "transformers_version": "4.30.0",
        "use_cache": True,
        "vocab_size": 29,
        **more,
    }


MARIAN = config("marian", activation_function="swish", scale_embedding=True, static_position_embeddings=True,
                normalize_before=False, normalize_embedding=False, decoder_vocab_size=29, bad_words_ids=[[28]])
BOTH = (IDS, torch.tensor([2, 0, 28, 3, 3, 11]))

CASES = {
    "hugging_face_bart": (
        "Hugging Face BART", bart, {}, BOTH, config("bart"), {}, {"add_bias_logits": True},
        "model.decoder.layers.0.encoder_attn.k_proj.weight", "model.decoder.layers.0.encoder_attn.bias_k",
    ),
    "hugging_face_mbart": (
        "Hugging Face BART", bart, dict(before=True, scaled=True, act="relu", head=True), BOTH,
        config("mbart", scale_embedding=True, activation_function="relu", tie_word_embeddings=False, normalize_before=True),
        {}, {"normalize_before": False}, "model.decoder.layer_norm.weight", "model.encoder.layers.0.self_attn.gate",
    ),
    "hugging_face_marian": (
        "Hugging Face Marian", bart, dict(act="silu", scaled=True, positions="sines", norms=False), BOTH, MARIAN, {},
        {"add_bias_logits": True}, "model.decoder.layers.0.encoder_attn.out_proj.bias", "model.encoder.layernorm_embedding.weight",
    ),
    "hugging_face_marian_two_vocabularies": (
        "Hugging Face Marian", bart,
        dict(act="silu", scaled=True, positions="sines", norms=False, own_vocabulary=23),
        (IDS, torch.tensor([2, 0, 22, 3, 3, 11])),
        {**MARIAN, "decoder_vocab_size": 23, "share_encoder_decoder_embeddings": False}, {},
        {"normalize_before": True}, "model.decoder.embed_tokens.weight", "model.decoder.layers.0.encoder_attn.bias_k",
    ),
    "hugging_face_marian_stored": (
        "Hugging Face Marian", bart, dict(act="silu", scaled=True, positions="stored", norms=False), BOTH, MARIAN, {},
        {"activation_function": "mish"}, "model.decoder.embed_positions.weight", "model.decoder.layers.0.self_attn.bias_v",
    ),
    "hugging_face_pegasus": (
        "Hugging Face Marian", bart, dict(act="relu", scaled=True, positions="sines", norms=False, before=True), BOTH,
        config("pegasus", activation_function="relu", scale_embedding=True, static_position_embeddings=True,
               add_final_layer_norm=True, normalize_before=True, extra_pos_embeddings=1),
        {}, {"add_bias_logits": True}, "model.encoder.layer_norm.bias", "model.decoder.layers.0.fc3.weight",
    ),
}
