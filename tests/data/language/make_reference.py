#!/usr/bin/python3
"""Small language models with random weights, as their programs save them, and what PyTorch computes
from them in double precision; and a small byte-pair vocabulary with the tokens of awkward texts.

    python3 make_reference.py        writes FOLDER/model.safetensors, config.json, expected.npz and
                                     byte_pairs/ beside this file

Needs python3-torch and python3-regex. The layers are written from the papers' equations: windows are
masks here, sums over them are whole sums.
"""

import collections
import json
import math
import pathlib
import struct

import numpy as np
import regex
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
WIDTH, HEADS, LAYERS, VOCABULARY, CONTEXT, EPS = 16, 2, 3, 29, 24, 1e-5
random = np.random.default_rng(11)


def weight(*shape, scale=None, offset=0.0):
    scale = scale or 1.5 / math.sqrt(shape[-1])
    return torch.from_numpy((offset + scale * random.standard_normal(shape)).astype(np.float32))


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor.numpy(), dtype="<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def norm_tensors(name, width=WIDTH):
    return {
        name + ".weight": weight(width, scale=0.2, offset=1.0),
        name + ".bias": weight(width, scale=0.2),
    }


def norm(x, t, name):
    return F.layer_norm(x, x.shape[-1:], t[name + ".weight"], t[name + ".bias"], EPS)


def heads_of(x):
    return x.unflatten(-1, (HEADS, -1)).transpose(0, 1)  # [H, N, d]


def joined(x):
    return x.transpose(0, 1).flatten(1)


# --- GPT-2 and similar models --------------------


