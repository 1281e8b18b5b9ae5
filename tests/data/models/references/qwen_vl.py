"""Qwen2-VL, Qwen2.5-VL and Qwen3-VL: images that nearly keep their size, an image tower with rotary rows and columns,
squares of patches that become tokens, and positions of three parts in the text. The second has windows in the tower,
the third adds patches of earlier layers of the tower after the first layers of the language model.

From huggingface/transformers, models/qwen2_vl, qwen2_5_vl, qwen3_vl and qwen3_vl_moe: modeling_*.py and
image_processing_qwen2_vl.py, with Pillow as the latter. Patches are in upstream's order here, square by square.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

from make_families import ACTIVATIONS, heads_of
from make_reference import array
from references.llama import QWEN2, QWEN3, llama
from references.mixtures import STACKED_NAMES, experts
from references.llava import DEVIATION, MEAN, Renamed, picture, pictures_of
from references.parts import attend_terms, rms, rotary, turn_halves

PICTURE_TOKEN = 27
HALF = torch.full((3,), 0.5).double()


def fitted(pixels, step, least, most):
    """[H, W, 3] → the image in whole steps."""
    height, width = pixels.shape[:2]
    high, wide = round(height / step) * step, round(width / step) * step
    if high * wide > most:
        ratio = math.sqrt(height * width / most)
        high, wide = math.floor(height / ratio / step) * step, math.floor(width / ratio / step) * step
    elif high * wide < least:
        ratio = math.sqrt(least / (height * width))
        high, wide = math.ceil(height * ratio / step) * step, math.ceil(width * ratio / step) * step
    image = Image.fromarray(pixels.numpy().astype(np.uint8)).resize((wide, high), Image.BICUBIC)
    return torch.from_numpy(np.array(image)).double()


def by_squares(rows, columns, merge=2):
    """Row and column of each patch, square by square."""
    place = torch.arange(rows * columns).reshape(rows // merge, merge, columns // merge, merge)
    place = place.permute(0, 2, 1, 3).flatten()
    return place // columns, place % columns


def tower(w, image, maps, *, kind, width=48, heads=4, layers=2, patch=8, hidden=80, merge=2, window=None, whole=(),
          stored_side=4, kept=()):
    """The patches after the last layer and after those in `kept`; `image` is normalised, [3, H, W]."""
    rows, columns = image.shape[1] // patch, image.shape[2] // patch
    frames = torch.stack([image, image])
    x = frames.reshape(1, 2, 3, rows // merge, merge, patch, columns // merge, merge, patch)
    x = x.permute(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(rows * columns, -1)
    x = x @ w("patch_embed.proj.weight", width, 3, 2, patch, patch).reshape(width, -1).T
    row, column = by_squares(rows, columns, merge)
    if kind == 3:
        x = x + w("patch_embed.proj.bias", width)
        stored = w("pos_embed.weight", stored_side**2, width).T.reshape(1, width, stored_side, stored_side)
        positions = F.interpolate(stored, (rows, columns), mode="bilinear", align_corners=True)
        x = x + positions[0].flatten(1).T[row * columns + column]
    norm = (lambda x, name: rms(w, x, name, 1e-6)) if kind == 2.5 else (lambda x, name: w.norm(x, name, 1e-6))
    frequencies = rotary(width // heads // 2, 10000.0).float()
    angles = torch.cat([torch.outer(row.float(), frequencies), torch.outer(column.float(), frequencies)], -1).double()
    if window:
        block = row // window * columns + column // window
    result, own_maps = {}, []
    for i in range(layers):
        b = f"blocks.{i}."
        h = w.linear(norm(x, b + "norm1"), b + "attn.qkv", 3 * width)
        q, k, v = (heads_of(part, heads) for part in h.chunk(3, -1))
        q, k = turn_halves(q, angles), turn_halves(k, angles)
        hidden_keys = block[:, None] != block[None] if window and i not in whole else None
        h = attend_terms(q, k, v, own_maps, (width // heads) ** -0.5, hidden_keys)
        x = x + w.linear(h, b + "attn.proj", width)
        h = norm(x, b + "norm2")
        if kind == 2.5:
            h = ACTIVATIONS["silu"](w.linear(h, b + "mlp.gate_proj", hidden)) * w.linear(h, b + "mlp.up_proj", hidden)
            h = w.linear(h, b + "mlp.down_proj", width)
        else:
            first, second, act = ("fc1", "fc2", "quick_gelu") if kind == 2 else ("linear_fc1", "linear_fc2", "gelu_tanh")
            h = w.linear(ACTIVATIONS[act](w.linear(h, b + "mlp." + first, hidden)), b + "mlp." + second, width)
        x = x + h
        if i in kept:
            result[i] = x
    order = torch.argsort(row * columns + column)
    maps.extend(each[:, order][:, :, order] for each in own_maps)
    return x, result, order


def connected(w, x, prefix, out, *, kind, squares_first=False, merge=2):
    """[patches, D] → [squares, out]."""
    names = ("norm", "linear_fc1", "linear_fc2") if kind == 3 else ("ln_q", "mlp.0", "mlp.2")
    wide = merge * merge * x.shape[-1]
    if squares_first:
        x = x.reshape(-1, wide)
    x = rms(w, x, prefix + names[0], 1e-6) if kind == 2.5 else w.norm(x, prefix + names[0], 1e-6)
    hidden = ACTIVATIONS["gelu"](w.linear(x.reshape(-1, wide), prefix + names[1], wide))
    return w.linear(hidden, prefix + names[2], out)


def places(ids, grids):
    """[3, N]: time, row and column of each token; `grids` are the rows and columns of the pictures."""
    result, at, cell, grids = [], 0, 0, list(grids)
    for token in ids.tolist():
        if token == PICTURE_TOKEN:
            rows, columns = grids[0]
            result.append((at, at + cell // columns, at + cell % columns))
            cell += 1
            if cell == rows * columns:
                at += max(rows, columns)
                cell, grids = 0, grids[1:]
        else:
            result.append((at, at, at))
            at += 1
    return torch.tensor(result).T


def section_angles(place, frequencies, sections, in_turns):
    """[N, r/2]."""
    every = place[:, :, None].float() * frequencies.float()
    angles = every[0].clone()
    for axis in (1, 2):
        if in_turns:
            pairs = slice(axis, 3 * sections[axis], 3)
        else:
            first = sum(sections[:axis])
            pairs = slice(first, first + sections[axis])
        angles[:, pairs] = every[axis][:, pairs]
    return angles.double()


def qwen_vl(w, inputs, maps, *, kind, inner="", step=16, least=64, most=2048, sections=(1, 1, 0), merge=2, patch=8,
            kept=(), vocabulary=29, tower_options={}, **arguments):
    visual = ("model." if inner else "") + "visual."
    in_tower = Renamed(w, lambda name: visual + name)

    def in_text(name):
        return name if name.startswith("lm_head") or not inner else name.replace("model.", "model.language_model.", 1)

    mean, deviation = (HALF, HALF) if kind == 3 else (MEAN, DEVIATION)
    images = [((fitted(one, step, least, most) / 255 - mean) / deviation).permute(2, 0, 1) for one in pictures_of(inputs)]
    width = arguments.get("width", 32)
    rows, deep = [], [[] for _ in kept]
    for image in images:
        patches, earlier, _ = tower(in_tower, image, [], kind=kind, kept=kept, patch=patch, **tower_options)
        rows.append(connected(in_tower, patches, "merger.", width, kind=kind))
        for i, layer in enumerate(kept):
            deep[i].append(connected(in_tower, earlier[layer], f"deepstack_merger_list.{i}.", width, kind=kind,
                                     squares_first=True))
    rows, deep = torch.cat(rows), [torch.cat(one) for one in deep]
    stands = inputs["ids"] == PICTURE_TOKEN
    place = places(inputs["ids"], [(image.shape[1] // patch // merge, image.shape[2] // patch // merge) for image in images])

    def with_picture(x):
        x = x.clone()
        x[stands] = rows
        return x

    def deeper(i, x):
        if i < len(deep):
            x = x.clone()
            x[stands] += deep[i]
        return x

    turns = lambda frequencies: section_angles(place, frequencies, sections, kind == 3)
    return llama(Renamed(w, in_text), inputs["ids"], maps, picture=with_picture, turns=turns, deeper=deeper,
                 vocabulary=vocabulary, **arguments)


def tower_alone(w, inputs, maps, *, model):
    """What the last layer of a whole model's tower gives for normalised pixels."""
    qwen_vl(w, WHOLE[model["kind"]], [], **model)  # names all tensors
    visual = ("model." if "inner" in model else "") + "visual."
    x, _, order = tower(Renamed(w, lambda name: visual + name), inputs, maps, kind=model["kind"],
                        **model.get("tower_options", {}))
    return x[order]


