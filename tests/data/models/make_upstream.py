#!/usr/bin/python3
"""What PyTorch computes, in double precision, for DAFT and Fastformer in the names of their public
implementations, with the weights of make_reference.py: outputs, rows of maps, importances.

    python3 make_upstream.py              writes aft_pytorch_vit.npz, labml_vit.npz, labml_aft.npz
                                          and fastformer.npz
    python3 make_upstream.py FOLDER       writes the four state dicts there, as .pth

DAFT by its equation 4, channel by channel, never factored: tests must not share the shortcut. A
map is the mean over the channels of sigma(Q) softmax(K + w). Fastformer by equations 3 to 6 of
Wu et al. 2021, with transform and residual as their code has them.
"""

import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_reference import TimmMlp, TimmPatches, array, filled, nest, uniform

VOCABULARY, CONTEXT, TOKENS = 29, 24, 19


def token_ids(name, count):
    """From 1 on: 0 is padding."""
    return torch.from_numpy(((uniform(name, count) + 1) / 2 * (VOCABULARY - 1)).astype(np.int64) + 1)


class Daft(nn.Module):
    """The names of query, key, value, output and bias are the implementation's."""

    def __init__(self, names, width, inner, tokens, window=0):
        super().__init__()
        self.names = names
        for name in names[:3]:
            setattr(self, name, nn.Linear(width, inner))
        setattr(self, names[3], nn.Linear(inner, width))
        setattr(self, names[4], nn.Parameter(torch.zeros(tokens, tokens)))
        self.window = window
        if window:
            self.register_buffer("local_mask", torch.zeros(tokens, tokens, dtype=torch.bool))

    def local(self):
        """1 for the last `window` tokens, itself included."""
        away = torch.arange(len(self.local_mask))[:, None] - torch.arange(len(self.local_mask))
        return (away >= 0) & (away < self.window)

    def forward(self, x, maps, causal=False):
        q, k, v, project, w = (getattr(self, name) for name in self.names)
        q, k, v, n = q(x)[0], k(x)[0], v(x)[0], x.shape[1]
        if self.window:
            w = w * self.local_mask
        w = w[:n, :n]
        if causal:
            w = w.masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
        weights = q.sigmoid()[:, None] * (w[..., None] + k[None]).softmax(1)  # [N, N, channels]
        maps.append(weights.mean(-1)[None])
        return project((weights * v[None]).sum(1))[None]


AFT_PYTORCH = ["to_q", "to_k", "to_v", "project", "wbias"]
LABML = ["query", "key", "value", "output", "pos_bias"]


class DaftVit(nn.Module):
    """timm's VisionTransformer with another attention. Without a class token it has no position
    embeddings either, and the head reads the mean."""

    def __init__(self, names, width, inner, layers, image, patch, classes, class_token, window=0):
        super().__init__()
        tokens = (image // patch) ** 2 + class_token
        if class_token:
            self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
            self.pos_embed = nn.Parameter(torch.zeros(1, tokens, width))
        self.class_token = class_token
        self.patch_embed = TimmPatches(width, patch)
        self.blocks = nn.ModuleList(
            nest(
                norm1=nn.LayerNorm(width, 1e-6),
                attn=Daft(names, width, inner, tokens, window),
                norm2=nn.LayerNorm(width, 1e-6),
                mlp=TimmMlp(width, 2 * width),
            )
            for _ in range(layers)
        )
        self.norm, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, classes)

    def forward(self, image):
        maps, x = [], self.patch_embed(image)
        if self.class_token:
            x = torch.cat([self.cls_token, x], 1) + self.pos_embed
        for block in self.blocks:
            x = x + block.attn(block.norm1(x), maps)
            x = x + block.mlp(block.norm2(x))
        x = self.norm(x)
        return self.head(x[:, 0] if self.class_token else x.mean(1))[0], maps, {}


class LabmlAft(nn.Module):
    """labml's autoregressive transformer with AFT-local. More positions than biases."""

    def __init__(self, width, hidden, layers, window):
        super().__init__()
        self.src_embed = nest(linear=nn.Embedding(VOCABULARY, width))
        self.src_embed.positional_encodings = nn.Parameter(torch.zeros(40, 1, width))
        self.encoder = nest(
            layers=nn.ModuleList(
                nest(
                    self_attn=Daft(LABML, width, width, CONTEXT, window),
                    feed_forward=nest(
                        layer1=nn.Linear(width, hidden), layer2=nn.Linear(hidden, width)
                    ),
                    norm_self_attn=nn.LayerNorm(width),
                    norm_ff=nn.LayerNorm(width),
                )
                for _ in range(layers)
            ),
            norm=nn.LayerNorm(width),
        )
        self.generator = nest(projection=nn.Linear(width, VOCABULARY))

    def forward(self, ids):
        maps, embed = [], self.src_embed
        x = embed.linear(ids) * math.sqrt(embed.linear.embedding_dim)
        x = x + embed.positional_encodings[: ids.shape[1]].transpose(0, 1)
        for layer in self.encoder.layers:
            x = x + layer.self_attn(layer.norm_self_attn(x), maps, causal=True)
            ffn = layer.feed_forward
            x = x + ffn.layer2(F.relu(ffn.layer1(layer.norm_ff(x))))
        return self.generator.projection(self.encoder.norm(x))[0], maps, {}


