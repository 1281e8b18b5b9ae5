#!/usr/bin/python3
"""GGUF files as llama.cpp's converter writes them, of the weights of the references in Hugging Face's names:
gguf/NAME.gguf, and gguf/NAME.npz with what PyTorch computes where families/ has it not.

    python3 make_gguf_models.py

Names, keys, which rows are permuted and what is divided are those of ggml-org/llama.cpp:
gguf-py/gguf/constants.py and the converters in conversion/ (llama, qwen, gemma, gpt_oss, deepseek).
"""

import importlib
import pathlib
import re
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "checkpoint"))

from make_families import IDS, Weights, hashed_bytes  # noqa: E402
from make_gguf import BOOL, F32, I32, LIST, TEXT, U32, write  # noqa: E402
from references.deepseek import deepseek  # noqa: E402
from references.gemma import gemma, gemma2, gemma3  # noqa: E402
from references.gpt_oss import gpt_oss  # noqa: E402
from references.llama import llama, llama3  # noqa: E402
from references.mixtures import MIXTRAL_NAMES, QWEN_NAMES, experts  # noqa: E402
from references.parts import rotary  # noqa: E402

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "block_sparse_moe.gate": "ffn_gate_inp",
    "mlp.gate": "ffn_gate_inp",
    "mlp.router": "ffn_gate_inp",
    "self_attn.q_a_proj": "attn_q_a",
    "self_attn.q_a_layernorm": "attn_q_a_norm",
    "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa",
    "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.kv_b_proj": "attn_kv_b",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp",
    "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp",
}
EXPERT = re.compile(r"(?:block_sparse_moe|mlp)\.experts\.(\d+)\.(?:(w\d)|(\w+)_proj)")
EXPERT_PARTS = {"w1": "gate", "w2": "down", "w3": "up"}
GEMMA2_NAMES = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
GPT_OSS_NAMES = {"post_attention_layernorm": "post_attention_norm"}
Q8_0, MXFP4 = 8, 39


def gguf_name(name, names):
    module, kind = name.rsplit(".", 1)
    prefix = "model.layers."
    if module.startswith(prefix):
        layer, part = module[len(prefix):].split(".", 1)
        if expert := EXPERT.fullmatch(part):
            return f"blk.{layer}.ffn_{EXPERT_PARTS.get(expert[2], expert[3])}.{expert[1]}.{kind}"
        return f"blk.{layer}.{names[part]}.{kind}"
    return f"{names[module]}.{kind}"


def to_q8_0(rows):
    """Blocks of 32: a scale in half precision, 32 bytes."""
    blocks = rows.reshape(-1, 32)
    scales = (np.abs(blocks).max(1) / 127).astype(np.float16)
    wide = scales.astype(np.float32)[:, None]
    codes = np.round(np.divide(blocks, wide, where=wide > 0, out=np.zeros_like(blocks))).astype(np.int8)
    data = b"".join(s.tobytes() + c.tobytes() for s, c in zip(scales, codes))
    return data, (wide * codes).reshape(rows.shape)