SIX = torch.tensor([1, 5, 24] + [PICTURE_TOKEN] * 6 + [25, 4, 21, 13, 3, 8])
TWO = torch.tensor([1, 24] + [PICTURE_TOKEN] * 2 + [25, 4, 21, 13, 3])
WHOLE = {2: {"picture": picture("picture", 30, 50), "ids": SIX}, 2.5: {"picture": picture("picture", 30, 50), "ids": SIX},
         3: {"picture": picture("picture", 14, 40), "ids": TWO}}

VISION = {"depth": 2, "embed_dim": 48, "hidden_act": "quick_gelu", "hidden_size": 32, "in_channels": 3,
          "in_chans": 3, "mlp_ratio": 80 / 48, "model_type": "qwen2_vl", "num_heads": 4, "patch_size": 8,
          "spatial_merge_size": 2, "spatial_patch_size": 8, "temporal_patch_size": 2}
MARKS = {"image_token_id": PICTURE_TOKEN, "video_token_id": 26, "vision_end_token_id": 25, "vision_start_token_id": 24,
         "vision_token_id": 23}
# Qwen/Qwen2-VL-2B-Instruct has the keys of its text beside those of the whole.
CONFIG = {
    **QWEN2,
    **MARKS,
    "architectures": ["Qwen2VLForConditionalGeneration"],
    "model_type": "qwen2_vl",
    "rope_scaling": {"mrope_section": [1, 1, 0], "type": "mrope"},
    "vision_config": VISION,
}
# Later versions write them apart.
LATER = {
    **MARKS,
    "architectures": ["Qwen2VLForConditionalGeneration"],
    "model_type": "qwen2_vl",
    "text_config": {**{key: value for key, value in CONFIG.items() if key not in (*MARKS, "architectures", "vision_config")},
                    "model_type": "qwen2_vl_text"},
    "vision_config": VISION,
}
CONFIG_2_5 = {
    "architectures": ["Qwen2_5_VLForConditionalGeneration"],
    **{key: value for key, value in MARKS.items() if key != "vision_token_id"},
    "model_type": "qwen2_5_vl",
    "text_config": {**{key: value for key, value in QWEN2.items() if key != "architectures"},
                    "model_type": "qwen2_5_vl_text", "num_attention_heads": 4, "tie_word_embeddings": False,
                    "rope_scaling": {"mrope_section": [1, 2, 1], "rope_type": "default", "type": "default"}},
    "tie_word_embeddings": False,
    "vision_config": {"depth": 2, "fullatt_block_indexes": [1], "hidden_act": "silu", "hidden_size": 48, "in_chans": 3,
                      "intermediate_size": 80, "model_type": "qwen2_5_vl", "num_heads": 4, "out_hidden_size": 32,
                      "patch_size": 8, "spatial_merge_size": 2, "spatial_patch_size": 8, "temporal_patch_size": 2,
                      "tokens_per_second": 2, "window_size": 32},
}
CONFIG_3 = {
    "architectures": ["Qwen3VLForConditionalGeneration"],
    **{key: value for key, value in MARKS.items() if key != "vision_token_id"},
    "model_type": "qwen3_vl",
    "text_config": {**{key: value for key, value in QWEN3.items()
                       if key not in ("architectures", "max_window_layers", "sliding_window", "use_sliding_window")},
                    "model_type": "qwen3_vl_text", "rope_theta": 5000000,
                    "rope_scaling": {"mrope_interleaved": True, "mrope_section": [2, 2, 2], "rope_type": "default"}},
    "tie_word_embeddings": False,
    "vision_config": {"deepstack_visual_indexes": [1, 0], "depth": 3, "hidden_act": "gelu_pytorch_tanh", "hidden_size": 48,
                      "in_channels": 3, "initializer_range": 0.02, "intermediate_size": 80, "model_type": "qwen3_vl",
                      "num_heads": 4, "num_position_embeddings": 16, "out_hidden_size": 32, "patch_size": 8,
                      "spatial_merge_size": 2, "temporal_patch_size": 2},
}
# Its MLPs are mixtures of experts, whose weights are always divided by their sum.
CONFIG_3_MOE = {
    **CONFIG_3,
    "architectures": ["Qwen3VLMoeForConditionalGeneration"],
    "model_type": "qwen3_vl_moe",
    "text_config": {**CONFIG_3["text_config"], "model_type": "qwen3_vl_moe_text", "decoder_sparse_step": 1,
                    "mlp_only_layers": [], "moe_intermediate_size": 20, "norm_topk_prob": True, "num_experts": 6,
                    "num_experts_per_tok": 3, "router_aux_loss_coef": 0.001},
    "vision_config": {**CONFIG_3["vision_config"], "model_type": "qwen3_vl_moe"},
}
PROCESSOR = {
    "do_convert_rgb": True, "do_normalize": True, "do_rescale": True, "do_resize": True,
    "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_processor_type": "Qwen2VLImageProcessor",
    "image_std": [0.26862954, 0.26130258, 0.27577711], "max_pixels": 2048, "merge_size": 2, "min_pixels": 64,
    "patch_size": 8, "processor_class": "Qwen2VLProcessor", "temporal_patch_size": 2,
}
PROCESSOR_3 = {
    **{key: value for key, value in PROCESSOR.items() if key not in ("max_pixels", "min_pixels")},
    "image_mean": [0.5, 0.5, 0.5], "image_processor_type": "Qwen2VLImageProcessorFast", "image_std": [0.5, 0.5, 0.5],
    "size": {"longest_edge": 700, "shortest_edge": 512},
}
MODEL = dict(kind=2, heads=8, head_width=4, theta=1e6, tied=True, biases=True, out_bias=False, sections=(1, 1, 0))
MODEL_2_5 = dict(kind=2.5, head_width=8, theta=1e6, biases=True, out_bias=False, sections=(1, 2, 1), inner="model.",
                 tower_options=dict(window=4, whole=(1,)))