def causal_softmax(q, k):
    scores = heads_of(q) @ heads_of(k).transpose(1, 2) / math.sqrt(q.shape[-1] // HEADS)
    hidden = torch.ones(scores.shape[-2:]).triu(1).bool()
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def gpt(t, ids, names, activation, project, qkv):
    """`project(x, tensors, name)` is a linear layer as the family stores it."""
    x = t[names["tokens"]][ids] + t[names["positions"]].reshape(-1, WIDTH)[: len(ids)]
    maps = []
    for layer in range(LAYERS):
        block = names["block"].format(layer)
        q, k, v = qkv(norm(x, t, block + names["norm1"]), block)
        maps.append(causal_softmax(q, k))
        x = x + project(joined(maps[-1] @ heads_of(v)), t, block + names["out"])
        hidden = activation(project(norm(x, t, block + names["norm2"]), t, block + names["mlp1"]))
        x = x + project(hidden, t, block + names["mlp2"])
    x = norm(x, t, names["final"])
    return x @ t[names["head"]].T, torch.stack(maps)


def linear(x, t, name):
    return F.linear(x, t[name + ".weight"], t.get(name + ".bias"))


def conv1d(x, t, name):
    return x @ t[name + ".weight"] + t[name + ".bias"]


def gpt2_tensors(transposed, bias, prefix="transformer."):
    t = {"wte.weight": weight(VOCABULARY, WIDTH), "wpe.weight": weight(CONTEXT, WIDTH)}
    for layer in range(LAYERS):
        block = f"h.{layer}."
        t |= norm_tensors(block + "ln_1") | norm_tensors(block + "ln_2")
        for name, outputs, inputs in (
            ("attn.c_attn", 3 * WIDTH, WIDTH),
            ("attn.c_proj", WIDTH, WIDTH),
            ("mlp.c_fc", 4 * WIDTH, WIDTH),
            ("mlp.c_proj", WIDTH, 4 * WIDTH),
        ):
            matrix = weight(outputs, inputs)
            t[block + name + ".weight"] = matrix.T.contiguous() if transposed else matrix
            if bias:
                t[block + name + ".bias"] = weight(outputs, scale=0.2)
    t |= norm_tensors("ln_f")
    return {prefix + name: tensor for name, tensor in t.items()}


def gpt2_names(prefix, head):
    return {
        "tokens": prefix + "wte.weight",
        "positions": prefix + "wpe.weight",
        "block": prefix + "h.{}.",
        "norm1": "ln_1",
        "norm2": "ln_2",
        "out": "attn.c_proj",
        "mlp1": "mlp.c_fc",
        "mlp2": "mlp.c_proj",
        "final": prefix + "ln_f",
        "head": head,
    }


# --- Fastformer-LM --------------------


def pooled(x, vector, window, scale):
    """Eq. 9: every token's mean of the tokens in its window, weights exp(w·x · scale)."""
    logits = (heads_of(x) * vector[:, None]).sum(-1) * scale  # [H, N]
    back = torch.arange(len(x))[:, None] - torch.arange(len(x))[None]
    seen = (back >= 0) & (back < window)
    weights = logits[:, None].expand(-1, len(x), -1).masked_fill(~seen, -torch.inf).softmax(-1)
    return joined(weights @ heads_of(x)), weights, logits


def per_head(x):
    """The later code's normalisation: mean and sample deviation of each head."""
    x = x.unflatten(-1, (HEADS, -1))
    return ((x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)).flatten(-2)


def fastformer(t, ids, windows, later):
    width = WIDTH // HEADS
    x = t["word_embedding.weight"][ids]
    x = x + t["fastformer_model.position_embeddings.weight"][: len(ids)]
    if not later:
        x = norm(x, t, "fastformer_model.LayerNorm")
    maps, key_maps, logits = [], [], []
    for layer, window in enumerate(windows):
        block = f"fastformer_model.decoders.{layer}."
        a = block + "attention."
        h = norm(x, t, a + "attn_norm")
        q, k, v = (linear(h, t, a + name) for name in ("Wquery", "Wkeys", "Wvalues"))
        w_query, w_key = (t[a + name].reshape(HEADS, width) for name in ("query_attn", "key_attn"))
        if later:
            scale = 7 / width
            g, weights, one = pooled(per_head(q), per_head(w_query.flatten()).reshape(HEADS, -1), window, scale)
            p = per_head(g * k)
            g2, weights2, two = pooled(p, per_head(w_key.flatten()).reshape(HEADS, -1), window, scale)
            x = x + g2 * v
        else:
            scale = 1 / math.sqrt(width)
            g, weights, one = pooled(q, w_query, window, scale)
            r = h + linear(g, t, a + "attn_proj") * k
            g2, weights2, two = pooled(norm(r, t, a + "mid_norm"), w_key, window, scale)
            x = r + g2 * v
        maps.append(weights)
        key_maps.append(weights2)
        logits.append(torch.stack([one, two]))
        x = x + linear(F.gelu(linear(norm(x, t, block + "boom_norm"), t, block + "boom")), t, block + "unboom")
    if later:
        x = norm(x, t, "last_norm")
    scores = F.linear(x, t["word_embedding.weight"], t["proj_logits.bias"])
    scores = scores if later else scores / math.sqrt(WIDTH)
    return scores, torch.stack(maps), torch.stack(key_maps), torch.stack(logits)


def fastformer_tensors(later):
    t = {
        "word_embedding.weight": weight(VOCABULARY, WIDTH),
        "fastformer_model.position_embeddings.weight": weight(CONTEXT, WIDTH),
    }
    if not later:
        t |= norm_tensors("fastformer_model.LayerNorm")
    for layer in range(LAYERS):
        block = f"fastformer_model.decoders.{layer}."
        a = block + "attention."
        vector = (HEADS, WIDTH // HEADS) if later else (WIDTH,)
        t[a + "query_attn"], t[a + "key_attn"] = weight(*vector, scale=2.0), weight(*vector, scale=2.0)
        for name in ("Wquery", "Wkeys", "Wvalues") + (() if later else ("attn_proj",)):
            t[a + name + ".weight"] = weight(WIDTH, WIDTH)
        t |= norm_tensors(a + "attn_norm")
        if not later:
            t |= norm_tensors(a + "mid_norm")
        t[block + "boom.weight"] = weight(4 * WIDTH, WIDTH)
        t[block + "unboom.weight"] = weight(WIDTH, 4 * WIDTH)
        t |= norm_tensors(block + "boom_norm")
    if later:
        t |= norm_tensors("last_norm")
    t["proj_logits.weight"] = t["word_embedding.weight"]
    t["proj_logits.bias"] = weight(VOCABULARY, scale=0.3)
    return t


# --- output --------------------


def write(name, tensors, config, run):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    write_safetensors(folder / "model.safetensors", tensors)
    if config:
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    ids = random.integers(0, VOCABULARY, 19)
    results = run({k: v.double() for k, v in tensors.items()}, torch.from_numpy(ids))
    arrays = dict(zip(("logits", "maps", "key_maps", "importance_logits"), results))
    np.savez_compressed(folder / "expected.npz", ids=ids, **{k: v.numpy() for k, v in arrays.items()})
    print(name, {k: tuple(v.shape) for k, v in arrays.items()})


def write_models():
    def fused(project, t):
        return lambda h, block: project(h, t, block + "attn.c_attn").split(WIDTH, -1)

    tanh = lambda x: F.gelu(x, approximate="tanh")
    write(
        "gpt2",
        gpt2_tensors(True, True, ""),
        {"n_head": HEADS, "layer_norm_epsilon": EPS, "activation_function": "gelu_new"},
        lambda t, ids: gpt(t, ids, gpt2_names("", "wte.weight"), tanh, conv1d, fused(conv1d, t)),
    )
    nano = gpt2_tensors(False, False) | {"lm_head.weight": weight(VOCABULARY, WIDTH)}
    write(
        "nanogpt",
        nano,
        {"n_head": HEADS},
        lambda t, ids: gpt(
            t, ids, gpt2_names("transformer.", "lm_head.weight"), F.gelu, linear, fused(linear, t)
        ),
    )
    early = {"tok_emb.weight": weight(VOCABULARY, WIDTH), "pos_emb": weight(1, CONTEXT, WIDTH)}
    for layer in range(LAYERS):
        block = f"blocks.{layer}."
        early |= norm_tensors(block + "ln1") | norm_tensors(block + "ln2")
        for part, outputs, inputs in (
            ("attn.query", WIDTH, WIDTH),
            ("attn.key", WIDTH, WIDTH),
            ("attn.value", WIDTH, WIDTH),
            ("attn.proj", WIDTH, WIDTH),
            ("mlp.0", 4 * WIDTH, WIDTH),
            ("mlp.2", WIDTH, 4 * WIDTH),
        ):
            early[block + part + ".weight"] = weight(outputs, inputs)
            early[block + part + ".bias"] = weight(outputs, scale=0.2)
        early[block + "attn.mask"] = torch.ones(1, 1, CONTEXT, CONTEXT).tril()
    early |= norm_tensors("ln_f") | {"head.weight": weight(VOCABULARY, WIDTH)}
    names = {
        "tokens": "tok_emb.weight",
        "positions": "pos_emb",
        "block": "blocks.{}.",
        "norm1": "ln1",
        "norm2": "ln2",
        "out": "attn.proj",
        "mlp1": "mlp.0",
        "mlp2": "mlp.2",
        "final": "ln_f",
        "head": "head.weight",
    }
    write(
        "mingpt_2020",
        early,
        {"n_head": HEADS},
        lambda t, ids: gpt(
            t,
            ids,
            names,
            F.gelu,
            linear,
            lambda h, block: [linear(h, t, block + "attn." + p) for p in ("query", "key", "value")],
        ),
    )
    windows = [2, 5, CONTEXT]
    config = {"n_heads": HEADS, "window_sizes": windows, "n_positions": CONTEXT}
    for name, later in (("fastformer", False), ("fastformer_later", True)):
        write(name, fastformer_tensors(later), config, lambda t, ids: fastformer(t, ids, windows, later))


# --- byte pairs --------------------

WORDS = regex.compile(
    r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
)
LEARNT_FROM = (
    "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer the slings "
    "and arrows of outrageous fortune, or to take arms against a sea of troubles. I'll see thee's "
    "hereafter; we've 12 and 1234 of these. Größe, naïveté, Ελλάδα, Привет мир. "
) * 3
TEXTS = [
    "To be, or not to be",
    "  two  spaces, tabs\tand\n\nlines   \n",
    "I'll see what they've got; it's 12345 o'clock!?",
    "Größe naïve — Ελληνικά Привет, мир",
    "日本語 ٣٤٥ ½ ²",
    "emoji 😀👍🏽 and e\u0301 a\u00a0b\u2003c\u200bd",
    "\u0000\u0007 control\r\nbytes \x1c\x1d\x85 \u2028 end ",
    "<|endoftext|>To be<|endoftext|>",
    "''s 'S 'Re don't",
    "",
    " ",
    "\n",
]


def byte_signs():
    printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
    signs, following = {}, 256
    for byte in range(256):
        if byte in printing:
            signs[byte] = chr(byte)
        else:
            signs[byte] = chr(following)
            following += 1
    return signs


def merged(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == pair:
            out.append(parts[i] + parts[i + 1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


def write_byte_pairs(merges_wanted=160):
    signs = byte_signs()
    spell = lambda word: [signs[b] for b in word.encode()]
    words = [spell(word) for word in WORDS.findall(LEARNT_FROM)]
    merges = []
    for _ in range(merges_wanted):
        counts = collections.Counter(pair for word in words for pair in zip(word, word[1:]))
        if not counts:
            break
        pair = min(counts, key=lambda p: (-counts[p], p))
        merges.append(pair)
        words = [merged(word, pair) for word in words]
    tokens = [signs[b] for b in range(256)] + ["".join(pair) for pair in merges] + ["<|endoftext|>"]
    vocabulary = {token: i for i, token in enumerate(tokens)}

    def encode(text):
        ids = []
        for piece in regex.split(r"(<\|endoftext\|>)", text):
            if piece == "<|endoftext|>":
                ids.append(vocabulary[piece])
                continue
            for word in WORDS.findall(piece):
                parts = spell(word)
                for pair in merges:  # in the order of training
                    parts = merged(parts, pair)
                ids += [vocabulary[part] for part in parts]
        return ids

    folder = HERE / "byte_pairs"
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text(
        "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges), encoding="utf-8"
    )
    examples = [{"text": text, "ids": encode(text)} for text in TEXTS]
    (folder / "expected.json").write_text(json.dumps(examples, indent=1) + "\n")


torch.set_num_threads(1)
write_models()
write_byte_pairs()
