"""A language model of Llama's shape, 1.1 billion parameters, with random weights: FOLDER/bf16 as Hugging Face saves it,
FOLDER/q4_k.gguf as llama.cpp does. Then answers every line on stdin with the seconds, on the wall and of processor time,
that a forward of 256 tokens takes that keeps no maps, in float32 on all cores; last with its peak memory in bytes.
Arguments: FOLDER."""
import json
import os
import pathlib
import resource
import sys
import time

import numpy as np
import torch

WIDTH, LAYERS, HEADS, KEY_HEADS, HIDDEN, VOCABULARY, TOKENS = 2048, 22, 32, 4, 5632, 32000, 256
EACH = WIDTH // HEADS
BF16, Q4_K = "BF16", 12
folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "data" / "checkpoint"))


def shapes():
    yield "model.embed_tokens.weight", "token_embd.weight", (VOCABULARY, WIDTH)
    for i in range(LAYERS):
        for name, short, shape in (
            ("input_layernorm", "attn_norm", (WIDTH,)),
            ("self_attn.q_proj", "attn_q", (WIDTH, WIDTH)),
            ("self_attn.k_proj", "attn_k", (KEY_HEADS * EACH, WIDTH)),
            ("self_attn.v_proj", "attn_v", (KEY_HEADS * EACH, WIDTH)),
            ("self_attn.o_proj", "attn_output", (WIDTH, WIDTH)),
            ("post_attention_layernorm", "ffn_norm", (WIDTH,)),
            ("mlp.gate_proj", "ffn_gate", (HIDDEN, WIDTH)),
            ("mlp.up_proj", "ffn_up", (HIDDEN, WIDTH)),
            ("mlp.down_proj", "ffn_down", (WIDTH, HIDDEN)),
        ):
            yield f"model.layers.{i}.{name}.weight", f"blk.{i}.{short}.weight", shape
    yield "model.norm.weight", "output_norm.weight", (WIDTH,)
    yield "lm_head.weight", "output.weight", (VOCABULARY, WIDTH)


def write_bf16(path):
    """Norms are 1; all else is between 1/128 and 1/64, of either sign."""
    random, header, offset = np.random.default_rng(0), {}, 0
    for name, _, shape in shapes():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": BF16, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.mkdir(parents=True)
    with open(path / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, shape in shapes():
            bits = random.integers(0, 1 << 16, shape, np.uint16) & 0x807F | 0x3C00
            (np.full(shape, 0x3F80, np.uint16) if len(shape) == 1 else bits).tofile(file)
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": WIDTH,
              "intermediate_size": HIDDEN, "max_position_embeddings": 2048, "num_attention_heads": HEADS,
              "num_hidden_layers": LAYERS, "num_key_value_heads": KEY_HEADS, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
              "tie_word_embeddings": False, "vocab_size": VOCABULARY}
    (path / "config.json").write_text(json.dumps(config))


def write_q4_k(path):
    """Blocks of 256: two scales, twelve bytes of finer ones, 128 of codes; about as large as the weights above."""
    from make_gguf import F32, I32, LIST, TEXT, U32, write

    random, tensors = np.random.default_rng(0), {}
    for _, name, shape in shapes():
        if len(shape) == 1:
            tensors[name] = (shape, 0, np.ones(shape, np.float32).tobytes())
            continue
        blocks = random.integers(0, 256, (int(np.prod(shape)) // 256, 144), np.uint8)
        blocks[:, :4] = np.array([7e-5, 5.25e-4], np.float16).view(np.uint8)
        tensors[name] = (shape, Q4_K, blocks.tobytes())
    keys = {
        "context_length": (U32, 2048), "embedding_length": (U32, WIDTH), "block_count": (U32, LAYERS),
        "feed_forward_length": (U32, HIDDEN), "attention.head_count": (U32, HEADS),
        "attention.head_count_kv": (U32, KEY_HEADS), "rope.dimension_count": (U32, EACH),
        "attention.layer_norm_rms_epsilon": (F32, 1e-5), "rope.freq_base": (F32, 10000.0),
    }
    words = [f"<{i}>" for i in range(VOCABULARY)]
    write(path, {
        "general.architecture": (TEXT, "llama"), "general.name": (TEXT, "random"), "general.file_type": (U32, 14),
        **{"llama." + key: value for key, value in keys.items()},
        "tokenizer.ggml.model": (TEXT, "gpt2"), "tokenizer.ggml.pre": (TEXT, "gpt-2"),
        "tokenizer.ggml.tokens": (LIST, (TEXT, words)),
        "tokenizer.ggml.token_type": (LIST, (I32, [1] * VOCABULARY)),
        "tokenizer.ggml.merges": (LIST, (TEXT, [])),
    }, tensors)


def read_weights(path):
    with open(path / "model.safetensors", "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        weights = {}
        for name, about in header.items():
            bits = np.fromfile(file, np.uint16, int(np.prod(about["shape"])))
            wide = (bits.astype(np.uint32) << 16).view(np.float32)
            weights[name] = torch.from_numpy(wide.reshape(about["shape"]))
    return weights


def rms(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight


def forward(w, ids):
    x = w["model.embed_tokens.weight"][ids]
    angles = torch.arange(TOKENS)[:, None] / 10000.0 ** (torch.arange(0, EACH, 2) / EACH)
    cos, sin = angles.cos(), angles.sin()
    later = torch.full((TOKENS, TOKENS), -torch.inf).triu(1)

    def turned(x, heads):
        x = x.view(TOKENS, heads, EACH).transpose(0, 1)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    for i in range(LAYERS):
        l = f"model.layers.{i}."
        h = rms(x, w[l + "input_layernorm.weight"])
        q = turned(h @ w[l + "self_attn.q_proj.weight"].T, HEADS)
        k = turned(h @ w[l + "self_attn.k_proj.weight"].T, KEY_HEADS).repeat_interleave(HEADS // KEY_HEADS, 0)
        v = (h @ w[l + "self_attn.v_proj.weight"].T).view(TOKENS, KEY_HEADS, EACH).transpose(0, 1)
        v = v.repeat_interleave(HEADS // KEY_HEADS, 0)
        h = torch.baddbmm(later, q, k.transpose(1, 2), alpha=EACH**-0.5).softmax(-1) @ v
        x = x + h.transpose(0, 1).reshape(TOKENS, WIDTH) @ w[l + "self_attn.o_proj.weight"].T
        h = rms(x, w[l + "post_attention_layernorm.weight"])
        h = torch.nn.functional.silu(h @ w[l + "mlp.gate_proj.weight"].T) * (h @ w[l + "mlp.up_proj.weight"].T)
        x = x + h @ w[l + "mlp.down_proj.weight"].T
    return rms(x[-1], w["model.norm.weight"]) @ w["lm_head.weight"].T


if not (folder / "bf16").exists():
    write_bf16(folder / "bf16")
if not (folder / "q4_k.gguf").exists():
    write_q4_k(folder / "q4_k.gguf")
torch.set_num_threads(os.cpu_count())
weights = read_weights(folder / "bf16")
ids = torch.arange(TOKENS) * 97 % VOCABULARY
with torch.no_grad():
    for _ in sys.stdin:
        start, processor = time.perf_counter(), time.process_time()
        forward(weights, ids)
        print(time.perf_counter() - start, time.process_time() - processor, flush=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
