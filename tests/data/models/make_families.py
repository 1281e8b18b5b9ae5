#!/usr/bin/python3
"""What PyTorch computes, in double precision, for every family of models, from weights that the
tests make again by themselves (make_reference.py says how): families/NAME.json with the names and
shapes of the tensors as upstream saves them, the configuration beside them, and what would change
the computation; families/NAME.npz with outputs and rows of attention maps.

    python3 make_families.py

The models are written from the equations of their upstream code, as functions that make each weight
when they first need it; families/positions.npz has positions brought to other grids. Those in
references/ have a file of their own: a new family is one more. Families whose reference another
script makes are listed for their names alone: REFERENCES.

    python3 make_families.py llama    # only references/llama.py
"""

import importlib
import json
import math
import pathlib
import re
import sys

import numpy as np
import torch
import torch.nn.functional as F

import make_pyramids
import make_reference
import make_upstream
from make_reference import array, hashed_bytes, weights

HERE = pathlib.Path(__file__).parent / "families"


class Weights:
    """Makes and remembers the tensors a model asks for; `kept` has further results of its reference."""

    def __init__(self):
        self.shapes, self.kept = {}, {}

    def __call__(self, name, *shape):
        assert self.shapes.setdefault(name, list(shape)) == list(shape), name
        return weights(name, shape).double()

    def bytes(self, name, *shape):
        """Bytes as whole numbers; those of scales are 2^−6 to 2^−3 in E8M0."""
        assert self.shapes.setdefault(name, list(shape)) == list(shape), name
        return torch.from_numpy(hashed_bytes(name, shape).astype(np.int64))

    def linear(self, x, name, out, bias=True, transposed=False):
        width = x.shape[-1]
        if transposed:
            y = x @ self(name + ".weight", width, out)
        else:
            y = x @ self(name + ".weight", out, width).T
        return y + self(name + ".bias", out) if bias else y

    def norm(self, x, name, eps, bias=True):
        width = x.shape[-1]
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()
        y = scaled * self(name + ".weight", width)
        return y + self(name + ".bias", width) if bias else y

    def patches(self, image, name, width, patch, bias=True):
        kernel = self(name + ".weight", width, image.shape[0], patch, patch)
        offset = self(name + ".bias", width) if bias else None
        return F.conv2d(image[None], kernel, offset, stride=patch)[0].flatten(1).T


ACTIVATIONS = {
    "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": lambda x: x * torch.sigmoid(x),
    "relu": lambda x: x.clamp(min=0),
    "relu2": lambda x: x.clamp(min=0) ** 2,
}


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)  # [H, N, d]


def attend(q, k, v, maps, scale=None, causal=False):
    """[H, N, d] each → [N, H·d]."""
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    maps.append(scores.softmax(-1))
    return (maps[-1] @ v).transpose(0, 1).flatten(1)


def timm(w, image, maps, *, width=48, heads=4, layers=2, patch=8, registers=0, embeds_prefix=True,
         qk_norm=False, scale_norm=False, pre_norm=False, layer_scale=False, pool="token", eps=1e-6,
         act="gelu", packed=False, classes=7):
    x = w.patches(image, "patch_embed.proj", width, patch, bias=not pre_norm)
    prefix = [w("cls_token", 1, 1, width)[0]]
    if registers:
        prefix.append(w("reg_token", 1, registers, width)[0])
    if embeds_prefix:
        x = torch.cat(prefix + [x])
        x = x + w("pos_embed", 1, len(x), width)[0]
    else:
        x = torch.cat(prefix + [x + w("pos_embed", 1, len(x), width)[0]])
    if pre_norm:
        x = w.norm(x, "norm_pre", eps)
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.linear(w.norm(x, b + "norm1", eps), b + "attn.qkv", 3 * width)
        q, k, v = (heads_of(part, heads) for part in h.chunk(3, -1))
        if qk_norm:
            q, k = w.norm(q, b + "attn.q_norm", eps), w.norm(k, b + "attn.k_norm", eps)
        h = attend(q, k, v, maps)
        if scale_norm:
            h = w.norm(h, b + "attn.norm", eps)
        h = w.linear(h, b + "attn.proj", width)
        x = x + (w(b + "ls1.gamma", width) * h if layer_scale else h)
        h = w.norm(x, b + "norm2", eps)
        if packed:
            gate, h = w.linear(h, b + "mlp.fc1", 4 * width).chunk(2, -1)
            h = ACTIVATIONS[act](gate) * h
        else:
            h = ACTIVATIONS[act](w.linear(h, b + "mlp.fc1", 2 * width))
        h = w.linear(h, b + "mlp.fc2", width)
        x = x + (w(b + "ls2.gamma", width) * h if layer_scale else h)
    if pool == "avg":
        x = w.norm(x[1 + registers :].mean(0), "fc_norm", eps)
    else:
        x = w.norm(x, "norm", eps)[0]
    return w.linear(x, "head", classes)


