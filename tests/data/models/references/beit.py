"""BEiT in the names of timm and of Hugging Face, whose data2vec-vision is the same: tables of relative positions with
three rows of the class token, of each layer or of all; EVA's first models in timm's. EVA-02 in timm's: rotary pairs on
the grid of patches, a gated MLP with a norm inside. Keys have no bias. SigLIP in timm's: attention pooling.

From huggingface/pytorch-image-models, timm/models/beit.py, eva.py and vision_transformer.py, timm/layers/mlp.py,
pos_embed_sincos.py and attention_pool.py; huggingface/transformers, models/beit/modeling_beit.py.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, HEADS, IMAGE, attend, heads_of, hf_config, timm_config

SIDE = 4  # patches along a side of IMAGE


def geometric_places(source, target):
    """Where the 2·(source // 2) + 1 old offsets lie among the new ones: 1, 1 + q, 1 + q + q², … with q such that the
    last is target // 2, found as timm finds it."""
    left, right = 1.01, 1.5
    while right - left > 1e-6:
        q = (left + right) / 2
        if (1 - q ** (source // 2)) / (1 - q) > target // 2:
            right = q
        else:
            left = q
    away = [sum(q**j for j in range(i + 1)) for i in range(source // 2)]
    return np.array([-x for x in reversed(away)] + [0.0] + away)


def resized_table(table, side, how, extra=3):
    """[(2·stored − 1)² + extra, H] for side × side patches: timm's resize_rel_pos_bias_table, which interpolates
    linearly between these places, or Hugging Face's bilinear interpolation."""
    source, target = round(math.sqrt(len(table) - extra)), 2 * side - 1
    if source == target:
        return table
    offsets, rest = table[: len(table) - extra], table[len(table) - extra :]
    grid = offsets.unflatten(0, (source, source)).permute(2, 0, 1)
    if how == "bilinear":
        grid = F.interpolate(grid[None], size=(target, target), mode="bilinear")[0]
    else:
        places, wanted = geometric_places(source, target), np.arange(target) - target // 2
        along = lambda x: np.apply_along_axis(lambda line: np.interp(wanted, places, line), -1, x)
        grid = torch.from_numpy(along(along(grid.numpy()).swapaxes(-1, -2)).swapaxes(-1, -2).copy())
    return torch.cat([grid.flatten(1).T, rest])


def relative_bias(table, side=SIDE):
    """[H, N, N] of a table [(2·side − 1)² + 3, H]: first token the class token."""
    across = 2 * side - 1
    row, column = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    row, column = row.flatten(), column.flatten()
    index = torch.zeros(side * side + 1, side * side + 1, dtype=torch.long)
    index[1:, 1:] = (row[:, None] - row + side - 1) * across + column[:, None] - column + side - 1
    index[0, 0:] = across**2
    index[0:, 0] = across**2 + 1
    index[0, 0] = across**2 + 2
    return table[index].permute(2, 0, 1)


def attend_biased(q, k, v, maps, bias):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    maps.append((scores if bias is None else scores + bias).softmax(-1))
    return (maps[-1] @ v).transpose(0, 1).flatten(1)


def timm_beit(w, image, maps, *, width=48, heads=4, layers=2, patch=8, tables="each", positions=False, scales=True,
              mean=True, eps=1e-6, act="gelu", classes=7, trained=SIDE):
    """`trained`: patches along a side of the grid that the tables are of."""
    x = w.patches(image, "patch_embed.proj", width, patch)
    x = torch.cat([w("cls_token", 1, 1, width)[0], x])
    if positions:
        x = x + w("pos_embed", 1, len(x), width)[0]
    rows = (2 * trained - 1) ** 2 + 3
    table = lambda name: relative_bias(resized_table(w(name, rows, heads), SIDE, "geometric"))
    bias = None
    if tables == "shared":
        bias = table("rel_pos_bias.relative_position_bias_table")
    for i in range(layers):
        b = f"blocks.{i}."
        q, k, v = (w.norm(x, b + "norm1", eps) @ w(b + "attn.qkv.weight", 3 * width, width).T).chunk(3, -1)
        q, v = q + w(b + "attn.q_bias", width), v + w(b + "attn.v_bias", width)
        if tables == "each":
            bias = table(b + "attn.relative_position_bias_table")
        h = attend_biased(*(heads_of(part, heads) for part in (q, k, v)), maps, bias)
        h = w.linear(h, b + "attn.proj", width)
        x = x + (w(b + "gamma_1", width) * h if scales else h)
        h = ACTIVATIONS[act](w.linear(w.norm(x, b + "norm2", eps), b + "mlp.fc1", 2 * width))
        h = w.linear(h, b + "mlp.fc2", width)
        x = x + (w(b + "gamma_2", width) * h if scales else h)
    x = w.norm(x[1:].mean(0), "fc_norm", eps) if mean else w.norm(x[0], "norm", eps)
    return w.linear(x, "head", classes)


def hf_beit(w, image, maps, *, root, width=48, heads=4, layers=2, patch=8, hidden=80, tables="each", positions=False,
            mean=True, eps=1e-12, act="gelu", classes=7, trained=SIDE):
    e = root + "embeddings."
    x = w.patches(image, e + "patch_embeddings.projection", width, patch)
    x = torch.cat([w(e + "cls_token", 1, 1, width)[0], x])
    if positions:
        x = x + w(e + "position_embeddings", 1, len(x), width)[0]
    rows = (2 * trained - 1) ** 2 + 3
    table = lambda name: relative_bias(resized_table(w(name, rows, heads), SIDE, "bilinear"))
    bias = None
    if tables == "shared":
        bias = table(root + "encoder.relative_position_bias.relative_position_bias_table")
    for i in range(layers):
        l = f"{root}encoder.layer.{i}."
        a = l + "attention.attention."
        h = w.norm(x, l + "layernorm_before", eps)
        q = heads_of(w.linear(h, a + "query", width), heads)
        k = heads_of(w.linear(h, a + "key", width, bias=False), heads)
        v = heads_of(w.linear(h, a + "value", width), heads)
        if tables == "each":
            bias = table(a + "relative_position_bias.relative_position_bias_table")
            w(a + "relative_position_bias.relative_position_index", SIDE**2 + 1, SIDE**2 + 1)
        h = w.linear(attend_biased(q, k, v, maps, bias), l + "attention.output.dense", width)
        x = x + w(l + "lambda_1", width) * h
        h = w.linear(w.norm(x, l + "layernorm_after", eps), l + "intermediate.dense", hidden)
        x = x + w(l + "lambda_2", width) * w.linear(ACTIVATIONS[act](h), l + "output.dense", width)
    if mean:
        x = w.norm(x[1:].mean(0), root + "pooler.layernorm", eps)
    else:
        x = w.norm(x[0], root + "layernorm", eps)
    return w.linear(x, "classifier", classes)


def turn_pairs(x, angles):
    """x [H, N, d], angles [N, d/2]: channels 2i and 2i + 1 turned together."""
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = even * angles.cos() - odd * angles.sin(), odd * angles.cos() + even * angles.sin()
    return torch.stack(turned, -1).flatten(-2)


def cell_angles(head_width, trained, prefix=1, side=SIDE):
    """[prefix + side², d/2]: by row, then by column, in cells of the trained grid; prefix tokens are not turned."""
    periods = 10000.0 ** (torch.arange(head_width // 4).double() / (head_width // 4))
    places = torch.arange(side).double() / side * trained
    row, column = torch.meshgrid(places, places, indexing="ij")
    angles = torch.cat([place.flatten()[:, None] / periods for place in (row, column)], -1)
    return torch.cat([torch.zeros(prefix, angles.shape[-1]).double(), angles])


def eva02(w, image, maps, *, width=48, heads=4, layers=2, patch=8, hidden=56, fused=False, heads_norm=False, trained=16,
          mean=True, eps=1e-6, classes=7):
    x = w.patches(image, "patch_embed.proj", width, patch)
    x = torch.cat([w("cls_token", 1, 1, width)[0], x])
    x = x + w("pos_embed", 1, len(x), width)[0]
    angles = cell_angles(width // heads, trained)
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.norm(x, b + "norm1", eps)
        if fused:
            q, k, v = (h @ w(b + "attn.qkv.weight", 3 * width, width).T).chunk(3, -1)
            q, v = q + w(b + "attn.q_bias", width), v + w(b + "attn.v_bias", width)
        else:
            q, v = (w.linear(h, f"{b}attn.{part}_proj", width) for part in "qv")
            k = w.linear(h, b + "attn.k_proj", width, bias=False)
        q, k, v = (heads_of(part, heads) for part in (q, k, v))
        h = attend(turn_pairs(q, angles), turn_pairs(k, angles), v, maps)
        if heads_norm:
            h = w.norm(h, b + "attn.norm", eps)
        x = x + w.linear(h, b + "attn.proj", width)
        h = w.norm(x, b + "norm2", eps)
        if fused:
            gate, h = w.linear(h, b + "mlp.fc1", 2 * hidden).chunk(2, -1)
            h = ACTIVATIONS["silu"](gate) * h
        else:
            h = ACTIVATIONS["silu"](w.linear(h, b + "mlp.fc1_g", hidden)) * w.linear(h, b + "mlp.fc1_x", hidden)
            h = w.norm(h, b + "mlp.norm", eps)
        x = x + w.linear(h, b + "mlp.fc2", width)
    x = w.norm(x[1:].mean(0), "fc_norm", eps) if mean else w.norm(x, "norm", eps)[0]
    return w.linear(x, "head", classes)


def rope_vit(w, image, maps, *, width=48, heads=4, layers=2, patch=8, registers=3, biases=True, eps=1e-6, classes=7):
    x = w.patches(image, "patch_embed.proj", width, patch)
    x = torch.cat([w("reg_token", 1, registers, width)[0], x])
    angles = cell_angles(width // heads, 16, registers)
    for i in range(layers):
        b = f"blocks.{i}."
        q, k, v = (w.norm(x, b + "norm1", eps) @ w(b + "attn.qkv.weight", 3 * width, width).T).chunk(3, -1)
        if biases:
            q, v = q + w(b + "attn.q_bias", width), v + w(b + "attn.v_bias", width)
        q, k, v = (heads_of(part, heads) for part in (q, k, v))
        h = w.linear(attend(turn_pairs(q, angles), turn_pairs(k, angles), v, maps), b + "attn.proj", width)
        x = x + w(b + "gamma_1", width) * h
        h = ACTIVATIONS["gelu"](w.linear(w.norm(x, b + "norm2", eps), b + "mlp.fc1", 2 * width))
        x = x + w(b + "gamma_2", width) * w.linear(h, b + "mlp.fc2", width)
    return w.linear(w.norm(x[registers:].mean(0), "fc_norm", eps), "head", classes)


def timm_siglip(w, image, maps, *, width=48, heads=4, layers=2, patch=8, act="gelu", eps=1e-6):
    """The last layer's tokens, and what is read of them."""
    x = w.patches(image, "patch_embed.proj", width, patch)
    x = x + w("pos_embed", 1, len(x), width)[0]
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.linear(w.norm(x, b + "norm1", eps), b + "attn.qkv", 3 * width)
        h = attend(*(heads_of(part, heads) for part in h.chunk(3, -1)), maps)
        x = x + w.linear(h, b + "attn.proj", width)
        h = ACTIVATIONS[act](w.linear(w.norm(x, b + "norm2", eps), b + "mlp.fc1", 2 * width))
        x = x + w.linear(h, b + "mlp.fc2", width)
    tokens = w.norm(x, "norm", eps)
    q = heads_of(w.linear(w("attn_pool.latent", 1, 1, width)[0], "attn_pool.q", width), heads)
    k, v = (heads_of(part, heads) for part in w.linear(tokens, "attn_pool.kv", 2 * width).chunk(2, -1))
    read = w.linear(attend(q, k, v, []), "attn_pool.proj", width)
    h = w.linear(w.norm(read, "attn_pool.norm", eps), "attn_pool.mlp.fc1", 2 * width)
    read = read + w.linear(ACTIVATIONS[act](h), "attn_pool.mlp.fc2", width)
    return x, read[0]


def beit_config(model_type="beit", **more):
    config = hf_config(
        model_type, auxiliary_channels=256, auxiliary_concat_input=False, auxiliary_loss_weight=0.4,
        auxiliary_num_convs=1, drop_path_rate=0.1, hidden_act="gelu", intermediate_size=80, layer_norm_eps=1e-12,
        layer_scale_init_value=0.1, out_indices=[3, 5, 7, 11], pool_scales=[1, 2, 3, 6],
        semantic_loss_ignore_index=255, use_absolute_position_embeddings=False, use_auxiliary_head=True,
        use_mask_token=False, use_mean_pooling=True, use_relative_position_bias=True,
        use_shared_relative_position_bias=False, vocab_size=8192, **more,
    )
    del config["qkv_bias"]
    return config


OTHER = {"model_args": {"act_layer": "gelu_10"}}

CASES = {
    "timm_beit": (
        "timm BEiT", timm_beit, {}, IMAGE, timm_config("beit_base_patch16_224", num_heads=4), {}, OTHER,
        "blocks.1.attn.v_bias", "blocks.1.attn.gate.weight",
    ),
    "timm_beit_shared": (
        "timm BEiT", timm_beit, dict(tables="shared", positions=True, mean=False, act="gelu_tanh"), IMAGE, None,
        {**HEADS, "activation": "gelu_tanh"}, None, "blocks.0.gamma_2", "blocks.0.attn.k_norm.weight",
    ),
    "timm_beit_larger_grid": (
        "timm BEiT", timm_beit, dict(trained=3), IMAGE, None, {**HEADS, "image_height": "32", "image_width": "32"},
        None, "blocks.0.attn.relative_position_bias_table", "blocks.1.attn.gate.weight",
    ),
    "timm_beit_smaller_grid": (
        "timm BEiT", timm_beit, dict(trained=7, tables="shared", scales=False), IMAGE, None,
        {**HEADS, "image_height": "32", "image_width": "32"}, None, "rel_pos_bias.relative_position_bias_table",
        "blocks.1.attn.gate.weight",
    ),
    "timm_eva": (
        "timm BEiT", timm_beit, dict(tables="none", positions=True, scales=False), IMAGE,
        timm_config("eva_giant_patch14_224", num_heads=4, use_rot_pos_emb=False), {},
        {"model_args": {"use_rot_pos_emb": True}}, "blocks.1.attn.q_bias", "blocks.1.mlp.norm.weight",
    ),
    "timm_eva02": (
        "timm EVA-02", eva02, dict(heads_norm=True, mean=False), IMAGE, None, HEADS, None,
        "blocks.1.mlp.norm.weight", "blocks.0.attn.k_proj.lora_A",
    ),
    "timm_eva02_fused": (
        "timm EVA-02", eva02, dict(fused=True, trained=12), IMAGE,
        timm_config("eva02_tiny_patch14_224", num_heads=4, ref_feat_shape=[12, 12]), {},
        {"model_args": {"ref_feat_shape": [16, 12]}}, "blocks.0.attn.q_bias", "reg_token",
    ),
    "timm_rope_vit": (
        "timm ViT with rotary positions", rope_vit, {}, IMAGE,
        timm_config("vit_betwixt_patch16_rope_reg4_gap_256", {"global_pool": "avg"}, num_heads=4), {}, OTHER,
        "fc_norm.weight", "pos_embed",
    ),
    "timm_rope_vit_without_biases": (
        "timm ViT with rotary positions", rope_vit, dict(biases=False, registers=1), IMAGE, None,
        {**HEADS, "image_height": "32", "image_width": "32"}, None, "blocks.1.gamma_2", "blocks.0.attn.q_norm.weight",
    ),
    "timm_siglip": (
        "timm ViT", timm_siglip, dict(act="gelu_tanh"), IMAGE,
        timm_config("vit_so400m_patch16_siglip_256", {"global_pool": "map"}, num_heads=4), {}, OTHER,
        "attn_pool.mlp.fc1.weight", "attn_pool.k_norm.weight",
    ),
    "hugging_face_beit": (
        "Hugging Face BEiT", hf_beit, dict(root="beit."), IMAGE, beit_config(), {}, {"hidden_act": "gelu_10"},
        "beit.pooler.layernorm.weight", "beit.encoder.layer.0.attention.attention.key.lora_A",
    ),
    "hugging_face_beit_larger_grid": (
        "Hugging Face BEiT", hf_beit, dict(root="beit.", trained=3), IMAGE, {**beit_config(), "image_size": 24},
        {"image_height": "32", "image_width": "32"}, {"hidden_act": "gelu_10"}, "beit.pooler.layernorm.weight",
        "beit.encoder.layer.0.attention.attention.key.lora_A",
    ),
    "hugging_face_beit_class_token": (
        "Hugging Face BEiT (class token)", hf_beit,
        dict(root="beit.", tables="shared", positions=True, mean=False, eps=1e-6, act="relu"), IMAGE,
        {**beit_config(), "hidden_act": "relu", "layer_norm_eps": 1e-06, "use_absolute_position_embeddings": True,
         "use_mean_pooling": False, "use_relative_position_bias": False, "use_shared_relative_position_bias": True},
        {}, {"use_mean_pooling": "yes"}, "beit.layernorm.weight", "beit.embeddings.register_tokens",
    ),
    "hugging_face_data2vec_vision": (
        "Hugging Face BEiT", hf_beit, dict(root="data2vec_vision."), IMAGE, beit_config("data2vec-vision"), {},
        {"use_relative_position_bias": "yes"}, "data2vec_vision.encoder.layer.1.lambda_2",
        "data2vec_vision.encoder.layer.1.attention.gate.weight",
    ),
}