class Fastformer(nn.Module):
    """Wu et al.'s classifier; the maps are the query-attention's."""

    def __init__(self, width, heads, hidden, layers, classes):
        super().__init__()
        self.heads = heads
        norm = lambda: nn.LayerNorm(width, 1e-12)
        linear = lambda i=width, o=width: nn.Linear(i, o)
        encoder = lambda: nest(
            attention=nest(
                self=nest(
                    query=linear(),
                    query_att=linear(o=heads),
                    key=linear(),
                    key_att=linear(o=heads),
                    transform=linear(),
                ),
                output=nest(dense=linear(), LayerNorm=norm()),
            ),
            intermediate=nest(dense=linear(o=hidden)),
            output=nest(dense=linear(i=hidden), LayerNorm=norm()),
        )
        self.dense_linear = linear(o=classes)
        self.word_embedding = nn.Embedding(VOCABULARY, width)
        self.fastformer_model = nest(
            encoders=nn.ModuleList(encoder() for _ in range(layers)),
            position_embeddings=nn.Embedding(CONTEXT, width),
            LayerNorm=norm(),
            poolers=nn.ModuleList([nest(att_fc1=linear(), att_fc2=linear(o=1))]),
        )

    def pooled(self, logits, x):
        """Mean over the tokens with each head's own weights, and the weights [H, N]."""
        each = x.shape[-1] // self.heads
        weights = (logits / math.sqrt(each)).softmax(0)  # [N, H]
        return (weights[..., None] * x.unflatten(-1, (self.heads, each))).sum(0).flatten(), weights.T

    def forward(self, ids):
        model, ids = self.fastformer_model, ids[0]
        maps, query_importance, key_importance = [], [], []
        x = model.LayerNorm(self.word_embedding(ids) + model.position_embeddings.weight[: len(ids)])
        for layer in model.encoders:
            a = getattr(layer.attention, "self")
            q, k = a.query(x), a.key(x)
            mean_query, alpha = self.pooled(a.query_att(q), q)
            p = mean_query * k
            mean_key, beta = self.pooled(a.key_att(p), p)
            y = a.transform(mean_key * q) + q
            x = layer.attention.output.LayerNorm(layer.attention.output.dense(y) + x)
            y = layer.output.dense(F.gelu(layer.intermediate.dense(x)))
            x = layer.output.LayerNorm(y + x)
            maps.append(alpha[:, None].expand(-1, len(ids), -1))
            query_importance.append(alpha)
            key_importance.append(beta)
        pooler = model.poolers[0]
        weights = pooler.att_fc2(torch.tanh(pooler.att_fc1(x))).exp()
        weights = weights / weights.sum()
        return (
            self.dense_linear((weights * x).sum(0)),
            maps,
            {
                "query_importance": torch.stack(query_importance),
                "key_importance": torch.stack(key_importance),
                "pooling_importance": weights.T,
            },
        )


def prepared(module):
    filled(module)
    for part in module.modules():
        if isinstance(part, Daft) and part.window:
            part.local_mask.copy_(part.local())
    return module


def reference(path, module, inputs):
    with torch.no_grad():
        output, maps, more = module.double()(inputs[None])
    rows = [0, maps[0].shape[-1] // 2, maps[0].shape[-1] - 1]
    arrays = {name: tensor.numpy().astype(np.float32) for name, tensor in more.items()}
    np.savez_compressed(
        path,
        output=output.numpy().astype(np.float32),
        rows=np.array(rows),
        map_rows=np.stack([m[:, rows].numpy() for m in maps]).astype(np.float32),
        **({} if inputs.is_floating_point() else {"ids": inputs.numpy()}),
        **arrays,
    )
    peak = np.stack([m.numpy() for m in maps]).max(-1).mean()
    print(f"{path.name}: |output| up to {output.abs().max():.3f}, a row's mean peak {peak:.3f}")


def main():
    image, ids = array("input", (3, 32, 32)).double(), token_ids("ids", TOKENS)
    modules = {
        "aft_pytorch_vit": (DaftVit(AFT_PYTORCH, 64, 48, 3, 32, 8, 10, True), image),
        "labml_vit": (DaftVit(LABML, 64, 64, 2, 32, 8, 10, False, window=5), image),
        "labml_aft": (LabmlAft(40, 64, 3, window=6), ids),
        "fastformer": (Fastformer(48, 4, 96, 2, 4), ids),
    }
    for name, (module, inputs) in modules.items():
        prepared(module)
        if len(sys.argv) > 1:
            torch.save(module.state_dict(), pathlib.Path(sys.argv[1]) / f"{name}.pth")
        else:
            reference(pathlib.Path(__file__).parent / f"{name}.npz", module, inputs)


if __name__ == "__main__":
    main()