MODEL_3 = dict(kind=3, head_width=12, theta=5e6, sections=(2, 2, 2), inner="model.", head_norms=True, kept=(1, 0),
               least=512, most=700, tower_options=dict(layers=3))
MODEL_3_MOE = dict(MODEL_3, feed_forward=experts(6, 3, 20, STACKED_NAMES, turned=True))


# Pictures of 2 × 3 and 3 × 2 tokens, or for the third of 1 × 2 and 2 × 1; the numbers of places that they take differ from
# those of their tokens.
SEVERAL = {
    2.5: {"pictures": [picture("picture", 30, 50), picture("picture_2", 52, 30)],
          "ids": torch.tensor([1, 5, 24] + [PICTURE_TOKEN] * 6 + [25, 9, 24] + [PICTURE_TOKEN] * 6 + [25, 4, 21, 13])},
    3: {"pictures": [picture("picture", 14, 40), picture("picture_2", 40, 15)],
        "ids": torch.tensor([1, 24] + [PICTURE_TOKEN] * 2 + [25, 24] + [PICTURE_TOKEN] * 2 + [25, 4, 21, 13, 3])},
}


def case(options, config, processor, unknown, rename, add, inputs=WHOLE):
    kind = options["kind"]
    name = f"Qwen{kind}-VL"
    text = "Hugging Face Qwen3-VL-MoE text" if "feed_forward" in options else \
        "Hugging Face Qwen3" if kind == 3 else "Hugging Face Llama"
    return (f"{name}: {name} image tower, {text}", qwen_vl, options, {**inputs[kind], "preprocessor": processor}, config,
            {}, unknown, rename, add)