def to_mxfp4(powers, pairs):
    """Blocks of 32: a byte of the power of 2, and the numbers of 4 bits, of which 0 and 16 share the first byte."""
    codes = np.stack([pairs % 16, pairs // 16], -1).reshape(*pairs.shape[:-1], 32)
    blocks = np.concatenate([powers[..., None], codes[..., :16] + 16 * codes[..., 16:]], -1).astype(np.uint8)
    return (*codes.shape[:-2], 32 * codes.shape[-2]), MXFP4, blocks.tobytes()


def gpt_oss_experts(w, full, layer):
    """The tensors of one of gpt-oss's stacks of experts, whose gates and hidden layers alternate; none for others."""
    part = re.fullmatch(r".*mlp\.experts\.(gate_up|down)_proj_(bias|blocks|scales)", full)
    if part is None or part[2] == "scales":
        return {} if part else None
    if part[2] == "blocks":
        arrays = [hashed_bytes(name, w.shapes[name]) for name in (full.replace("_blocks", "_scales"), full)]
    else:
        arrays = [Weights.__call__(w, full, *w.shapes[full]).float().numpy()]
    kind = "bias" if part[2] == "bias" else "weight"
    store = lambda *all: to_mxfp4(*all) if len(all) > 1 else (all[0].shape, 0, np.ascontiguousarray(all[0]).tobytes())
    if part[1] == "down":
        return {f"blk.{layer}.ffn_down_exps.{kind}": store(*arrays)}
    return {f"blk.{layer}.ffn_{name}_exps.{kind}": store(*(a[:, k::2] for a in arrays))
            for k, name in enumerate(("gate", "up"))}


class Kept(Weights):
    """Matrices as they are after they were stored."""

    def __init__(self, quantised):
        super().__init__()
        self.quantised = quantised

    def __call__(self, name, *shape):
        tensor = super().__call__(name, *shape)
        if self.quantised and tensor.dim() == 2:
            return torch.from_numpy(to_q8_0(tensor.float().numpy())[1]).double()
        return tensor


def permuted(rows, heads):
    """The halves of each head's channels in turns, for neighbours are turned together."""
    return rows.reshape(heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


# The vocabulary has <s>, letters and a few pairs of them for byte pairs in GPT-2's split.
TOKENS = ["<s>", *"abcdefghijklmnopqrst", "Ġ", "th", "Ġt", "Ġth", "Ġthe", "at", ".", "<|more|>"]
MERGES = ["t h", "Ġ t", "Ġ th", "Ġth e", "a t"]


def stacked(tensors):
    """The tensors with those of all experts in one: blk.0.ffn_up.3 in blk.0.ffn_up_exps."""
    whole = {}
    for name, (shape, kind, data) in tensors.items():
        expert = re.fullmatch(r"(blk\.\d+\.ffn_\w+)\.(\d+)\.weight", name)
        if expert is None:
            whole[name] = shape, kind, data
            continue
        so_far = whole.setdefault(expert[1] + "_exps.weight", ((0, *shape), kind, b""))
        assert so_far[0][0] == int(expert[2])
        whole[expert[1] + "_exps.weight"] = (so_far[0][0] + 1, *shape), kind, so_far[2] + data
    return whole


def make(name, of, arch, keys, arguments, names, quantised=False, freqs=None, reference=None, stacks=True,
         splits=None):
    w, maps = Kept(quantised), []
    output = of(w, IDS, maps, **arguments)
    heads = {"attn_q": 4, "attn_k": arguments.get("key_heads", 2)}
    tensors = {}
    for full, shape in w.shapes.items():
        layer = full.split(".")[2] if full.startswith("model.layers.") else None
        if (several := gpt_oss_experts(w, full, layer)) is not None:
            tensors |= several
            continue
        values = Weights.__call__(w, full, *shape).float().numpy()
        if full.endswith((".sinks", ".e_score_correction_bias")):
            ours = {"s": f"blk.{layer}.attn_sinks.weight", "e": f"blk.{layer}.exp_probs_b.bias"}[full.rsplit(".", 1)[1][0]]
        else:
            ours = gguf_name(full, names)
        part = ours.split(".")[-2]
        if arch == "llama" and part in heads:
            values = permuted(values, heads[part])
        if arch.startswith("gemma") and part.endswith("norm"):
            values = values + np.float32(1)
        if part == "attn_kv_b" and splits:
            keys_, values_ = np.split(values.reshape(4, -1, values.shape[1]), [splits], 1)
            for name_, array in (("attn_k_b", keys_.swapaxes(1, 2)), ("attn_v_b", values_)):
                tensors[ours.replace(part, name_)] = (array.shape, 0, np.ascontiguousarray(array).tobytes())
            continue
        values = np.ascontiguousarray(values)
        if quantised and values.ndim == 2:
            tensors[ours] = (values.shape, Q8_0, to_q8_0(values)[0])
        else:
            tensors[ours] = (values.shape, 0, values.tobytes())
    if stacks:
        tensors = stacked(tensors)
    if freqs is not None:
        tensors["rope_freqs.weight"] = (freqs.shape, 0, freqs.astype(np.float32).tobytes())
    table = {
        "general.architecture": (TEXT, arch),
        "general.name": (TEXT, name),
        "general.file_type": (U32, 7 if quantised else 0),
        **{f"{arch}.{key}": value for key, value in keys.items()},
        "tokenizer.ggml.model": (TEXT, "gpt2"),
        "tokenizer.ggml.pre": (TEXT, "gpt-2"),
        "tokenizer.ggml.tokens": (LIST, (TEXT, TOKENS)),
        "tokenizer.ggml.token_type": (LIST, (I32, [3, *[1] * (len(TOKENS) - 2), 3])),
        "tokenizer.ggml.merges": (LIST, (TEXT, MERGES)),
        "tokenizer.ggml.bos_token_id": (U32, 0),
        "tokenizer.ggml.add_bos_token": (BOOL, True),
    }
    assert len(TOKENS) == 29
    write(HERE / "gguf" / f"{name}.gguf", table, tensors)
    if reference:
        return
    rows = [0, len(IDS) // 2, len(IDS) - 1]
    np.savez_compressed(
        HERE / "gguf" / f"{name}.npz",
        output=output.numpy().astype(np.float32),
        rows=np.array(rows),
        map_rows=np.stack([m[:, rows].numpy() for m in maps]).astype(np.float32),
    )


def keys_of(width, hidden, heads, key_heads, head_width, layers, theta, eps, context, **more):
    return {
        "context_length": (U32, context),
        "embedding_length": (U32, width),
        "block_count": (U32, layers),
        "feed_forward_length": (U32, hidden),
        "attention.head_count": (U32, heads),
        "attention.head_count_kv": (U32, key_heads),
        "attention.layer_norm_rms_epsilon": (F32, eps),
        "rope.freq_base": (F32, theta),
        "rope.dimension_count": (U32, head_width),
        **{key.replace("__", "."): value for key, value in more.items()},
    }


def main():
    (HERE / "gguf").mkdir(exist_ok=True)
    lengths = lambda d: {"attention__key_length": (U32, d), "attention__value_length": (U32, d)}
    make("llama", llama, "llama", keys_of(32, 48, 4, 2, 8, 2, 10000, 1e-6, 64, vocab_size=(U32, 29)), {}, NAMES,
         reference="hugging_face_llama")
    frequencies = rotary(12, 500.0)
    factors = (frequencies / llama3(frequencies, 8.0, 1.0, 4.0, 16)).numpy()
    make("llama3", llama, "llama", keys_of(32, 48, 4, 2, 12, 2, 500, 1e-5, 64, **lengths(12)),
         dict(theta=500.0, eps=1e-5, head_width=12, tied=True, scaling=lambda f: llama3(f, 8.0, 1.0, 4.0, 16)),
         NAMES, freqs=factors, reference="hugging_face_llama3")
    make("llama_q8_0", llama, "llama", keys_of(32, 64, 4, 2, 8, 1, 10000, 1e-6, 64), dict(hidden=64, layers=1), NAMES,
         quantised=True)
    scaled = {"rope__scaling__type": (TEXT, "linear"), "rope__scaling__factor": (F32, 4)}
    make("qwen2", llama, "qwen2", keys_of(32, 48, 4, 2, 8, 1, 1e6, 1e-6, 64, **scaled),
         dict(layers=1, theta=1e6, biases=True, out_bias=False, scaling=lambda f: f / 4), NAMES)
    make("qwen3", llama, "qwen3", keys_of(32, 48, 4, 2, 12, 2, 1e6, 1e-6, 64, **lengths(12)),
         dict(head_width=12, theta=1e6, head_norms=True), NAMES, reference="hugging_face_qwen3")
    make("gemma", gemma, "gemma", keys_of(24, 40, 4, 1, 8, 1, 10000, 1e-3, 64, **lengths(8)), dict(key_heads=1), NAMES,
         reference="hugging_face_gemma")
    window = {"attention__sliding_window": (U32, 5), "attn_logit_softcapping": (F32, 2),
              "final_logit_softcapping": (F32, 3)}
    make("gemma2", gemma2, "gemma2", keys_of(24, 40, 4, 2, 8, 2, 10000, 1e-6, 64, **window, **lengths(8)),
         dict(scalar=8.0, layers=2), {**NAMES, **GEMMA2_NAMES})
    count = lambda e, k, **more: {"expert_count": (U32, e), "expert_used_count": (U32, k), **more}
    make("mixtral", llama, "llama", keys_of(32, 24, 4, 2, 12, 2, 10000, 1e-5, 64, **count(4, 2), **lengths(12)),
         dict(head_width=12, eps=1e-5, feed_forward=experts(4, 2, 24, MIXTRAL_NAMES)), NAMES,
         reference="hugging_face_mixtral")
    for form, stacks in (("", True), ("_apart", False)):
        make("mixtral_q8_0" + form, llama, "llama", keys_of(32, 64, 4, 2, 8, 1, 10000, 1e-6, 64, **count(3, 2)),
             dict(layers=1, feed_forward=experts(3, 2, 64, MIXTRAL_NAMES)), NAMES, quantised=True, stacks=stacks,
             reference=form)
    make("gemma3", gemma3, "gemma3",
         keys_of(24, 40, 4, 2, 8, 6, 700, 1e-6, 64, attention__sliding_window=(U32, 5), rope__freq_base_swa=(F32, 20),
                 rope__scaling__type=(TEXT, "linear"), rope__scaling__factor=(F32, 4), **lengths(8)),
         dict(layers=6, scalar=8.0, local=range(5)), {**NAMES, **GEMMA2_NAMES})
    yarn = lambda factor, context: {
        "rope__scaling__type": (TEXT, "yarn"), "rope__scaling__factor": (F32, factor),
        "rope__scaling__original_context_length": (U32, context)}
    make("gpt_oss_mxfp4", gpt_oss, "gpt-oss",
         keys_of(64, 32, 4, 2, 24, 2, 150000, 1e-5, 256, attention__sliding_window=(U32, 6), **lengths(24), **yarn(32, 8),
                 **count(4, 3, expert_feed_forward_length=(U32, 32))),
         dict(quantised=True, count=4, active=3, layers=2), {**NAMES, **GPT_OSS_NAMES})
    latent = dict(rope__scaling__yarn_log_multiplier=(F32, 0.0707), leading_dense_block_count=(U32, 1),
                  expert_feed_forward_length=(U32, 12), expert_shared_count=(U32, 2), attention__kv_lora_rank=(U32, 20),
                  vocab_size=(U32, 29))
    make("deepseek2", deepseek, "deepseek2",
         keys_of(32, 36, 4, 4, 6, 3, 10000, 1e-5, 64, **yarn(40, 16), **latent, expert_weights_scale=(F32, 1),
                 attention__key_length=(U32, 16), attention__value_length=(U32, 7), **count(6, 3)),
         dict(scaling=dict(factor=40.0, context=16), mscale=0.707, mscale_all=0.707), NAMES,
         reference="hugging_face_deepseek_v2_lite")
    latent["rope__scaling__yarn_log_multiplier"] = (F32, 0.1)
    make("deepseek2_apart", deepseek, "deepseek2",
         keys_of(32, 36, 4, 1, 6, 2, 10000, 1e-5, 64, **yarn(40, 16), **latent, expert_weights_scale=(F32, 2.5),
                 attention__q_lora_rank=(U32, 14), attention__key_length=(U32, 26), attention__value_length=(U32, 20),
                 attention__key_length_mla=(U32, 16), attention__value_length_mla=(U32, 7), expert_gating_func=(U32, 2),
                 expert_weights_norm=(BOOL, True), expert_group_count=(U32, 4), expert_group_used_count=(U32, 2),
                 **count(12, 3)),
         dict(query_latent=14, count=12, groups=4, active_groups=2, corrected=True, sums_to_one=True, scale=2.5, layers=2,
              scaling=dict(factor=40.0, context=16), mscale=1.0, mscale_all=1.0), NAMES, splits=10)
    own = count(6, 3, expert_feed_forward_length=(U32, 20))
    make("qwen3moe", llama, "qwen3moe", keys_of(32, 48, 4, 2, 12, 2, 1e6, 1e-6, 64, **own, **lengths(12)),
         dict(head_width=12, theta=1e6, head_norms=True, feed_forward=experts(6, 3, 20, QWEN_NAMES)), NAMES)


if __name__ == "__main__":
    importlib.import_module("make_gguf_models").main()
