"""Swin in the names of its authors, of timm and of Hugging Face: attention within windows of the grid, every other
layer's shifted by half, biases of relative positions within them, and patches merged four to one between stages.
Zeros make whole windows of a grid that has none: timm puts them behind the turned grid, transformers behind the grid
before it is turned.

From microsoft/Swin-Transformer, models/swin_transformer.py; huggingface/pytorch-image-models,
timm/models/swin_transformer.py; huggingface/transformers, models/swin/modeling_swin.py. Windows are made as they are
there: the grid is turned, cut, and the scores between what was apart get -100.
"""

import torch
import torch.nn.functional as F

from make_reference import array
from make_families import ACTIVATIONS, IMAGE, heads_of, hf_config, timm_config
from references.beit import resized_table


def cut(x, side):
    """[rows, columns, D] → [windows, side², D]."""
    return x.unflatten(1, (-1, side)).unflatten(0, (-1, side)).transpose(1, 2).flatten(2, 3).flatten(0, 1)


def relative_bias(table, side):
    row, column = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    row, column = row.flatten(), column.flatten()
    index = (row[:, None] - row + side - 1) * (2 * side - 1) + column[:, None] - column + side - 1
    return table[index].permute(2, 0, 1)


def regions(grid, side, shift):
    """Which cells of the turned grid were neighbours before: [windows, side²]."""
    marks = torch.zeros(grid, grid, 1)
    slices = (slice(0, -side), slice(-side, -shift), slice(-shift, None))
    for i, rows in enumerate(slices):
        for j, columns in enumerate(slices):
            marks[rows, columns] = 3 * i + j
    return cut(marks, side)[..., 0]


