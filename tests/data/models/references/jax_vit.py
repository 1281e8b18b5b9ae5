"""The ViTs of Google's vision_transformer and big_vision, in the names that Flax gives to what they hold.

From google-research/vision_transformer, vit_jax/models_vit.py, and google-research/big_vision, models/vit.py.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IMAGE, attend


def norm(w, x, name, **layer):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    return scaled * layered(w, name + "/scale", x.shape[-1], **layer) + layered(w, name + "/bias", x.shape[-1], **layer)


def layered(w, name, *shape, layer=None, layers=None):
    """One layer's tensor, or its slice of what all layers are stacked in."""
    return w(name, *shape) if layer is None else w(name, layers, *shape)[layer]


def dense(w, x, name, out, **layer):
    return x @ layered(w, name + "/kernel", x.shape[-1], out, **layer) + layered(w, name + "/bias", out, **layer)


def attention(w, x, asked, name, heads, maps, **layer):
    """x asks `asked`; kernels [D, H, d], and [H, d, D] of what goes out."""
    width = x.shape[-1]
    each = width // heads

    def projected(tokens, part):
        kernel = layered(w, f"{name}/{part}/kernel", width, heads, each, **layer)
        bias = layered(w, f"{name}/{part}/bias", heads, each, **layer)
        return torch.einsum("nd,dhe->hne", tokens, kernel) + bias[:, None]

    h = attend(projected(x, "query"), projected(asked, "key"), projected(asked, "value"), maps)
    kernel = layered(w, f"{name}/out/kernel", heads, each, width, **layer)
    return h @ kernel.flatten(0, 1) + layered(w, f"{name}/out/bias", width, **layer)


def mlp(w, x, name, hidden, **layer):
    return dense(w, ACTIVATIONS["gelu_tanh"](dense(w, x, name + "/Dense_0", hidden, **layer)), name + "/Dense_1",
                 x.shape[-1], **layer)


def vit(w, image, maps, *, numbers=(1, 2, 3), embedded="Transformer/posembed_input/", class_token=True, stacked=False,
        pooled=False, representation=0, width=48, heads=3, layers=2, patch=8, hidden=80, classes=7):
    kernel = w("embedding/kernel", patch, patch, image.shape[0], width)
    x = F.conv2d(image[None], kernel.permute(3, 2, 0, 1), w("embedding/bias", width), stride=patch)[0].flatten(1).T
    if class_token:
        x = torch.cat([w("cls", 1, 1, width)[0], x])
    x = x + w(embedded + "pos_embedding", 1, len(x), width)[0]
    self_attention, second, last = numbers
    for i in range(layers):
        block = "Transformer/encoderblock" + ("" if stacked else f"_{i}")
        place = dict(layer=i, layers=layers) if stacked else {}
        h = norm(w, x, block + "/LayerNorm_0", **place)
        x = x + attention(w, h, h, f"{block}/MultiHeadDotProductAttention_{self_attention}", heads, maps, **place)
        h = norm(w, x, f"{block}/LayerNorm_{second}", **place)
        x = x + mlp(w, h, f"{block}/MlpBlock_{last}", hidden, **place)
    x = norm(w, x, "Transformer/encoder_norm")
    if pooled:
        y = attention(w, w("MAPHead_0/probe", 1, 1, width)[0], x, "MAPHead_0/MultiHeadDotProductAttention_0", heads, [])
        y = (y + mlp(w, norm(w, y, "MAPHead_0/LayerNorm_0"), "MAPHead_0/MlpBlock_0", hidden))[0]
    else:
        y = x[0] if class_token else x.mean(0)
    if representation:
        y = torch.tanh(dense(w, y, "pre_logits", representation))
    return dense(w, y, "head", classes)


CASES = {
    "jax_vit": (
        "JAX ViT", vit, dict(representation=24), IMAGE, None, {}, None, "Transformer/encoderblock_1/LayerNorm_2/bias",
        "Transformer/encoderblock_0/MultiHeadDotProductAttention_1/query_norm/scale",
    ),
    "jax_vit_big_vision": (
        "JAX ViT", vit, dict(numbers=(0, 1, 0), embedded="", class_token=False, pooled=True), IMAGE, None, {}, None,
        "pos_embedding", "Transformer/encoderblock_1/gate/kernel",
    ),
    "jax_vit_stacked": (
        "JAX ViT (stacked layers)", vit, dict(numbers=(0, 1, 0), embedded="", class_token=False, stacked=True), IMAGE,
        None, {}, None, "Transformer/encoderblock/MlpBlock_0/Dense_1/bias", "Transformer/encoderblock/gate/kernel",
    ),
}
