"""Two small causal language models over characters: Fastformer-LM with windows, and a softmax
twin in GPT-2's form.
"""

import json

import h5py
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, LAYERS, HEADS, POSITIONS, EPS = 128, 6, 4, 256, 1e-5
WINDOWS = [4, 8, 16, 32, 64, None]  # tokens back, the current one included; None: all


def additive(window):
    """-1: each layer's own window; 0: none."""
    return {"name": "additive", "parameters": {"causal": True, "window": window}}


ARCHITECTURES = {
    "shakespeare-fastformer": {
        "activation": "gelu",
        "layer_form": "fastformer",
        "logit_scale": 0,  # one over the root of the width
        "mechanism": additive(-1),
        "layer_mechanisms": [additive(window or 0) for window in WINDOWS],
    },
    "shakespeare-softmax": {
        "activation": "gelu_tanh",
        "layer_form": "transformer",
        "logit_scale": 1,
        "mechanism": {"name": "softmax", "parameters": {}},
    },
}


# --- Fastformer-LM, with the tensor names of its published code --------------------


class AdditiveAttention(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.Wquery = nn.Linear(WIDTH, WIDTH, bias=False)
        self.Wkeys = nn.Linear(WIDTH, WIDTH, bias=False)
        self.Wvalues = nn.Linear(WIDTH, WIDTH, bias=False)
        self.attn_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.query_attn = nn.Parameter(torch.zeros(WIDTH))
        self.key_attn = nn.Parameter(torch.zeros(WIDTH))
        self.attn_norm = nn.LayerNorm(WIDTH, EPS)
        self.mid_norm = nn.LayerNorm(WIDTH, EPS)
        back = torch.arange(POSITIONS)[:, None] - torch.arange(POSITIONS)[None]
        self.register_buffer(
            "seen", ((back >= 0) & (back < (window or POSITIONS))).float(), persistent=False
        )

    def summarise(self, x, direction):
        """Eq. 9: the weighted mean of the tokens in the window, weights exp(w.x / sqrt(d)) for
        each head.
        """
        tokens = x.shape[1]
        logits = (x * direction).unflatten(2, (HEADS, -1)).sum(3) / (WIDTH / HEADS) ** 0.5
        # One maximum for the whole sequence is enough for sequences this short, and cancels in
        # the quotient.
        weights = (
            (logits - logits.detach().amax(1, keepdim=True))
            .exp()
            .repeat_interleave(WIDTH // HEADS, 2)
        )
        seen = self.seen[:tokens, :tokens]
        return (seen @ (weights * x)) / (seen @ weights)

    def forward(self, x):
        x = self.attn_norm(x)
        query, keys, values = self.Wquery(x), self.Wkeys(x), self.Wvalues(x)
        mixed = x + self.attn_proj(self.summarise(query, self.query_attn)) * keys
        return mixed + self.summarise(self.mid_norm(mixed), self.key_attn) * values


class FastformerLayer(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.attention = AdditiveAttention(window)
        self.boom = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.unboom = nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.boom_norm = nn.LayerNorm(WIDTH, EPS)

    def forward(self, x):
        x = self.attention(x)  # holds the residual itself
        return x + self.unboom(F.gelu(self.boom(self.boom_norm(x))))


class FastformerLM(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.word_embedding = nn.Embedding(vocabulary, WIDTH)
        self.proj_logits = nn.Linear(WIDTH, vocabulary)
        self.proj_logits.weight = self.word_embedding.weight
        self.fastformer_model = nn.ModuleDict(
            {
                "decoders": nn.ModuleList(FastformerLayer(window) for window in WINDOWS),
                "position_embeddings": nn.Embedding(POSITIONS, WIDTH),
                "LayerNorm": nn.LayerNorm(WIDTH, EPS),
            }
        )

    def forward(self, characters):
        parts = self.fastformer_model
        x = (
            self.word_embedding(characters)
            + parts["position_embeddings"].weight[: characters.shape[1]]
        )
        x = parts["LayerNorm"](x)
        for layer in parts["decoders"]:
            x = layer(x)
        return self.proj_logits(x) * WIDTH**-0.5


# --- GPT-2 of the same size, with GPT-2's tensor names --------------------


class Conv1D(nn.Module):
    """A linear layer whose weight is [inputs, outputs], as GPT-2 stores it."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class Gpt2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = Conv1D(WIDTH, 3 * WIDTH)
        self.c_proj = Conv1D(WIDTH, WIDTH)
        self.register_buffer(
            "hidden", torch.full((POSITIONS, POSITIONS), float("-inf")).triu(1), persistent=False
        )

    def forward(self, x):
        q, k, v = self.c_attn(x).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        scores = (
            q @ k.transpose(2, 3) / (WIDTH / HEADS) ** 0.5 + self.hidden[: x.shape[1], : x.shape[1]]
        )
        return self.c_proj((scores.softmax(3) @ v).transpose(1, 2).flatten(2))


class Gpt2Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc = Conv1D(WIDTH, 4 * WIDTH)
        self.c_proj = Conv1D(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Gpt2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH, EPS)
        self.attn = Gpt2Attention()
        self.ln_2 = nn.LayerNorm(WIDTH, EPS)
        self.mlp = Gpt2Mlp()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(vocabulary, WIDTH),
                "wpe": nn.Embedding(POSITIONS, WIDTH),
                "h": nn.ModuleList(Gpt2Block() for _ in range(LAYERS)),
                "ln_f": nn.LayerNorm(WIDTH, EPS),
            }
        )

    def forward(self, characters):
        parts = self.transformer
        x = parts["wte"](characters) + parts["wpe"].weight[: characters.shape[1]]
        for block in parts["h"]:
            x = block(x)
        return parts["ln_f"](x) @ parts["wte"].weight.T


# --- both --------------------


def build(name, vocabulary):
    model = {"shakespeare-fastformer": FastformerLM, "shakespeare-softmax": Gpt2}[name](vocabulary)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding, Conv1D)):
            nn.init.normal_(module.weight, std=0.02)  # as GPT-2 and Fastformer-LM do
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return model


def write(model, path, name, characters, training):
    architecture = {
        "family": "causal_lm",
        "width": WIDTH,
        "layers": LAYERS,
        "heads": HEADS,
        "mlp_width": 4 * WIDTH,
        "vocabulary": len(characters),
        "context": POSITIONS,
        "tokenizer": "characters",
        "norm_position": "pre",
        "norm_eps": EPS,
        **ARCHITECTURES[name],
    }
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "attnscope-model"
        file.attrs["format_version"] = np.int64(1)
        file.attrs["name"] = name
        file.attrs["architecture"] = json.dumps(architecture)
        file.attrs["labels"] = json.dumps(characters)  # token number -> character
        file.attrs["training"] = json.dumps(training)
        tensors = file.create_group("tensors")
        for tensor_name, tensor in model.state_dict().items():
            if tensor_name != "proj_logits.weight":  # the same tensor as word_embedding.weight
                tensors.create_dataset(tensor_name, data=tensor.numpy().astype(np.float32))
