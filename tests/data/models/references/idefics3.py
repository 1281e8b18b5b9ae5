"""Idefics 3 and SmolVLM: squares of an image tower's patches, brought by one linear layer to the width of a language
model; a picture is read tile by tile, and then whole.

From huggingface/transformers, models/idefics3 and models/smolvlm: modeling_*.py and image_processing_*.py, with Pillow
as the latter.
"""

import math

import numpy as np
import torch
from PIL import Image

from make_families import Weights
from references.clip import SIGLIP_IMAGES, hf_layers
from references.llama import CONFIG as LLAMA
from references.llama import llama
from references.llava import Renamed, picture, pictures_of

PICTURE_TOKEN = 27


def tiles_of(pixels, side, longest):
    """[H, W, 3] → the tiles, row by row, and the whole, each [side, side, 3]."""
    image = Image.fromarray(pixels.numpy().astype(np.uint8))

    def resized(image, width, height):
        return image.resize((width, height), Image.LANCZOS)

    ratio = image.width / image.height
    if image.width >= image.height:
        width, height = longest, int(longest / ratio)
        height += height % 2
    else:
        width, height = int(longest * ratio), longest
        width += width % 2
    image = resized(image, width, height)
    ratio = width / height
    if width >= height:
        width = math.ceil(width / side) * side
        height = math.ceil(int(width / ratio) / side) * side
    else:
        height = math.ceil(height / side) * side
        width = math.ceil(int(height * ratio) / side) * side
    image = resized(image, width, height)
    tiles = []
    if width > side or height > side:
        tiles = [image.crop((x, y, x + side, y + side)) for y in range(0, height, side) for x in range(0, width, side)]
    tiles.append(resized(image, side, side))
    return [torch.from_numpy(np.array(tile)).double() for tile in tiles]


def tower(w, pixels, *, width=48, heads=4, layers=2, patch=8, hidden=80, eps=1e-6):
    v = "vision_model."
    image = ((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1)
    x = w.patches(image, v + "embeddings.patch_embedding", width, patch)
    x = x + w(v + "embeddings.position_embedding.weight", len(x), width)
    x = hf_layers(w, x, [], v, heads=heads, layers=layers, hidden=hidden, act="gelu_tanh", eps=eps)
    return w.norm(x, v + "post_layernorm", eps)


def squares(x, side):
    """[n², D] → [(n / side)², side² D]: the patches of each square, row by row."""
    n = math.isqrt(len(x))
    x = x.reshape(n // side, side, n // side, side, -1)
    return x.transpose(1, 2).reshape((n // side) ** 2, -1)


def idefics3(w, inputs, maps, *, inner="model.", longest=None, side=32, merge=2, vocabulary=29, **arguments):
    in_tower = Renamed(w, lambda name: inner + name)
    in_connector = Renamed(w, lambda name: f"{inner}connector.{name}")

    def in_text(name):
        return name if name.startswith("lm_head") else name.replace("model.", inner + "text_model.", 1)

    def with_picture(x):
        images = [image for one in pictures_of(inputs)
                  for image in ([one] if longest is None else tiles_of(one, side, longest))]
        rows = torch.cat([squares(tower(in_tower, image), merge) for image in images])
        rows = in_connector.linear(rows, "modality_projection.proj", x.shape[-1], bias=False)
        x = x.clone()
        x[inputs["ids"] == PICTURE_TOKEN] = rows
        return x

    return llama(Renamed(w, in_text), inputs["ids"], maps, picture=with_picture, vocabulary=vocabulary, **arguments)


FOUR = [PICTURE_TOKEN] * 4
# A picture of two tiles next to each other and the whole, and one of two tiles below each other.
TWO_PICTURES = torch.tensor([1, 5, 20, 21] + FOUR + [20, 22] + FOUR + [9, 20, 23] + FOUR + [20, 11, 20, 21] + FOUR + [9, 20, 24]
                            + FOUR + [9, 20, 23] + FOUR + [20, 4, 21, 3])
ONE = torch.tensor([1, 5, 20, 23] + FOUR + [20, 4, 21, 13, 3, 8])
THREE = torch.tensor([1, 5, 20, 21] + FOUR + [20, 22] + FOUR + [9, 20, 23] + FOUR + [20, 4, 21, 3])

# HuggingFaceTB/SmolVLM-256M-Instruct writes these keys, too.
TEXT = {**LLAMA, "_flash_attn_2_enabled": True, "head_dim": 8, "is_llama_config": True, "neftune_noise_alpha": 0.0,
        "perceiver_config": {"model_type": "vllama3", "resampler_depth": 6}, "pixel_shuffle_factor": 2,
        "qk_layer_norms": False, "rope_interleaved": False, "transformers.js_config": {"kv_cache_dtype": {}},
        "use_resampler": False}
CONFIG = {
    "architectures": ["Idefics3ForConditionalGeneration"],
    "image_token_id": PICTURE_TOKEN,
    "model_type": "idefics3",
    "scale_factor": 2,
    "text_config": TEXT,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers.js_config": {"dtype": {"decoder_model_merged": "q4"}},
    "transformers_version": "4.46.0",
    "use_cache": True,
    "vision_config": {**SIGLIP_IMAGES, "max_image_size": {"longest_edge": 32}, "model_type": "idefics3",
                      "size": {"longest_edge": 64}, "tie_word_embeddings": False, "use_base_siglip": True},
    "vocab_size": 29,
}
PROCESSOR = {
    "do_convert_rgb": True, "do_image_splitting": True, "do_normalize": True, "do_pad": True, "do_rescale": True,
    "do_resize": True, "image_mean": [0.5, 0.5, 0.5], "image_processor_type": "SmolVLMImageProcessor",
    "image_std": [0.5, 0.5, 0.5], "max_image_size": {"longest_edge": 32}, "processor_class": "SmolVLMProcessor",
    "resample": 1, "rescale_factor": 1 / 255, "size": {"longest_edge": 64},
}
NAME = "Idefics 3: Hugging Face SigLIP, Hugging Face Llama"

CASES = {
    "idefics3": (
        NAME, idefics3, {}, {"picture": picture("picture", 32, 32), "ids": ONE}, CONFIG, {}, {"scale_factor": 3},
        "model.vision_model.encoder.layers.1.layer_norm2.weight", "model.connector.modality_projection.proj.bias_of_rows",
    ),
    "smolvlm_two_pictures": (
        NAME, idefics3, dict(longest=64),
        {"pictures": [picture("picture", 20, 60), picture("picture_2", 60, 29)], "ids": TWO_PICTURES, "preprocessor": PROCESSOR},
        {**CONFIG, "architectures": ["SmolVLMForConditionalGeneration"], "model_type": "smolvlm",
         "vision_config": {**CONFIG["vision_config"], "model_type": "smolvlm_vision"}},
        {}, {"text_config": {"use_resampler": True}}, "model.connector.modality_projection.proj.weight",
        "model.connector.other.weight",
    ),
    "smolvlm_tiles": (
        NAME, idefics3, dict(longest=64),
        {"picture": picture("picture", 20, 60), "ids": THREE, "preprocessor": PROCESSOR},
        {**CONFIG, "architectures": ["SmolVLMForConditionalGeneration"], "model_type": "smolvlm",
         "vision_config": {**CONFIG["vision_config"], "model_type": "smolvlm_vision"}},
        {}, {"text_config": {"use_resampler": True}}, "model.text_model.norm.weight", "model.connector.other.weight",
    ),
}
