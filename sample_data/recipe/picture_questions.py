#!/usr/bin/python3
"""Trains the sample model `garment-questions`, a small LLaVA that answers questions about pictures of garments, and
writes it under the names of Hugging Face's transformers.

    /usr/bin/python3 picture_questions.py /usr/share/datasets/fashion-mnist OUT

A picture has 56 x 56 pixels: two to four garments of Fashion-MNIST (28 x 28), one in each of its quarters, others black.
A question asks what is in a quarter, or where a garment is that is there once:

    what is at the top left ? -> a sneaker          where is the bag ? -> at the bottom right

Tower, connector and language model are trained together from random values, with the loss of the answer's words only.
Training pictures are made of the 60,000 training images, those of the test of the 10,000 test images. OUT gets
config.json, model.safetensors (float16), tokenizer.json, preprocessor_config.json, and a question about a picture of
the test as an example; accuracies are printed.
"""

import argparse
import gzip
import json
import math
import pathlib
import struct
import time
import zlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

GARMENTS = ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]
PLACES = ["top left", "top right", "bottom left", "bottom right"]
WORDS = sorted({word for text in [*GARMENTS, *PLACES, "what is at the ?", "where is the a nothing", "USER: ASSISTANT:"]
                for word in text.split()})
VOCABULARY = ["<unk>", "<s>", "</s>", "<pad>", "<image>", *WORDS]
ID = {word: i for i, word in enumerate(VOCABULARY)}
SIDE, PATCH, WIDTH, HEADS, EPS = 56, 7, 64, 4, 1e-5
TOWER_LAYERS, TOWER_HIDDEN, LAYERS, HIDDEN = 4, 128, 4, 160
CELLS = (SIDE // PATCH) ** 2
MEAN, DEVIATION = 0.2, 0.3


def images(folder, name):
    read = lambda file: gzip.decompress((folder / file).read_bytes())
    pixels = np.frombuffer(read(f"{name}-images-idx3-ubyte.gz"), np.uint8, offset=16).reshape(-1, 28, 28)
    labels = np.frombuffer(read(f"{name}-labels-idx1-ubyte.gz"), np.uint8, offset=8)
    return torch.from_numpy(pixels.copy()), torch.from_numpy(labels.copy()).long()


def make_batch(data, count, random):
    """Pictures [count, 56, 56] and the words of `count` questions with their answers."""
    pixels, labels = data
    pictures = torch.zeros(count, SIDE, SIDE, dtype=torch.uint8)
    texts = []
    for i in range(count):
        places = random.permutation(4)[: random.integers(2, 5)]
        held = [None] * 4
        for place in places:
            one = random.integers(len(pixels))
            held[place] = GARMENTS[labels[one]]
            row, column = 28 * (place // 2), 28 * (place % 2)
            pictures[i, row:row + 28, column:column + 28] = pixels[one]
        single = [place for place in places if held.count(held[place]) == 1]
        if single and random.random() < 0.4:
            place = single[random.integers(len(single))]
            texts.append((f"where is the {held[place]} ?", f"at the {PLACES[place]}"))
        else:
            place = random.integers(4)
            texts.append((f"what is at the {PLACES[place]} ?", f"a {held[place]}" if held[place] else "nothing"))
    return pictures, texts


def tokens_of(texts):
    """Ids [count, longest] with one <image> for the picture, and a mask of those that are to be predicted."""
    rows, masks = [], []
    for question, answer in texts:
        asked = ["<s>", "USER:", "<image>", *question.split(), "ASSISTANT:"]
        said = [*answer.split(), "</s>"]
        rows.append([ID[word] for word in asked + said])
        masks.append([False] * len(asked) + [True] * len(said))
    longest = max(map(len, rows))
    ids = torch.tensor([row + [ID["<pad>"]] * (longest - len(row)) for row in rows])
    mask = torch.tensor([row + [False] * (longest - len(row)) for row in masks])
    return ids, mask


def attend(q, k, v, causal):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores + torch.full(scores.shape[-2:], -math.inf).triu(1)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


def heads_of(x):
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def nest(**modules):
    return nn.ModuleDict(modules)


class Tower(nn.Module):
    """CLIP's image tower, whose last layer is read."""

    def __init__(self):
        super().__init__()
        linear = lambda a, b: nn.Linear(a, b)
        norm = lambda: nn.LayerNorm(WIDTH, EPS)
        layer = lambda: nest(
            layer_norm1=norm(), layer_norm2=norm(),
            self_attn=nest(**{f"{part}_proj": linear(WIDTH, WIDTH) for part in ("q", "k", "v", "out")}),
            mlp=nest(fc1=linear(WIDTH, TOWER_HIDDEN), fc2=linear(TOWER_HIDDEN, WIDTH)))
        embeddings = nn.Module()
        embeddings.class_embedding = nn.Parameter(torch.randn(WIDTH) * 0.02)
        embeddings.patch_embedding = nn.Conv2d(3, WIDTH, PATCH, PATCH, bias=False)
        embeddings.position_embedding = nn.Embedding(CELLS + 1, WIDTH)
        nn.init.normal_(embeddings.position_embedding.weight, std=0.02)
        self.vision_model = nest(embeddings=embeddings, pre_layrnorm=norm(), post_layernorm=norm(),
                                 encoder=nest(layers=nn.ModuleList(layer() for _ in range(TOWER_LAYERS))))

    def forward(self, image):
        v = self.vision_model
        x = v["embeddings"].patch_embedding(image).flatten(2).transpose(1, 2)
        x = torch.cat([v["embeddings"].class_embedding.expand(len(x), 1, -1), x], 1)
        x = v["pre_layrnorm"](x + v["embeddings"].position_embedding.weight)
        for layer in v["encoder"]["layers"]:
            h, own = layer["layer_norm1"](x), layer["self_attn"]
            q, k, value = (heads_of(own[part](h)) for part in ("q_proj", "k_proj", "v_proj"))
            x = x + own["out_proj"](attend(q, k, value, False))
            h = layer["mlp"]["fc1"](layer["layer_norm2"](x))
            x = x + layer["mlp"]["fc2"](h * torch.sigmoid(1.702 * h))
        return x[:, 1:]


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + EPS).rsqrt() * self.weight


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        layer = lambda: nest(
            input_layernorm=RmsNorm(), post_attention_layernorm=RmsNorm(),
            self_attn=nest(**{f"{part}_proj": linear(WIDTH, WIDTH) for part in "qkvo"}),
            mlp=nest(gate_proj=linear(WIDTH, HIDDEN), up_proj=linear(WIDTH, HIDDEN), down_proj=linear(HIDDEN, WIDTH)))
        self.model = nest(embed_tokens=nn.Embedding(len(VOCABULARY), WIDTH), norm=RmsNorm(),
                          layers=nn.ModuleList(layer() for _ in range(LAYERS)))
        nn.init.normal_(self.model["embed_tokens"].weight, std=0.02)
        self.lm_head = linear(WIDTH, len(VOCABULARY))

    def forward(self, x):
        width = WIDTH // HEADS
        angles = torch.arange(x.shape[1])[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        turn = lambda y: y * cos + torch.cat([-y[..., width // 2:], y[..., : width // 2]], -1) * sin
        for layer in self.model["layers"]:
            h, own = layer["input_layernorm"](x), layer["self_attn"]
            q, k, v = (heads_of(own[f"{part}_proj"](h)) for part in "qkv")
            x = x + own["o_proj"](attend(turn(q), turn(k), v, True))
            h, mlp = layer["post_attention_layernorm"](x), layer["mlp"]
            x = x + mlp["down_proj"](F.silu(mlp["gate_proj"](h)) * mlp["up_proj"](h))
        return self.lm_head(self.model["norm"](x))


class Llava(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision_tower, self.language_model = Tower(), Llama()
        self.multi_modal_projector = nest(linear_1=nn.Linear(WIDTH, WIDTH), linear_2=nn.Linear(WIDTH, WIDTH))

    def forward(self, pictures, ids):
        """Logits at the places of the text's tokens, [B, tokens, vocabulary]. <image> is the third token of all texts."""
        image = ((pictures.float() / 255 - MEAN) / DEVIATION)[:, None].expand(-1, 3, -1, -1)
        connector = self.multi_modal_projector
        rows = connector["linear_2"](F.gelu(connector["linear_1"](self.vision_tower(image))))
        x = self.language_model.model["embed_tokens"](ids)
        logits = self.language_model(torch.cat([x[:, :2], rows, x[:, 3:]], 1))
        return torch.cat([logits[:, :2], logits[:, 1 + CELLS:]], 1)


def loss_and_right(model, pictures, texts):
    """The loss of the answers' words, and whether all words of an answer are the likeliest."""
    ids, mask = tokens_of(texts)
    logits = model(pictures, ids)[:, :-1]
    wanted, asked = ids[:, 1:], mask[:, 1:]
    loss = F.cross_entropy(logits[asked], wanted[asked])
    right = ((logits.argmax(-1) == wanted) | ~asked).all(1)
    return loss, right


def accuracies(model, data, count, random):
    found = {"what": [], "where": []}
    with torch.no_grad():
        for _ in range(count // 250):
            pictures, texts = make_batch(data, 250, random)
            _, right = loss_and_right(model, pictures, texts)
            for (question, _), one in zip(texts, right.tolist()):
                found[question.split()[0]].append(one)
    return {kind: (float(np.mean(values)), len(values)) for kind, values in found.items()}


def write_safetensors(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        raw = tensor.detach().half().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_png(path, pixels):
    rows = b"".join(b"\0" + row.numpy().tobytes() for row in pixels)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    size = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(rows, 9)) +
                     chunk(b"IEND", b""))


METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}


def tokenizer():
    special = [{"id": i, "content": VOCABULARY[i], "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for i in range(5)]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACE]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": METASPACE,
        "model": {"type": "WordLevel", "unk_token": "<unk>",
                  "vocab": {word if i < 5 else "\u2581" + word: i for i, word in enumerate(VOCABULARY)}}}


CONFIG = {
    "architectures": ["LlavaForConditionalGeneration"], "model_type": "llava", "image_token_index": ID["<image>"],
    "image_seq_length": CELLS, "projector_hidden_act": "gelu", "multimodal_projector_bias": True,
    "vision_feature_layer": -1, "vision_feature_select_strategy": "default", "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "vision_config": {
        "model_type": "clip_vision_model", "hidden_size": WIDTH, "intermediate_size": TOWER_HIDDEN,
        "num_hidden_layers": TOWER_LAYERS, "num_attention_heads": HEADS, "image_size": SIDE, "patch_size": PATCH,
        "num_channels": 3, "hidden_act": "quick_gelu", "layer_norm_eps": EPS},
    "text_config": {
        "model_type": "llama", "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "head_dim": WIDTH // HEADS, "hidden_act": "silu",
        "rms_norm_eps": EPS, "rope_theta": 10000.0, "vocab_size": len(VOCABULARY), "max_position_embeddings": 128,
        "bos_token_id": 1, "eos_token_id": 2}}
PREPROCESSOR = {
    "image_processor_type": "CLIPImageProcessor", "do_resize": True, "size": {"shortest_edge": SIDE}, "resample": 3,
    "do_center_crop": True, "crop_size": {"height": SIDE, "width": SIDE}, "do_rescale": True,
    "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [MEAN] * 3, "image_std": [DEVIATION] * 3,
    "do_convert_rgb": True}


def save(model, folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / "model.safetensors", model.state_dict())
    for name, content in (("config.json", CONFIG), ("preprocessor_config.json", PREPROCESSOR),
                          ("tokenizer.json", tokenizer())):
        (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=3500)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(asked.seed)
    random = np.random.default_rng(asked.seed)
    train, test = images(asked.data, "train"), images(asked.data, "t10k")
    model = Llava()
    decays = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimiser = torch.optim.AdamW([{"params": decays, "weight_decay": 0.05}, {"params": others, "weight_decay": 0}],
                                  lr=asked.rate, betas=(0.9, 0.98))
    warm = 200
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(
        (step + 1) / warm, 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / asked.steps))))
    began = time.time()
    for step in range(asked.steps):
        loss, right = loss_and_right(model, *make_batch(train, asked.batch, random))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 49:
            print(f"step {step + 1}, loss {loss.item():.3f}, right {right.float().mean():.2f}, "
                  f"{time.time() - began:.0f} s", flush=True)
        if step % 1000 == 999:
            save(model, asked.out)
    save(model, asked.out)
    pictures, texts = make_batch(test, 1, np.random.default_rng(11))
    write_png(asked.out / "question.png", pictures[0])
    (asked.out / "question.txt").write_text(texts[0][0] + "\n")
    for kind, (share, count) in accuracies(model, test, 5000, np.random.default_rng(7)).items():
        print(f"{kind}: {100 * share:.1f} % of {count} answers are right")


if __name__ == "__main__":
    main()
