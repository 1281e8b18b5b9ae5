"""SAM's image encoder in the names of its authors, of Hugging Face and of timm: windows that zeros fill up, layers without
windows, relative positions as one product for rows and one for columns.

From facebookresearch/segment-anything, segment_anything/modeling/image_encoder.py; huggingface/transformers,
models/sam/modeling_sam.py; huggingface/pytorch-image-models, timm/models/vision_transformer_sam.py. The maps are of the patches: what fills up the windows has no place in them.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IMAGE, heads_of, hf_config, timm_config
from references.swin import cut


def met(q, table, side):
    """q [..., side, d] along an axis → q·table[i − j + side − 1]: [..., side, side]."""
    i = torch.arange(side)
    if len(table) != 2 * side - 1:
        table = F.interpolate(table.T[None], size=2 * side - 1, mode="linear")[0].T
    return torch.einsum("...id,ijd->...ij", q, table[i[:, None] - i + side - 1])


def attend(w, x, a, heads, tables, side):
    """Queries, keys and values of one window or of the grid, [side², D] → maps [H, side², side²], output."""
    q, k, v = (heads_of(part, heads) for part in w.linear(x, a + "qkv", 3 * x.shape[-1]).chunk(3, -1))
    scores = q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)
    of_cells = q.unflatten(1, (side, side))  # [H, y, x, d]
    rows = met(of_cells.transpose(1, 2), tables[0], side).transpose(1, 2)  # [H, y, x, y']
    columns = met(of_cells, tables[1], side)  # [H, y, x, x']
    scores = scores + (rows[..., None] + columns[..., None, :]).flatten(3).flatten(1, 2)
    weights = scores.softmax(-1)
    return weights, (weights @ v).transpose(0, 1).flatten(1)


def layer_attention(w, x, a, heads, grid, window, stored, maps):
    """x [grid², D], already normed."""
    width = x.shape[-1]
    d = width // heads
    tables = [w(a + name, 2 * stored - 1, d) for name in ("rel_pos_h", "rel_pos_w")]
    if not window:
        weights, out = attend(w, x, a, heads, tables, grid)
        maps.append(weights)
        return w.linear(out, a + "proj", width)
    more = -grid % window
    padded = F.pad(x.unflatten(0, (grid, grid)), (0, 0, 0, more, 0, more))
    places = cut(F.pad(torch.arange(grid * grid).unflatten(0, (grid, grid)), (0, more, 0, more), value=-1)[..., None],
                 window)[..., 0]
    whole = torch.zeros(heads, grid * grid, grid * grid).double()
    result = torch.zeros_like(x)
    for part, place in zip(cut(padded, window), places):
        weights, out = attend(w, part, a, heads, tables, window)
        real = place >= 0
        kept = place[real]
        whole[:, kept[:, None], kept] = weights[:, real][:, :, real]
        result[kept] = out[real]
    maps.append(whole)
    return w.linear(result, a + "proj", width)


def sam(w, image, maps, *, root="image_encoder.", hugging_face=False, width=48, heads=4, layers=3, patch=4, window=3,
        whole=(1,), trained=None, hidden=80, act="gelu", eps=1e-6, out=20, timm=False, positions=True, scales=False,
        classes=None):
    """`trained`: side of the grid of the tables of layers without windows. The neck is made, and left out, and so is a
    head of `classes`, whose neck is but a norm."""
    x = w.patches(image, root + ("patch_embed.projection" if hugging_face else "patch_embed.proj"), width, patch)
    grid = image.shape[1] // patch
    stored = trained or grid
    if positions:
        places = w(root + "pos_embed", 1, stored, stored, width)
        if stored != grid:
            places = F.interpolate(places.permute(0, 3, 1, 2), size=(grid, grid), mode="bicubic", antialias=timm)
            places = places.permute(0, 2, 3, 1)
        x = x + places.flatten(0, 2)
    first, second = ("mlp.fc1", "mlp.fc2") if timm else ("mlp.lin1", "mlp.lin2")
    for i in range(layers):
        b = f"{root}layers.{i}." if hugging_face else f"{root}blocks.{i}."
        norm = b + ("layer_norm" if hugging_face else "norm")
        side = 0 if i in whole else window
        h = layer_attention(w, w.norm(x, norm + "1", eps), b + "attn.", heads, grid, side, side or stored, maps)
        x = x + (w(b + "ls1.gamma", width) * h if scales else h)
        h = ACTIVATIONS[act](w.linear(w.norm(x, norm + "2", eps), b + first, hidden))
        h = w.linear(h, b + second, width)
        x = x + (w(b + "ls2.gamma", width) * h if scales else h)
    if classes:
        w.norm(x, root + "neck", 1e-6)
        w.linear(x, "head.fc", classes)
        return x
    if hugging_face:
        names = ("conv1", "layer_norm1", "conv2", "layer_norm2")
    else:
        names = "0123"
    for name, shape in zip(names, ((out, width, 1, 1), (out,), (out, out, 3, 3), (out,))):
        w(f"{root}neck.{name}.weight", *shape)
        if len(shape) == 1:
            w(f"{root}neck.{name}.bias", *shape)
    return x


def sam_config(**more):
    vision = hf_config("", attention_dropout=0.0, global_attn_indexes=[1], hidden_act="gelu", intermediate_size=288,
                       layer_norm_eps=1e-6, mlp_dim=80, mlp_ratio=4.0, num_pos_feats=24, output_channels=20,
                       projection_dim=512, use_abs_pos=True, use_rel_pos=True, window_size=3)
    vision.update(image_size=32, patch_size=4, num_hidden_layers=3, **more)
    return {
        "_commit_hash": None,
        "architectures": ["SamModel"],
        "initializer_range": 0.02,
        "mask_decoder_config": {"hidden_act": "relu", "hidden_size": 20, "num_hidden_layers": 2},
        "model_type": "sam",
        "prompt_encoder_config": {"hidden_act": "gelu", "hidden_size": 20, "image_size": 32},
        "torch_dtype": "float32",
        "vision_config": vision,
    }


CASES = {
    "sam": (
        "SAM image encoder", sam, {}, IMAGE, None, {}, None, "image_encoder.blocks.1.attn.rel_pos_w",
        "image_encoder.blocks.0.attn.q_norm.weight",
    ),
    "sam_other_image": (
        "SAM image encoder", sam, dict(trained=6, window=5, whole=(0, 2), root=""), IMAGE, None,
        {"image_height": "32", "image_width": "32"}, None, "pos_embed", "blocks.2.attn.gate.weight",
    ),
    "timm_sam": (
        "timm SAM", sam, dict(timm=True, root="", eps=1e-5), IMAGE,
        timm_config("samvit_base_patch16", {"num_features": 20}, num_heads=4, img_size=32, patch_size=4, window_size=3, use_rel_pos=True,
                    global_attn_indexes=[1]),
        {}, {"model_args": {"use_rope": True}}, "blocks.0.attn.rel_pos_h", "blocks.2.attn.q_norm.weight",
    ),
    "timm_sam_without_positions": (
        "timm SAM", sam, dict(timm=True, root="", eps=1e-5, positions=False, window=8, scales=True, classes=7), IMAGE,
        timm_config("samvit_base_patch16_224", {"global_pool": "avg"}, num_heads=4, use_abs_pos=False, neck_chans=None),
        {}, {"model_args": {"use_rel_pos": False}}, "blocks.1.mlp.fc2.bias", "blocks.2.attn.lora_A",
    ),
    "timm_sam_other_image": (
        "timm SAM", sam, dict(timm=True, root="", eps=1e-5, trained=6, window=5, whole=(0, 2)), IMAGE, None,
        {"image_height": "32", "image_width": "32"}, None, "blocks.2.norm2.weight", "blocks.2.attn.gate.weight",
    ),
    "hugging_face_sam": (
        "Hugging Face SAM", sam, dict(hugging_face=True, root="vision_encoder.", act="gelu_tanh", eps=1e-5), IMAGE,
        sam_config(hidden_act="gelu_new", layer_norm_eps=1e-5), {}, {"vision_config": {"use_rel_pos": False}},
        "vision_encoder.layers.2.layer_norm1.bias", "vision_encoder.layers.2.attn.lora_A",
    ),
}