def case_of_tower(options, config, unknown, rename, add):
    pixels = array("input", (3, 32, 48)).double()
    return (f"Qwen{options['kind']}-VL image tower", tower_alone, dict(model=options), pixels, config,
            {"input.kind": "patches", "size_step": "16"}, unknown, rename, add)


CASES = {
    "qwen2_vl": case(MODEL, CONFIG, PROCESSOR, {"rope_scaling": {"mrope_section": [1, 1], "type": "mrope"}},
                     "visual.merger.ln_q.weight", "visual.merger.mlp.4.weight"),
    "qwen2_5_vl": case(MODEL_2_5, CONFIG_2_5, PROCESSOR, {"vision_config": {"window_size": 8}},
                       "model.visual.blocks.1.mlp.up_proj.bias", "model.visual.merger.ln_q.bias_of_rows"),
    "qwen3_vl": case(MODEL_3, CONFIG_3, PROCESSOR_3, {"vision_config": {"spatial_merge_size": 3}},
                     "model.visual.deepstack_merger_list.1.norm.bias", "model.visual.deepstack_merger_list.2.norm.bias"),
    "qwen3_vl_moe": case(MODEL_3_MOE, CONFIG_3_MOE, PROCESSOR_3, {"text_config": {"norm_topk_prob": False}},
                         "model.language_model.layers.1.mlp.experts.down_proj",
                         "model.language_model.layers.0.mlp.experts.gate_up_proj_scale"),
    "qwen2_5_vl_two_pictures": case(MODEL_2_5, CONFIG_2_5, PROCESSOR, {"vision_config": {"window_size": 8}},
                                    "model.visual.merger.mlp.2.bias", "model.visual.merger.ln_q.bias_of_rows", SEVERAL),
    "qwen3_vl_two_pictures": case(MODEL_3, CONFIG_3, PROCESSOR_3, {"vision_config": {"spatial_merge_size": 3}},
                                  "model.visual.deepstack_merger_list.0.norm.bias",
                                  "model.visual.deepstack_merger_list.2.norm.bias", SEVERAL),
    "qwen2_vl_tower": case_of_tower(MODEL, LATER, {"vision_config": {"hidden_act": "mish"}}, "visual.blocks.0.attn.proj.bias",
                                    "visual.blocks.1.attn.q_norm.weight"),
    "qwen2_5_vl_tower": case_of_tower(MODEL_2_5, CONFIG_2_5, {"vision_config": {"window_size": 8}},
                                      "model.visual.blocks.1.norm2.weight", "model.visual.blocks.0.ls1.gamma"),
    "qwen3_vl_tower": case_of_tower(MODEL_3, CONFIG_3, {"vision_config": {"hidden_act": "mish"}},
                                    "model.visual.pos_embed.weight", "model.visual.blocks.2.attn.sinks"),
}
