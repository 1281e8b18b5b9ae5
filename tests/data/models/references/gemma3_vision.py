"""Gemma 3 with its image tower: means of squares of patches, brought to the width of the text by one matrix; the tokens
of a picture see each other both ways, in layers with a window, too.

From huggingface/transformers, models/gemma3/modeling_gemma3.py and models/siglip/modeling_siglip.py.
"""

import torch

from references.clip import SIGLIP_IMAGES
from references.gemma import GEMMA3, gemma3
from references.idefics3 import tower
from references.llava import Renamed, picture, pictures_of
from references.parts import rms

FIRST, LAST, PICTURE_TOKEN = 24, 25, 27


def means(x, side):
    """[n², D] → [(n / side)², D]: the mean of each square."""
    n = int(len(x) ** 0.5)
    return x.reshape(n // side, side, n // side, side, -1).mean((1, 3)).flatten(0, 1)


def gemma3_vision(w, inputs, maps, *, inner="", vision_width=48, width=24, side=2, **arguments):
    in_tower = Renamed(w, lambda name: f"{inner}vision_tower.{name}")
    in_connector = Renamed(w, lambda name: f"{inner}multi_modal_projector.{name}")

    def in_text(name):
        return name.replace("model.", "model.language_model.", 1) if inner else "language_model." + name

    stands = inputs["ids"] == PICTURE_TOKEN
    # The number of the picture of each token, as upstream's groups since transformers 4.53.
    begins = stands & ~torch.cat([stands.new_zeros(1), stands[:-1]])
    group = torch.where(stands, begins.cumsum(0), 0)
    seen_anyway = (group[:, None] == group) & stands

    def with_picture(x):
        rows = torch.cat([means(tower(in_tower, one), side) for one in pictures_of(inputs)])
        rows = rms(in_connector, rows, "mm_soft_emb_norm", 1e-6, plus_one=True)
        x = x.clone()
        x[stands] = rows @ in_connector("mm_input_projection_weight", vision_width, width)
        return x

    return gemma3(Renamed(w, in_text), inputs["ids"], maps, picture=with_picture, seen_anyway=seen_anyway,
                  **arguments)


INPUTS = {"picture": picture("picture", 32, 32),
          "ids": torch.tensor([2, 5, 9, FIRST] + [PICTURE_TOKEN] * 4 + [LAST, 4, 21, 13, 3, 8, 20, 1])}
TWO_PICTURES = {"pictures": [picture("picture", 32, 32), picture("picture_2", 32, 32)],
                "ids": torch.tensor([2, 5, FIRST] + [PICTURE_TOKEN] * 4 + [LAST, 9, FIRST] + [PICTURE_TOKEN] * 4
                                    + [LAST, 4, 21, 13, 3])}
CONFIG = {
    "architectures": ["Gemma3ForConditionalGeneration"],
    "boi_token_index": FIRST,
    "eoi_token_index": LAST,
    "eos_token_id": [1, 26],
    "image_token_index": PICTURE_TOKEN,
    "initializer_range": 0.02,
    "mm_tokens_per_image": 4,
    "model_type": "gemma3",
    "text_config": {key: value for key, value in GEMMA3.items() if key != "architectures"},
    "torch_dtype": "bfloat16",
    "transformers_version": "4.50.0.dev0",
    "vision_config": {**SIGLIP_IMAGES, "vision_use_head": False},
}
NAME = "Gemma 3: Hugging Face SigLIP, Hugging Face Gemma 3"

CASES = {
    "gemma3_vision": (
        NAME, gemma3_vision, {}, INPUTS, CONFIG, {}, {"mm_tokens_per_image": 3},
        "multi_modal_projector.mm_soft_emb_norm.weight", "multi_modal_projector.mm_soft_emb_norm.bias_of_rows",
    ),
    "gemma3_vision_two_pictures": (
        NAME, gemma3_vision, dict(inner="model.", window=3), TWO_PICTURES,
        {**CONFIG, "text_config": {**CONFIG["text_config"], "sliding_window": 3}}, {},
        {"mm_tokens_per_image": 3}, "model.multi_modal_projector.mm_input_projection_weight",
        "model.multi_modal_projector.mm_soft_emb_norm.bias_of_rows",
    ),
    "gemma3_vision_narrow_window": (
        NAME, gemma3_vision, dict(inner="model.", window=3), INPUTS,
        {**CONFIG, "text_config": {**CONFIG["text_config"], "sliding_window": 3}}, {},
        {"text_config": {"use_bidirectional_attention": True}}, "model.language_model.layers.3.self_attn.k_norm.weight",
        "model.vision_tower.vision_model.head.probe_of_rows",
    ),
}
