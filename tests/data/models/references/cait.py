"""CaiT: heads that are mixed before and after the softmax among the patches, then layers in which the class token
alone asks.

From huggingface/pytorch-image-models, timm/models/cait.py.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, HEADS, IMAGE, heads_of, timm_config


def talk(w, x, name, heads):
    """Mixes the heads of [H, N, M]."""
    weight, bias = w(name + ".weight", heads, heads), w(name + ".bias", heads)
    return F.linear(x.permute(1, 2, 0), weight, bias).permute(2, 0, 1)


def talking_heads(w, x, a, heads, maps):
    width = x.shape[-1]
    q, k, v = (heads_of(part, heads) for part in w.linear(x, a + "qkv", 3 * width).chunk(3, -1))
    scores = talk(w, q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2), a + "proj_l", heads)
    maps.append(talk(w, scores.softmax(-1), a + "proj_w", heads))
    return w.linear((maps[-1] @ v).transpose(0, 1).flatten(1), a + "proj", width)


def class_attention(w, x, a, heads, maps):
    """What the first token asks all: [1, D]."""
    width = x.shape[-1]
    q = heads_of(w.linear(x[:1], a + "q", width), heads)
    k, v = (heads_of(w.linear(x, a + part, width), heads) for part in "kv")
    maps.append((q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)).softmax(-1))
    return w.linear((maps[-1] @ v).transpose(0, 1).flatten(1), a + "proj", width)


def mlp(w, x, b, hidden, act):
    return w.linear(ACTIVATIONS[act](w.linear(x, b + "fc1", hidden)), b + "fc2", x.shape[-1])


def cait(w, image, maps, *, width=48, heads=4, layers=2, last_layers=2, patch=8, hidden=96, last_hidden=96,
         act="gelu", mean=False, classes=7, eps=1e-6):
    x = w.patches(image, "patch_embed.proj", width, patch)
    x = x + w("pos_embed", 1, len(x), width)[0]
    for i in range(layers):
        b = f"blocks.{i}."
        x = x + w(b + "gamma_1", width) * talking_heads(w, w.norm(x, b + "norm1", eps), b + "attn.", heads, maps)
        x = x + w(b + "gamma_2", width) * mlp(w, w.norm(x, b + "norm2", eps), b + "mlp.", hidden, act)
    first = w("cls_token", 1, 1, width)[0]
    for i in range(last_layers):
        b = f"blocks_token_only.{i}."
        seen = w.norm(torch.cat([first, x]), b + "norm1", eps)
        first = first + w(b + "gamma_1", width) * class_attention(w, seen, b + "attn.", heads, maps)
        first = first + w(b + "gamma_2", width) * mlp(w, w.norm(first, b + "norm2", eps), b + "mlp.", last_hidden, act)
    x = w.norm(torch.cat([first, x]), "norm", eps)
    return w.linear(x[1:].mean(0) if mean else x[0], "head", classes)


CASES = {
    "cait": (
        "CaiT", cait, dict(last_hidden=72, act="gelu_tanh"), IMAGE,
        timm_config("cait_xxs24_224", {"global_pool": "token"}, num_heads=4, depth=2, depth_token_only=2,
                    mlp_ratio_token_only=1.5, init_values=1e-5, act_layer="gelu_tanh"),
        {}, {"model_args": {"act_layer": "gelu_10"}}, "blocks_token_only.1.attn.k.weight",
        "blocks_token_only.0.attn.proj_l.weight",
    ),
    "cait_without_config": (
        "CaiT", cait, dict(heads=3, layers=3, last_layers=1), IMAGE, None, {}, None, "blocks.1.attn.proj_w.bias",
        "blocks.1.attn.gate.weight",
    ),
    "cait_mean": (
        "CaiT", cait, dict(mean=True, last_layers=1), IMAGE,
        timm_config("cait_s24_224", {"global_pool": "avg"}, num_heads=4), {}, {"model_args": {"norm_layer": "rmsnorm"}},
        "cls_token", "blocks.0.attn.relative_position_bias_table",
    ),
}