def window_attention(q, k, v, table, grid, side, shift, maps, filling=None, fill=None):
    """q, k and v [grid², D] → the same; the map in the tokens' own order. `fill`: what a zero is as q, k and v."""
    heads = table.shape[1]
    shift = shift if side < grid else 0
    whole = -(-grid // side) * side

    def filled(x, row):
        if whole == grid:
            return x
        y = row.expand(whole, whole, -1).clone()
        y[:grid, :grid] = x
        return y

    def turn(x, row):
        x = x.unflatten(0, (grid, grid))
        x = x if filling == "after" else filled(x, row)
        x = torch.roll(x, (-shift, -shift), (0, 1))
        return cut(filled(x, row) if filling == "after" else x, side)

    rows = fill or (None, None, None)
    q, k, v = (torch.stack([heads_of(part, heads) for part in turn(x, row)]) for x, row in zip((q, k, v), rows))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + relative_bias(table, side)
    if shift:
        mark = regions(whole, side, shift)
        scores = scores + torch.where(mark[:, None] != mark[:, :, None], -100.0, 0.0)[:, None]
    parts = scores.softmax(-1)  # [windows, H, side², side²]
    places = turn(torch.arange(grid * grid)[:, None], torch.tensor([-1]))[..., 0]
    in_order = torch.zeros(heads, grid * grid, grid * grid).double()
    out = torch.zeros(grid * grid, q.shape[1] * q.shape[-1]).double()
    for part, value, place in zip(parts, v, places):
        kept = place >= 0
        in_order[:, place[kept][:, None], place[kept]] = part[:, kept][:, :, kept]
        out[place[kept]] = (part @ value).transpose(0, 1).flatten(1)[kept]
    maps.append(in_order)
    return out


def merged(w, x, grid, name, width):
    x = F.pad(x.unflatten(0, (grid, grid)), (0, 0, 0, grid % 2, 0, grid % 2))
    four = torch.cat([x[0::2, 0::2], x[1::2, 0::2], x[0::2, 1::2], x[1::2, 1::2]], -1).flatten(0, 1)
    return w.linear(w.norm(four, name + ".norm", 1e-5), name + ".reduction", width, bias=False)


def swin(w, image, maps, *, widths=(16, 32), heads=(2, 4), depths=(2, 2), patch=2, side=4, act="gelu", eps=1e-5,
         merge_at=1, head="head", root="", hugging_face=False, classes=7, trained=None, filling=None):
    """`merge_at`: how many stages before their own the names of the merging stand; `trained`: side of the windows that
    the tables are of; `filling`: zeros "before" or "after" the grid is turned."""
    trained = trained or side
    e = root + "embeddings." if hugging_face else "patch_embed."
    x = w.patches(image, e + ("patch_embeddings.projection" if hugging_face else "proj"), widths[0], patch)
    x = w.norm(x, e + "norm", 1e-5)
    grid = image.shape[1] // patch
    for stage, (width, count, depth) in enumerate(zip(widths, heads, depths)):
        layers = (root + "encoder.layers." if hugging_face else "layers.")
        if stage > 0:
            x = merged(w, x, grid, f"{layers}{stage - merge_at}.downsample", width)
            grid = (grid + 1) // 2
        for block in range(depth):
            b = f"{layers}{stage}.blocks.{block}."
            names = ("layernorm_before", "layernorm_after") if hugging_face else ("norm1", "norm2")
            h = w.norm(x, b + names[0], eps)
            a = b + ("attention.self." if hugging_face else "attn.")
            if hugging_face:
                project = lambda h: [w.linear(h, a + part, width) for part in ("query", "key", "value")]
            else:
                project = lambda h: w.linear(h, a + "qkv", 3 * width).chunk(3, -1)
            q, k, v = project(h)
            fill = project(torch.zeros_like(h[:1])) if filling else None
            table = w(a + "relative_position_bias_table", (2 * trained - 1) ** 2, count)
            table = resized_table(table, side, "geometric", extra=0)
            w(a + "relative_position_index", trained**2, trained**2)
            h = window_attention(q, k, v, table, grid, side, side // 2 if block % 2 else 0, maps, filling, fill)
            x = x + w.linear(h, b + ("attention.output.dense" if hugging_face else "attn.proj"), width)
            h = w.norm(x, b + names[1], eps)
            h = ACTIVATIONS[act](w.linear(h, b + ("intermediate.dense" if hugging_face else "mlp.fc1"), 3 * width))
            x = x + w.linear(h, b + ("output.dense" if hugging_face else "mlp.fc2"), width)
    x = w.norm(x, root + ("layernorm" if hugging_face else "norm"), eps).mean(0)
    return w.linear(x, head, classes)


def swin_config(**more):
    config = hf_config("swin", depths=[2, 2], drop_path_rate=0.1, embed_dim=16, encoder_stride=32, hidden_act="gelu",
                       layer_norm_eps=1e-5, mlp_ratio=3.0, num_heads=[2, 4], num_layers=2, path_norm=False,
                       use_absolute_embeddings=False, window_size=4, **more)
    config.update(hidden_size=32, patch_size=2)
    del config["num_attention_heads"], config["num_hidden_layers"]
    return config


def swin_timm(side):
    return timm_config("swin_tiny_patch4_window7_224", {"global_pool": "avg", "num_features": 32}, num_heads=[2, 4],
                       depths=[2, 2], window_size=side)


TIMM = swin_timm(4)
ODD = array("input", (3, 30, 30)).double()
SIZE = {"image_height": "32", "image_width": "32"}

CASES = {
    "swin": (
        "Swin", swin, dict(act="gelu_tanh"), IMAGE, None, {**SIZE, "activation": "gelu_tanh"}, None,
        "layers.0.downsample.norm.weight", "layers.1.blocks.0.attn.logit_scale",
    ),
    "swin_other_windows": (
        "Swin", swin, dict(trained=3), IMAGE, None, {**SIZE, "layer.scores.window": "4"}, None,
        "layers.0.downsample.norm.weight", "layers.1.blocks.0.attn.logit_scale",
    ),
    "timm_swin": (
        "timm Swin", swin, dict(merge_at=0, head="head.fc"), IMAGE, TIMM, {},
        {"model_args": {"act_layer": "gelu_10"}}, "layers.1.downsample.reduction.weight",
        "layers.0.blocks.1.attn.q_bias",
    ),
    "timm_swin_filled": (
        "timm Swin", swin, dict(merge_at=0, head="head.fc", side=5, filling="after"), IMAGE, swin_timm(5), {},
        {"model_args": {"act_layer": "gelu_10"}}, "layers.1.downsample.reduction.weight",
        "layers.0.blocks.1.attn.q_bias",
    ),
    "hugging_face_swin_filled": (
        "Hugging Face Swin",
        swin, dict(hugging_face=True, root="swin.", head="classifier", side=6, filling="before"), ODD,
        {**swin_config(), "image_size": 30, "window_size": 6}, {}, {"use_absolute_embeddings": True},
        "swin.encoder.layers.1.blocks.1.attention.self.relative_position_bias_table",
        "swin.embeddings.position_embeddings",
    ),
    "hugging_face_swin": (
        "Hugging Face Swin", swin,
        dict(hugging_face=True, root="swin.", head="classifier", eps=1e-4, side=8), IMAGE,
        {**swin_config(), "layer_norm_eps": 1e-4, "window_size": 8}, {}, {"use_absolute_embeddings": True},
        "swin.encoder.layers.1.blocks.1.attention.self.relative_position_bias_table",
        "swin.embeddings.position_embeddings",
    ),
}
