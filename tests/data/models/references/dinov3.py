"""DINOv3 in the names of torch.hub and of Hugging Face: rotary positions on patches, registers, keys without bias.

From huggingface/transformers, models/dinov3_vit/modeling_dinov3_vit.py, whose checkpoints are converted from the hub's.
"""

import math

import torch

from make_families import ACTIVATIONS, HEADS, IMAGE, attend, heads_of, hf_config
from references.parts import turn_halves


def patch_angles(prefix, side, periods):
    """[tokens, d/2]: by row, then by column; prefix tokens are not turned."""
    centres = 2 * (torch.arange(side).double() + 0.5) / side - 1
    row, column = torch.meshgrid(centres, centres, indexing="ij")
    angles = torch.cat([2 * math.pi * c.flatten()[:, None] / periods for c in (row, column)], -1)
    return torch.cat([torch.zeros(prefix, angles.shape[-1]).double(), angles])


def hub(w, image, maps, *, width=48, heads=4, layers=2, patch=8, registers=4, gated=False):
    x = w.patches(image, "patch_embed.proj", width, patch)
    w("mask_token", 1, width)
    prefix = [w("cls_token", 1, 1, width)[0], w("storage_tokens", 1, registers, width)[0]]
    periods = w("rope_embed.periods", width // heads // 4)
    angles = patch_angles(1 + registers, image.shape[1] // patch, periods)
    x = torch.cat(prefix + [x])
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.norm(x, b + "norm1", 1e-5) @ w(b + "attn.qkv.weight", 3 * width, width).T
        bias = w(b + "attn.qkv.bias", 3 * width).clone()
        w(b + "attn.qkv.bias_mask", 3 * width)
        bias[width : 2 * width] = 0
        q, k, v = (heads_of(part, heads) for part in (h + bias).chunk(3, -1))
        h = attend(turn_halves(q, angles), turn_halves(k, angles), v, maps)
        x = x + w(b + "ls1.gamma", width) * w.linear(h, b + "attn.proj", width)
        h = w.norm(x, b + "norm2", 1e-5)
        if gated:
            h = ACTIVATIONS["silu"](w.linear(h, b + "mlp.w1", 40)) * w.linear(h, b + "mlp.w2", 40)
            h = w.linear(h, b + "mlp.w3", width)
        else:
            h = w.linear(ACTIVATIONS["gelu"](w.linear(h, b + "mlp.fc1", 2 * width)), b + "mlp.fc2", width)
        x = x + w(b + "ls2.gamma", width) * h
    w.norm(x, "norm", 1e-5)
    return x


def hugging_face(w, image, maps, *, width=48, heads=4, layers=2, patch=8, registers=4, hidden=96, theta=100.0, act="gelu"):
    e = "embeddings."
    x = w.patches(image, e + "patch_embeddings", width, patch)
    w(e + "mask_token", 1, 1, width)
    x = torch.cat([w(e + "cls_token", 1, 1, width)[0], w(e + "register_tokens", 1, registers, width)[0], x])
    head_width = width // heads
    periods = theta ** (torch.arange(0, head_width // 4).double() * 4 / head_width)
    angles = patch_angles(1 + registers, image.shape[1] // patch, periods)
    for i in range(layers):
        l = f"layer.{i}."
        h = w.norm(x, l + "norm1", 1e-5)
        q = heads_of(w.linear(h, l + "attention.q_proj", width), heads)
        k = heads_of(w.linear(h, l + "attention.k_proj", width, bias=False), heads)
        v = heads_of(w.linear(h, l + "attention.v_proj", width), heads)
        h = attend(turn_halves(q, angles), turn_halves(k, angles), v, maps)
        x = x + w(l + "layer_scale1.lambda1", width) * w.linear(h, l + "attention.o_proj", width)
        h = w.linear(w.norm(x, l + "norm2", 1e-5), l + "mlp.up_proj", hidden)
        x = x + w(l + "layer_scale2.lambda1", width) * w.linear(ACTIVATIONS[act](h), l + "mlp.down_proj", width)
    w.norm(x, "norm", 1e-5)
    return x


CONFIG = hf_config(
    "dinov3_vit", architectures=["DINOv3ViTModel"], hidden_act="gelu", intermediate_size=96, key_bias=False,
    layer_norm_eps=1e-5, layerscale_value=1.0, mlp_bias=True, num_register_tokens=4, pos_embed_rescale=2.0,
    proj_bias=True, query_bias=True, rope_theta=100.0, use_gated_mlp=False, value_bias=True, drop_path_rate=0.0,
)
del CONFIG["qkv_bias"], CONFIG["hidden_dropout_prob"]

SIZE = {"image_height": "32", "image_width": "32"}

CASES = {
    "dinov3": ("DINOv3", hub, {}, IMAGE, None, {**HEADS, **SIZE}, None, "rope_embed.periods", "blocks.1.attn.gate.weight"),
    "dinov3_gated": (
        "DINOv3", hub, dict(gated=True), IMAGE, None, {**HEADS, **SIZE}, None, "blocks.1.mlp.w2.weight", "pos_embed",
    ),
    "hugging_face_dinov3": (
        "Hugging Face DINOv3", hugging_face, {}, IMAGE, CONFIG, {}, {"hidden_act": "gelu_10"}, "layer.1.norm2.bias",
        "layer.0.attention.q_norm.weight",
    ),
}