def dinov2(w, image, maps, *, width=48, heads=4, layers=2, patch=8, registers=0, gated=False):
    """torch.hub's names; what the last block gives."""
    x = w.patches(image, "patch_embed.proj", width, patch)
    w("mask_token", 1, width)
    x = torch.cat([w("cls_token", 1, 1, width)[0], x])
    x = x + w("pos_embed", 1, len(x), width)[0]
    if registers:
        x = torch.cat([x[:1], w("register_tokens", 1, registers, width)[0], x[1:]])
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.linear(w.norm(x, b + "norm1", 1e-6), b + "attn.qkv", 3 * width)
        h = attend(*(heads_of(part, heads) for part in h.chunk(3, -1)), maps)
        x = x + w(b + "ls1.gamma", width) * w.linear(h, b + "attn.proj", width)
        h = w.norm(x, b + "norm2", 1e-6)
        if gated:
            gate, h = w.linear(h, b + "mlp.w12", 4 * width).chunk(2, -1)
            h = w.linear(ACTIVATIONS["silu"](gate) * h, b + "mlp.w3", width)
        else:
            h = w.linear(ACTIVATIONS["gelu"](w.linear(h, b + "mlp.fc1", 2 * width)), b + "mlp.fc2", width)
        x = x + w(b + "ls2.gamma", width) * h
    w.norm(x, "norm", 1e-6)
    return x


def hugging_face(w, image, maps, *, root, width=48, heads=4, layers=2, patch=8, eps=1e-12, act="gelu",
                 distilled=False, dinov2=False, registers=0, gated=False, classes=7):
    e = root + "embeddings."
    x = w.patches(image, e + "patch_embeddings.projection", width, patch)
    prefix = [w(e + "cls_token", 1, 1, width)[0]]
    if distilled:
        prefix.append(w(e + "distillation_token", 1, 1, width)[0])
    if dinov2:
        w(e + "mask_token", 1, width)
    x = torch.cat(prefix + [x])
    x = x + w(e + "position_embeddings", 1, len(x), width)[0]
    if registers:
        x = torch.cat([x[:1], w(e + "register_tokens", 1, registers, width)[0], x[1:]])
    norms = ("norm1", "norm2") if dinov2 else ("layernorm_before", "layernorm_after")
    for i in range(layers):
        l = f"{root}encoder.layer.{i}."
        h = w.norm(x, l + norms[0], eps)
        q, k, v = (
            heads_of(w.linear(h, l + "attention.attention." + part, width), heads)
            for part in ("query", "key", "value")
        )
        h = w.linear(attend(q, k, v, maps), l + "attention.output.dense", width)
        x = x + (w(l + "layer_scale1.lambda1", width) * h if dinov2 else h)
        h = w.norm(x, l + norms[1], eps)
        if gated:
            gate, h = w.linear(h, l + "mlp.weights_in", 4 * width).chunk(2, -1)
            h = w.linear(ACTIVATIONS["silu"](gate) * h, l + "mlp.weights_out", width)
        else:
            names = ("mlp.fc1", "mlp.fc2") if dinov2 else ("intermediate.dense", "output.dense")
            h = w.linear(ACTIVATIONS[act](w.linear(h, l + names[0], 2 * width)), l + names[1], width)
        x = x + (w(l + "layer_scale2.lambda1", width) * h if dinov2 else h)
    x = w.norm(x, root + "layernorm", eps)
    if dinov2:
        return w.linear(torch.cat([x[0], x[1 + registers :].mean(0)]), "classifier", classes)
    if distilled:
        a = w.linear(x[0], "cls_classifier", classes)
        return (a + w.linear(x[1], "distillation_classifier", classes)) / 2
    return w.linear(x[0], "classifier", classes)


