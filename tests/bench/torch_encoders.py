"""BERT-base, or a ViT-L/14 with registers (DINOv2's), with random weights: FOLDER/bert as Hugging Face saves it, FOLDER/vit as
torch.hub has it. Then answers every line on stdin with the seconds, on the wall and of processor time, that a forward takes
that keeps no maps, of 512 tokens or of 224 × 224 pixels, in float32 on all cores; and by how many bytes its memory rose so
far at most. Arguments: FOLDER, bert or vit."""
import json
import os
import pathlib
import resource
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

folder, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
LAYERS, WIDTH = (12, 768) if kind == "bert" else (24, 1024)
HEADS, HIDDEN = WIDTH // 64, 4 * WIDTH
VOCABULARY, TOKENS, PATCHES, REGISTERS = 30522, 512, 256, 4


def module(name, *shape):
    yield name + ".weight", shape
    yield name + ".bias", shape[:1]


def bert_shapes():
    e = "bert.embeddings."
    yield e + "word_embeddings.weight", (VOCABULARY, WIDTH)
    yield e + "position_embeddings.weight", (TOKENS, WIDTH)
    yield e + "token_type_embeddings.weight", (2, WIDTH)
    yield from module(e + "LayerNorm", WIDTH)
    for i in range(LAYERS):
        l = f"bert.encoder.layer.{i}."
        for part in ("query", "key", "value"):
            yield from module(f"{l}attention.self.{part}", WIDTH, WIDTH)
        yield from module(l + "attention.output.dense", WIDTH, WIDTH)
        yield from module(l + "attention.output.LayerNorm", WIDTH)
        yield from module(l + "intermediate.dense", HIDDEN, WIDTH)
        yield from module(l + "output.dense", WIDTH, HIDDEN)
        yield from module(l + "output.LayerNorm", WIDTH)


def vit_shapes():
    yield "cls_token", (1, 1, WIDTH)
    yield "register_tokens", (1, REGISTERS, WIDTH)
    yield "mask_token", (1, WIDTH)
    yield "pos_embed", (1, 1 + PATCHES, WIDTH)
    yield from module("patch_embed.proj", WIDTH, 3, 14, 14)
    for i in range(LAYERS):
        b = f"blocks.{i}."
        yield from module(b + "norm1", WIDTH)
        yield from module(b + "attn.qkv", 3 * WIDTH, WIDTH)
        yield from module(b + "attn.proj", WIDTH, WIDTH)
        yield b + "ls1.gamma", (WIDTH,)
        yield from module(b + "norm2", WIDTH)
        yield from module(b + "mlp.fc1", HIDDEN, WIDTH)
        yield from module(b + "mlp.fc2", WIDTH, HIDDEN)
        yield b + "ls2.gamma", (WIDTH,)
    yield from module("norm", WIDTH)


def write(path, shapes):
    """Weights of norms and scales are 1, all else is within ±0.05."""
    random, header, offset = np.random.default_rng(0), {}, 0
    for name, shape in shapes:
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.mkdir(parents=True)
    with open(path / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, about in header.items():
            ones = len(about["shape"]) == 1 and not name.endswith(".bias")
            values = random.random(about["shape"], np.float32) * 0.1 - 0.05
            (np.ones(about["shape"], np.float32) if ones else values).tofile(file)


def read(path):
    with open(path / "model.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return {name: torch.from_numpy(np.fromfile(file, np.float32, int(np.prod(about["shape"])))).view(about["shape"])
                for name, about in header.items()}


def attended(q, k, v):
    q, k, v = (part.view(-1, HEADS, 64).transpose(0, 1) for part in (q, k, v))
    return ((q * 0.125) @ k.transpose(1, 2)).softmax(-1).matmul(v).transpose(0, 1).reshape(-1, WIDTH)


def bert(w, ids):
    linear = lambda x, name: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda x, name: F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"], 1e-12)
    e = "bert.embeddings."
    x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"] + w[e + "token_type_embeddings.weight"][0]
    x = norm(x, e + "LayerNorm")
    for i in range(LAYERS):
        l = f"bert.encoder.layer.{i}."
        h = attended(*(linear(x, f"{l}attention.self.{part}") for part in ("query", "key", "value")))
        x = norm(x + linear(h, l + "attention.output.dense"), l + "attention.output.LayerNorm")
        x = norm(x + linear(F.gelu(linear(x, l + "intermediate.dense")), l + "output.dense"), l + "output.LayerNorm")
    return x


def vit(w, image):
    linear = lambda x, name: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda x, name: F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"], 1e-6)
    x = F.conv2d(image, w["patch_embed.proj.weight"], w["patch_embed.proj.bias"], stride=14)[0].flatten(1).T
    x = torch.cat([w["cls_token"][0], x]) + w["pos_embed"][0]
    x = torch.cat([x[:1], w["register_tokens"][0], x[1:]])
    for i in range(LAYERS):
        b = f"blocks.{i}."
        h = attended(*linear(norm(x, b + "norm1"), b + "attn.qkv").chunk(3, -1))
        x = x + w[b + "ls1.gamma"] * linear(h, b + "attn.proj")
        h = linear(F.gelu(linear(norm(x, b + "norm2"), b + "mlp.fc1")), b + "mlp.fc2")
        x = x + w[b + "ls2.gamma"] * h
    return norm(x, "norm")


def most_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def write_model():
    write(folder / kind, bert_shapes() if kind == "bert" else vit_shapes())
    if kind == "bert":
        config = {"model_type": "bert", "architectures": ["BertModel"], "hidden_act": "gelu", "hidden_size": WIDTH,
                  "intermediate_size": HIDDEN, "layer_norm_eps": 1e-12, "max_position_embeddings": TOKENS,
                  "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "type_vocab_size": 2,
                  "vocab_size": VOCABULARY}
        (folder / kind / "config.json").write_text(json.dumps(config))


if not (folder / kind).exists():
    if os.fork() == 0:  # in a process whose memory is not counted here
        write_model()
        os._exit(0)
    os.wait()
torch.set_num_threads(os.cpu_count())
before = most_memory()
weights = read(folder / kind)
inputs = torch.arange(TOKENS) * 97 % VOCABULARY if kind == "bert" else torch.zeros(1, 3, 224, 224)
with torch.no_grad():
    for _ in sys.stdin:
        start, processor = time.perf_counter(), time.process_time()
        (bert if kind == "bert" else vit)(weights, inputs)
        print(time.perf_counter() - start, time.process_time() - processor, most_memory() - before, flush=True)
