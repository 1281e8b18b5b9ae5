"""LLaVA-NeXT: a picture read whole and in tiles of one of several sizes, which it fills but for a border; the patches of
the border are left out, and a learned vector ends each row of patches.

From huggingface/transformers, models/llava_next/modeling_llava_next.py, image_processing_llava_next.py and
image_processing_utils.py, with Pillow as these.
"""

import math

import numpy as np
import torch
from PIL import Image

from make_families import ACTIVATIONS
from references.clip import IMAGES
from references.llama import CONFIG as LLAMA
from references.llama import llama
from references.llava import Renamed, picture, pictures_of, tower

PICTURE_TOKEN = 27
SIZES = [[32, 64], [64, 32], [64, 64]]  # height and width


def best_size(height, width, sizes):
    best, most, least_waste = None, 0, math.inf
    for high, wide in sizes:
        scale = min(wide / width, high / height)
        kept = min(int(width * scale) * int(height * scale), width * height)
        waste = wide * high - kept
        if kept > most or (kept == most and waste < least_waste):
            best, most, least_waste = (high, wide), kept, waste
    return best


def images_of(pixels, side, sizes):
    """[H, W, 3] → the whole, then the tiles row by row, and the size that they fill."""
    image = Image.fromarray(pixels.numpy().astype(np.uint8))
    high, wide = best_size(image.height, image.width, sizes)
    by_width, by_height = wide / image.width, high / image.height
    if by_width < by_height:
        fitted = wide, min(math.ceil(image.height * by_width), high)
    else:
        fitted = min(math.ceil(image.width * by_height), wide), high
    filled = Image.new("RGB", (wide, high))
    filled.paste(image.resize(fitted, Image.BICUBIC), ((wide - fitted[0]) // 2, (high - fitted[1]) // 2))
    tiles = [filled.crop((x, y, x + side, y + side)) for y in range(0, high, side) for x in range(0, wide, side)]
    whole = image.resize((side, side), Image.BICUBIC)
    return [torch.from_numpy(np.array(one)).double() for one in (whole, *tiles)], high, wide


def without_border(grid, height, width):
    """grid [rows, columns, D] of a picture of height × width pixels."""
    rows, columns = grid.shape[:2]
    if width / height > columns / rows:
        border = (rows - int(round(height * (columns / width), 7))) // 2
        return grid[border : rows - border]
    border = (columns - int(round(width * (rows / height), 7))) // 2
    return grid[:, border : columns - border]


def llava_next(w, inputs, maps, *, inner="", read=-2, side=32, vocabulary=29, **arguments):
    in_tower = Renamed(w, lambda name: f"{inner}vision_tower.{name}")
    in_connector = Renamed(w, lambda name: f"{inner}multi_modal_projector.{name}")

    def in_text(name):
        if inner:
            return name if name.startswith("lm_head") else name.replace("model.", "model.language_model.", 1)
        return "language_model." + name

    def rows_of(pixels, width):
        images, high, wide = images_of(pixels, side, SIZES)
        rows = [tower(in_tower, image, read=read) for image in images]
        rows = [in_connector.linear(ACTIVATIONS["gelu"](in_connector.linear(one, "linear_1", width)), "linear_2", width)
                for one in rows]
        patches = int(len(rows[0]) ** 0.5)
        grid = torch.stack(rows[1:]).reshape(high // side, wide // side, patches, patches, width)
        grid = grid.transpose(1, 2).reshape(high // side * patches, wide // side * patches, width)
        grid = without_border(grid, *pixels.shape[:2])
        end = w(f"{inner}image_newline", width).expand(len(grid), 1, width)
        return torch.cat([rows[0], torch.cat([grid, end], 1).flatten(0, 1)])

    def with_picture(x):
        x = x.clone()
        x[inputs["ids"] == PICTURE_TOKEN] = torch.cat([rows_of(pixels, x.shape[-1]) for pixels in pictures_of(inputs)])
        return x

    return llama(Renamed(w, in_text), inputs["ids"], maps, picture=with_picture, vocabulary=vocabulary, **arguments)


def ids_of(tokens):
    return torch.tensor([1, 5, 9] + [PICTURE_TOKEN] * tokens + [4, 21, 13, 3, 8])


CONFIG = {
    "architectures": ["LlavaNextForConditionalGeneration"],
    "ignore_index": -100,
    "image_grid_pinpoints": SIZES,
    "image_seq_length": 16,
    "image_token_index": PICTURE_TOKEN,
    "model_type": "llava_next",
    "multimodal_projector_bias": True,
    "projector_hidden_act": "gelu",
    "text_config": {**LLAMA, "head_dim": 8, "max_position_embeddings": 128},
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "transformers_version": "4.46.0",
    "use_image_newline_parameter": True,
    "vision_config": {**IMAGES, "projection_dim": 11},
    "vision_feature_layer": -2,
    "vision_feature_select_strategy": "default",
    "vocab_size": 29,
}
PROCESSOR = {
    "aspect_ratio_setting": "anyres", "crop_size": {"height": 32, "width": 32}, "do_center_crop": True,
    "do_convert_rgb": True, "do_normalize": True, "do_pad": True, "do_rescale": True, "do_resize": True,
    "image_grid_pinpoints": SIZES, "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_processor_type": "LlavaNextImageProcessor", "image_std": [0.26862954, 0.26130258, 0.27577711],
    "processor_class": "LlavaNextProcessor", "resample": 3, "rescale_factor": 1 / 255, "size": {"shortest_edge": 32},
}
NAME = "LLaVA-NeXT: Hugging Face CLIP, Hugging Face Llama"

CASES = {
    # 4 × 4 patches of the whole, and 8 × 8 without a column at either side, each row with its end.
    "llava_next": (
        NAME, llava_next, {}, {"picture": picture("picture", 60, 50), "ids": ids_of(16 + 8 * 7), "preprocessor": PROCESSOR},
        CONFIG, {}, {"image_grid_pinpoints": [[32, 64]]}, "image_newline", "multi_modal_projector.layer_norm.weight",
    ),
    "llava_next_two_pictures": (
        NAME, llava_next, dict(inner="model.", read=-1),
        {"pictures": [picture("picture", 11, 70), picture("picture_2", 66, 12)], "preprocessor": PROCESSOR,
         "ids": torch.tensor([1, 5] + [PICTURE_TOKEN] * (16 + 2 * 9) + [9] + [PICTURE_TOKEN] * (16 + 8 * 3) + [4, 21, 13])},
        {**CONFIG, "vision_feature_layer": -1}, {}, {"vision_feature_select_strategy": "half"},
        "model.multi_modal_projector.linear_1.bias", "model.image_newlines",
    ),
    "llava_next_wide": (
        NAME, llava_next, dict(inner="model.", read=-1),
        {"picture": picture("picture", 11, 70), "ids": ids_of(16 + 2 * 9), "preprocessor": PROCESSOR},
        {**CONFIG, "vision_feature_layer": -1}, {}, {"vision_feature_select_strategy": "half"},
        "model.language_model.norm.weight", "model.image_newlines",
    ),
}