def gpt2(w, ids, maps, *, width=32, heads=4, layers=3, vocabulary=29, context=24, act="gelu_tanh",
         by_layer=False, scaled=True, eps=1e-5):
    x = w("transformer.wte.weight", vocabulary, width)[ids]
    x = x + w("transformer.wpe.weight", context, width)[: len(ids)]
    for i in range(layers):
        h = f"transformer.h.{i}."
        w(h + "attn.bias", 1, 1, context, context)
        y = w.linear(w.norm(x, h + "ln_1", eps), h + "attn.c_attn", 3 * width, transposed=True)
        q, k, v = (heads_of(part, heads) for part in y.chunk(3, -1))
        scale = (1 / math.sqrt(width // heads) if scaled else 1) / (i + 1 if by_layer else 1)
        y = attend(q, k, v, maps, scale, causal=True)
        x = x + w.linear(y, h + "attn.c_proj", width, transposed=True)
        y = w.linear(w.norm(x, h + "ln_2", eps), h + "mlp.c_fc", 4 * width, transposed=True)
        x = x + w.linear(ACTIVATIONS[act](y), h + "mlp.c_proj", width, transposed=True)
    x = w.norm(x, "transformer.ln_f", eps)
    return x @ w("transformer.wte.weight", vocabulary, width).T


def nano_gpt(w, ids, maps, *, width=32, heads=4, layers=2, vocabulary=29, context=24):
    """Without biases, as nanoGPT trains with bias=False."""
    x = w("transformer.wte.weight", vocabulary, width)[ids]
    x = x + w("transformer.wpe.weight", context, width)[: len(ids)]
    for i in range(layers):
        h = f"transformer.h.{i}."
        y = w.linear(w.norm(x, h + "ln_1", 1e-5, bias=False), h + "attn.c_attn", 3 * width, bias=False)
        y = attend(*(heads_of(part, heads) for part in y.chunk(3, -1)), maps, causal=True)
        x = x + w.linear(y, h + "attn.c_proj", width, bias=False)
        y = w.linear(w.norm(x, h + "ln_2", 1e-5, bias=False), h + "mlp.c_fc", 4 * width, bias=False)
        x = x + w.linear(ACTIVATIONS["gelu"](y), h + "mlp.c_proj", width, bias=False)
    x = w.norm(x, "transformer.ln_f", 1e-5, bias=False)
    return x @ w("lm_head.weight", vocabulary, width).T


def vit_pytorch(w, image, maps, *, width=48, inner=48, heads=8, layers=2, patch=8, classes=7,
                embedding="patch_to_embedding", head=("0", "1", "4"), out="to_out.0", mlp2="3",
                by_width=True):
    """Before March 2021: head (norm, hidden, last), of which the first two may be missing."""
    grid = image.unflatten(2, (-1, patch)).unflatten(1, (-1, patch))  # c h p1 w p2
    x = grid.permute(1, 3, 2, 4, 0).flatten(2).flatten(0, 1)  # (h w) (p1 p2 c)
    x = torch.cat([w("cls_token", 1, 1, width)[0], w.linear(x, embedding, width)])
    x = x + w("pos_embedding", 1, len(x), width)[0]
    scale = 1 / math.sqrt(width if by_width else inner // heads)
    for i in range(layers):
        a, m = f"transformer.layers.{i}.0.fn.", f"transformer.layers.{i}.1.fn."
        h = w.linear(w.norm(x, a + "norm", 1e-5), a + "fn.to_qkv", 3 * inner, bias=False)
        h = attend(*(heads_of(part, heads) for part in h.chunk(3, -1)), maps, scale)
        x = x + w.linear(h, a + "fn." + out, width)
        h = ACTIVATIONS["gelu"](w.linear(w.norm(x, m + "norm", 1e-5), m + "fn.net.0", 2 * width))
        x = x + w.linear(h, m + "fn.net." + mlp2, width)
    norm, hidden, last = head
    x = x[0]
    if norm:
        x = w.norm(x, "mlp_head." + norm, 1e-5)
    if hidden:
        x = ACTIVATIONS["gelu"](w.linear(x, "mlp_head." + hidden, 2 * width))
    return w.linear(x, "mlp_head." + last, classes)


def torchvision(w, image, maps, *, width=48, heads=4, layers=2, patch=8, classes=7):
    x = torch.cat([w("class_token", 1, 1, width)[0], w.patches(image, "conv_proj", width, patch)])
    x = x + w("encoder.pos_embedding", 1, len(x), width)[0]
    for i in range(layers):
        l = f"encoder.layers.encoder_layer_{i}."
        h = w.norm(x, l + "ln_1", 1e-6) @ w(l + "self_attention.in_proj_weight", 3 * width, width).T
        h = h + w(l + "self_attention.in_proj_bias", 3 * width)
        h = attend(*(heads_of(part, heads) for part in h.chunk(3, -1)), maps)
        x = x + w.linear(h, l + "self_attention.out_proj", width)
        h = w.linear(w.norm(x, l + "ln_2", 1e-6), l + "mlp.0", 2 * width)
        x = x + w.linear(ACTIVATIONS["gelu"](h), l + "mlp.3", width)
    return w.linear(w.norm(x, "encoder.ln", 1e-6)[0], "heads.head", classes)


IMAGE = array("input", (3, 32, 32)).double()
IDS = make_upstream.token_ids("ids", 19)


def timm_config(architecture, more=None, **arguments):
    prepared = {
        "tag": "in1k",
        "custom_load": False,
        "input_size": [3, 32, 32],
        "fixed_input_size": True,
        "interpolation": "bilinear",
        "crop_pct": 0.9,
        "crop_mode": "center",
        "mean": [0.5, 0.5, 0.5],
        "std": [0.5, 0.5, 0.5],
        "num_classes": 7,
        "pool_size": None,
        "first_conv": "patch_embed.proj",
        "classifier": "head",
    }
    return {
        "architecture": architecture,
        "num_classes": 7,
        "num_features": 48,
        "model_args": arguments,
        "pretrained_cfg": prepared,
        **(more or {}),
    }


def hf_config(model_type, **more):
    return {
        "architectures": ["ForImageClassification"],
        "attention_probs_dropout_prob": 0.0,
        "hidden_dropout_prob": 0.0,
        "hidden_size": 48,
        "image_size": 32,
        "initializer_range": 0.02,
        "model_type": model_type,
        "num_attention_heads": 4,
        "num_channels": 3,
        "num_hidden_layers": 2,
        "patch_size": 8,
        "qkv_bias": True,
        "torch_dtype": "float32",
        "transformers_version": "4.40.0",
        **more,
    }


GPT2 = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1,
    "bos_token_id": 28,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": 24,
    "n_embd": 32,
    "n_head": 4,
    "n_inner": None,
    "n_layer": 3,
    "n_positions": 24,
    "reorder_and_upcast_attn": False,
    "scale_attn_by_inverse_layer_idx": True,
    "scale_attn_weights": True,
    "summary_type": "cls_index",
    "use_cache": True,
    "vocab_size": 29,
}

class Description(dict):
    """In the place of a config.json: an architecture description, as a user writes it."""


ACT = {"hidden_act": "gelu_10"}
OTHER = {"model_args": {"act_layer": "gelu_10"}}
HEADS = {"heads": "4"}

# The fields by name: family, model, its arguments, input, config.json, options, another value in
# config.json that changes the computation, a tensor to rename, one to add.
CASES = {
    "timm_registers": (
        "timm ViT", timm,
        dict(registers=4, embeds_prefix=False, qk_norm=True, layer_scale=True, pool="avg", act="quick_gelu"),
        IMAGE,
        timm_config("vit_small_patch8_reg4_gap_32", {"global_pool": "avg"}, num_heads=4, act_layer="quick_gelu",
                    reg_tokens=4, qk_norm=True, init_values=1e-5, no_embed_class=True),
        {}, OTHER, "blocks.1.attn.q_norm.weight", "blocks.1.attn.gate.weight",
    ),
    "timm_prefix_embedded": (
        "timm ViT", timm, dict(registers=2, scale_norm=True, pre_norm=True, eps=1e-5, packed=True, act="silu"),
        IMAGE, None, HEADS, None, "blocks.0.attn.norm.weight", "blocks.0.attn.rel_pos.relative_position_bias_table",
    ),
    "dinov2_registers": (
        "DINOv2", dinov2, dict(registers=4), IMAGE, None, HEADS, None, "register_tokens", "storage_tokens",
    ),
    "dinov2_giant": (
        "DINOv2", dinov2, dict(gated=True), IMAGE, None, HEADS, None, "blocks.1.ls1.gamma", "blocks.1.attn.qkv.bias_mask",
    ),
    "hugging_face_vit_quick_gelu": (
        "Hugging Face ViT", hugging_face, dict(root="vit.", eps=1e-6, act="quick_gelu"), IMAGE,
        hf_config("vit", hidden_act="quick_gelu", layer_norm_eps=1e-6, intermediate_size=96),
        {}, ACT, "vit.encoder.layer.1.layernorm_after.bias", "vit.encoder.layer.0.attention.attention.lambda_q1",
    ),
    "hugging_face_deit": (
        "Hugging Face DeiT", hugging_face, dict(root="deit.", distilled=True), IMAGE,
        hf_config("deit", hidden_act="gelu", layer_norm_eps=1e-12, intermediate_size=96),
        {}, {"position_embedding_type": "relative_key"}, "deit.embeddings.distillation_token",
        "deit.embeddings.register_tokens",
    ),
    "hugging_face_dinov2": (
        "Hugging Face DINOv2", hugging_face, dict(root="dinov2.", dinov2=True, eps=1e-6, act="gelu_tanh"), IMAGE,
        hf_config("dinov2", hidden_act="gelu_new", layer_norm_eps=1e-6, mlp_ratio=2, layerscale_value=1.0,
                  use_swiglu_ffn=False),
        {}, ACT, "dinov2.encoder.layer.1.layer_scale2.lambda1", "dinov2.embeddings.rope.periods",
    ),
    "hugging_face_dinov2_registers": (
        "Hugging Face DINOv2", hugging_face,
        dict(root="dinov2_with_registers.", dinov2=True, eps=1e-6, registers=4, gated=True), IMAGE,
        hf_config("dinov2_with_registers", hidden_act="gelu", layer_norm_eps=1e-6, mlp_ratio=4,
                  num_register_tokens=4, use_swiglu_ffn=True),
        {}, {"attention_type": "linear"}, "dinov2_with_registers.embeddings.register_tokens",
        "dinov2_with_registers.encoder.layer.0.mlp.gate.weight",
    ),
    "hugging_face_gpt2": (
        "Hugging Face GPT-2", gpt2, dict(by_layer=True), IDS, GPT2, {}, {"activation_function": "gelu_10"},
        "transformer.h.1.ln_2.bias", "transformer.h.1.crossattention.c_attn.weight",
    ),
    "hugging_face_gpt2_unscaled": (
        "Hugging Face GPT-2", gpt2, dict(scaled=False, act="silu"), IDS,
        {**GPT2, "scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": False, "activation_function": "swish"},
        {}, {"add_cross_attention": True}, "transformer.h.2.attn.c_proj.bias", "transformer.h.0.ln_cross_attn.weight",
    ),
    "nanogpt": (
        "minGPT or nanoGPT", nano_gpt, {}, IDS, None, HEADS, None, "transformer.h.0.ln_1.weight",
        "transformer.h.0.attn.rotary_emb.inv_freq",
    ),
    "vit_pytorch_first_october_2020": (
        "vit-pytorch ViT (first October 2020)", vit_pytorch,
        dict(head=(None, "0", "2"), out="to_out", mlp2="2"), IMAGE, None, {}, None,
        "transformer.layers.1.0.fn.norm.bias", "transformer.layers.1.0.fn.fn.relative.weight",
    ),
    "vit_pytorch_october_2020": (
        "vit-pytorch ViT (October 2020)", vit_pytorch, dict(head=("0", "1", "3"), out="to_out", mlp2="2"),
        IMAGE, None, {}, None, "pos_embedding", "transformer.layers.0.1.fn.fn.gate.weight",
    ),
    "vit_pytorch_autumn_2020": (
        "vit-pytorch ViT (autumn 2020)", vit_pytorch, {}, IMAGE, None, {}, None,
        "transformer.layers.1.0.fn.norm.weight", "transformer.layers.1.0.fn.fn.reattn_weights",
    ),
    "vit_pytorch_2020": (
        "vit-pytorch ViT (2020)", vit_pytorch, dict(head=("0", None, "1"), inner=64), IMAGE, None, {}, None,
        "transformer.layers.1.0.fn.norm.weight", "transformer.layers.1.0.fn.fn.reattn_weights",
    ),
    "vit_pytorch_early_2021": (
        "vit-pytorch ViT (early 2021)", vit_pytorch,
        dict(head=("0", None, "1"), inner=64, by_width=False, embedding="to_patch_embedding.1"), IMAGE, None,
        {}, None, "transformer.layers.0.1.fn.norm.bias", "to_patch_embedding.2.weight",
    ),
    "torchvision": (
        "torchvision ViT", torchvision, {}, IMAGE, None, HEADS, None, "encoder.layers.encoder_layer_1.ln_2.bias",
        "encoder.layers.encoder_layer_1.self_attention.bias_k",
    ),
}

B0 = dict(widths=[32, 64], heads=[1, 2], ratios=[8, 4], depths=[1, 2], reductions=[8, 4])



class Renamed:
    """The tensors of another module, each under the name that `name` gives it; without those it gives none."""

    def __init__(self, module, name):
        self.tensors = {name(key): value for key, value in module.state_dict().items() if name(key)}

    def state_dict(self):
        return self.tensors


class Stored:
    """The tensors of a file of make_reference.py of language models, without its masks."""

    def __init__(self, folder):
        file = (HERE.parents[1] / "language" / folder / "model.safetensors").read_bytes()
        header = json.loads(file[8:8 + int.from_bytes(file[:8], "little")])
        self.tensors = {name: torch.empty(about["shape"]) for name, about in header.items()
                        if name != "__metadata__" and not name.endswith(".mask")}

    def state_dict(self):
        return self.tensors


def timm_pvt_v2_name(name):
    name = re.sub(r"^block(\d)\.", lambda found: f"stages.{int(found[1]) - 1}.blocks.", name)
    name = re.sub(r"^norm(\d)\.", lambda found: f"stages.{int(found[1]) - 1}.norm.", name)
    name = re.sub(r"^patch_embed(\d)\.", lambda found: f"stages.{int(found[1]) - 1}.downsample.", name)
    return name.replace("stages.0.downsample.", "patch_embed.").replace("dwconv.dwconv", "dwconv")


def vit_pytorch_2021_name(name):
    """Of today's name: without norms around the patches, the last norm in the head."""
    if re.match(r"to_patch_embedding\.[13]\.", name):
        return None
    name = name.replace("to_patch_embedding.2.", "to_patch_embedding.1.").replace("mlp_head.", "mlp_head.1.")
    name = name.replace("transformer.norm.", "mlp_head.0.")
    name = name.replace(".0.to_", ".0.fn.to_").replace(".1.net.0.", ".1.norm.")
    return name.replace(".1.net.1.", ".1.fn.net.0.").replace(".1.net.4.", ".1.fn.net.3.")


# Families whose references other scripts make. Changes of their names must be refused.
REFERENCES = {
    "timm_distilled": ("timm ViT", make_reference.Timm(64, 4, 3, 32, 8, 10, distilled=True), HEADS,
                       "dist_token", "blocks.2.attn.attn_gate"),
    "hugging_face_vit": ("Hugging Face ViT", make_reference.HuggingFace(128, 2, 4, 32, 8, 10), {},
                         "vit.encoder.layer.3.layernorm_before.bias", "vit.encoder.layer.0.attention.gate"),
    "vit_pytorch": ("vit-pytorch ViT", make_reference.VitPytorch(48, 3, 64, 3, 32, 8, 10), {},
                    "transformer.layers.2.0.norm.bias", "transformer.layers.2.0.temperature"),
    "vit_pytorch_2021": ("vit-pytorch ViT (2021)",
                         Renamed(make_reference.VitPytorch(48, 3, 64, 3, 32, 8, 10), vit_pytorch_2021_name), {},
                         "transformer.layers.2.0.norm.bias", "transformer.layers.2.0.fn.temperature"),
    "torch_encoder": ("PyTorch TransformerEncoder", make_reference.TorchEncoder(128, 2, 256, 4), {},
                      "encoder.layers.3.norm1.bias", "encoder.layers.3.multihead_attn.in_proj_weight"),
    "aft_pytorch_vit": ("timm ViT with DAFT (aft-pytorch)",
                        make_upstream.DaftVit(make_upstream.AFT_PYTORCH, 64, 48, 3, 32, 8, 10, True), {},
                        "blocks.2.norm2.bias", "blocks.2.attn.gate.weight"),
    "labml_vit": ("timm ViT with DAFT (labml)",
                  make_upstream.DaftVit(make_upstream.LABML, 64, 64, 2, 32, 8, 10, False), {},
                  "blocks.1.norm2.bias", "blocks.1.attn.gate.weight"),
    "labml_aft": ("labml AFT", make_upstream.LabmlAft(40, 64, 3, 6), {},
                  "encoder.layers.1.norm_ff.bias", "encoder.layers.1.self_attn.gate.weight"),
    "fastformer": ("Fastformer", make_upstream.Fastformer(48, 4, 96, 2, 4), {},
                   "fastformer_model.LayerNorm.bias", "fastformer_model.encoders.1.attention.self.value.weight"),
    "pvt_v2": ("PVTv2", make_pyramids.PvtV2(**B0, classes=10, kind="softmax"), {},
               "block2.1.norm2.bias", "block2.1.attn.relative_position_bias_table"),
    "timm_pvt_v2": ("timm PVTv2",
                    Renamed(make_pyramids.PvtV2(**B0, classes=10, kind="softmax"), timm_pvt_v2_name), {},
                    "stages.1.blocks.1.norm2.bias", "stages.1.blocks.1.attn.relative_position_bias_table"),
    "twins": ("Twins", make_pyramids.Twins([32, 64, 96, 128], [1, 2, 3, 4], [2, 2, 2, 2], [8, 4, 2, 1], 10), {},
              "blocks.1.1.norm2.bias", "blocks.1.1.attn.relative_position_bias_table"),
    "named_mingpt": ("transformer by its names", Stored("mingpt_2020"),
                     {"norm_position": "pre", "activation": "gelu", "layer.scores.causal": "true",
                      "scale": "head_width^-1/2", "heads": "2"},
                     "blocks.1.ln2.bias", "blocks.1.attn.rotary_emb"),
    "fastformer_lm": ("Fastformer-LM", Stored("fastformer"), {"heads": "2"},
                      "fastformer_model.decoders.1.boom_norm.bias",
                      "fastformer_model.decoders.1.attention.Wgate.weight"),
    "fastformer_lm_later": ("Fastformer-LM", Stored("fastformer_later"), {"heads": "2"},
                            "fastformer_model.decoders.1.boom_norm.bias",
                            "fastformer_model.decoders.1.attention.Wgate.weight"),
}


def write_case(name, family, shapes, config, options, unknown, rename, add, **more):
    text = dict(family=family, tensors=shapes, config=config, options=options, unknown=unknown,
                rename=rename, add=add, **more)
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in text.items()]
    (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def resized_positions():
    """positions [rows, columns, channels] brought to other grids, as torch does."""
    positions = array("positions", (4, 6, 3))
    arrays = {"positions": positions.flatten(0, 1).numpy()}
    for rows, columns in ((7, 9), (3, 2), (4, 13)):
        interpolate = lambda **how: F.interpolate(
            positions.permute(2, 0, 1)[None], mode="bicubic", align_corners=False, **how
        )[0].permute(1, 2, 0).flatten(0, 1).numpy()
        size = f"{rows}x{columns}"
        arrays["bicubic_" + size] = interpolate(size=(rows, columns))
        arrays["bicubic_antialiased_" + size] = interpolate(size=(rows, columns), antialias=True)
        factors = (rows + 0.1) / 4, (columns + 0.1) / 6
        arrays["bicubic_offset_" + size] = interpolate(scale_factor=factors)
        corners = F.interpolate(positions.permute(2, 0, 1)[None], (rows, columns), mode="bilinear", align_corners=True)
        arrays["bilinear_corners_" + size] = corners[0].permute(1, 2, 0).flatten(0, 1).numpy()
    np.savez_compressed(HERE / "positions.npz", **arrays)


def referenced(names):
    """CASES of the files of references/: all, or those of these names."""
    folder = pathlib.Path(__file__).parent / "references"
    cases = {}
    for file in sorted(folder.glob("*.py")):
        module = importlib.import_module("references." + file.stem)
        if not names or file.stem in names:
            cases.update(getattr(module, "CASES", {}))
    return cases


def main():
    HERE.mkdir(exist_ok=True)
    asked = sys.argv[1:]
    if not asked:
        resized_positions()
    cases = {**({} if asked else CASES), **referenced(asked)}
    for name, (family, model, arguments, inputs, config, options, unknown, rename, add) in cases.items():
        w, maps = Weights(), []
        output = model(w, inputs, maps, **arguments)
        # A model without a head returns the tokens of its last layer and may also return the
        # features read from them.
        output, features = output if isinstance(output, tuple) else (output, None)
        assert rename in w.shapes and add not in w.shapes, name
        described = isinstance(config, Description)
        if isinstance(inputs, tuple):  # inputs of an encoder and a decoder
            more = dict(ids=inputs[0].tolist(), second_ids=inputs[1].tolist())
        elif isinstance(inputs, dict) and ("picture" in inputs or "pictures" in inputs):  # pictures, bytes [H, W, 3], and a text about them
            more = dict(ids=inputs["ids"].tolist())
            if "pictures" in inputs:
                more["pictures"] = [list(one.shape) for one in inputs["pictures"]]
            else:
                more["picture"] = list(inputs["picture"].shape)
            if "preprocessor" in inputs:  # the file beside the weights
                more["preprocessor"] = inputs["preprocessor"]
        elif isinstance(inputs, dict):  # texts with the vocabulary next to the weights
            more = dict(ids=None, texts=inputs["texts"], vocabulary=inputs["vocabulary"])
        else:
            more = dict(ids=inputs.tolist() if inputs.dim() == 1 else None)
            if inputs.dim() == 2:  # the spectrum of a sound
                more["spectrum"] = list(inputs.shape)
            if inputs.dim() == 3 and inputs.shape != IMAGE.shape:
                more["image"] = list(inputs.shape)
        if described:
            more["description"] = config
        write_case(name, family, w.shapes, None if described else config, options, unknown, rename, add, **more)
        rows = [[0, m.shape[-2] // 2, m.shape[-2] - 1] for m in maps]
        kept = [m[:, which].numpy().astype(np.float32) for m, which in zip(maps, rows)]
        if len({m.shape for m in maps}) == 1:
            kept = dict(rows=np.array(rows[0]), map_rows=np.stack(kept))
        else:  # the layers of a pyramid have maps of different shapes
            kept = {f"map_rows_{i}": of_layer for i, of_layer in enumerate(kept)}
        np.savez_compressed(
            HERE / f"{name}.npz",
            output=output.numpy().astype(np.float32),
            **({} if features is None else {"features": features.numpy().astype(np.float32)}),
            **kept,
            **w.kept,
        )
        peak = np.mean([m.numpy().max(-1).mean() for m in maps])
        print(f"{name}: |output| up to {output.abs().max():.3f}, a row's mean peak {peak:.3f}")
    for name, (family, module, options, rename, add) in ({} if asked else REFERENCES).items():
        shapes = {key: list(value.shape) for key, value in module.state_dict().items()}
        assert rename in shapes and add not in shapes, name
        write_case(name, family, shapes, None, options, None, rename, add, ids=None)


if __name__ == "__main__":
    # The module is imported under the name that the references use, so that it exists only once.
    importlib.import_module("make_families").main()
