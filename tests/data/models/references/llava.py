"""LLaVA: the patches of an image tower, from the layer before its last and without the class token, brought by two
linear layers to the width of a language model, in whose text they stand.

From huggingface/transformers, models/llava/modeling_llava.py, models/clip and models/llama.
"""

import numpy as np
import torch

from make_families import ACTIVATIONS, Weights
from make_reference import uniform
from references.clip import IMAGES, SIGLIP_IMAGES, hf_layers
from references.llama import CONFIG as LLAMA
from references.llama import MISTRAL, QWEN2, llama

MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073]).double()
DEVIATION = torch.tensor([0.26862954, 0.26130258, 0.27577711]).double()
PICTURE_TOKEN = 27


class Renamed(Weights):
    """The tensors of a part, with their names in the whole file."""

    def __init__(self, whole, rename):
        super().__init__()
        self.whole, self.rename = whole, rename

    def __call__(self, name, *shape):
        return self.whole(self.rename(name), *shape)


def picture(name, height, width):
    values = (uniform(name, height * width * 3) + 1) * 128
    return torch.from_numpy(np.floor(values)).reshape(height, width, 3)


def pictures_of(inputs):
    """The pictures of a text, of which most have one."""
    return inputs["pictures"] if "pictures" in inputs else [inputs["picture"]]


def tower(w, pixels, *, width=48, heads=4, layers=2, patch=8, hidden=80, eps=1e-5, read=-2, class_token=True):
    v = "vision_model."
    image = ((pixels / 255 - MEAN) / DEVIATION).permute(2, 0, 1)
    x = w.patches(image, v + "embeddings.patch_embedding", width, patch, bias=not class_token)
    if class_token:
        x = torch.cat([w(v + "embeddings.class_embedding", width)[None], x])
    x = x + w(v + "embeddings.position_embedding.weight", len(x), width)
    if class_token:
        x = w.norm(x, v + "pre_layrnorm", eps)
    last = hf_layers(w, x, [], v, heads=heads, layers=layers, hidden=hidden, act="quick_gelu", eps=eps)
    w.norm(last, v + "post_layernorm", eps)  # is in the file, and not read
    hidden_states = [x] + [hf_layers(w, x, [], v, heads=heads, layers=i + 1, hidden=hidden, act="quick_gelu", eps=eps)
                           for i in range(layers)]
    return hidden_states[read][1 if class_token else 0:]


def siglip(w, pixels, *, width=48, heads=4, layers=2, patch=8, hidden=80, eps=1e-6, read=-2):
    v = "vision_model."
    image = ((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1)
    x = w.patches(image, v + "embeddings.patch_embedding", width, patch)
    x = x + w(v + "embeddings.position_embedding.weight", len(x), width)
    hidden_states = [x] + [hf_layers(w, x, [], v, heads=heads, layers=i + 1, hidden=hidden, act="gelu_tanh", eps=eps)
                           for i in range(layers)]
    w.norm(hidden_states[-1], v + "post_layernorm", eps)  # is in the file, and not read
    return hidden_states[read]


def llava(w, inputs, maps, *, inner="", read=-2, images=tower, language=llama, vocabulary=29, act="gelu",
          **arguments):
    in_tower = Renamed(w, lambda name: f"{inner}vision_tower.{name}")
    in_connector = Renamed(w, lambda name: f"{inner}multi_modal_projector.{name}")

    def in_text(name):
        if inner:  # names of version 4.52 and later
            return name if name.startswith("lm_head") else name.replace("model.", "model.language_model.", 1)
        return "language_model." + name

    def with_picture(x):
        rows = torch.cat([images(in_tower, one, read=read) for one in pictures_of(inputs)])
        rows = in_connector.linear(ACTIVATIONS[act](in_connector.linear(rows, "linear_1", x.shape[-1])), "linear_2",
                                   x.shape[-1])
        x = x.clone()
        x[inputs["ids"] == PICTURE_TOKEN] = rows
        return x

    return language(Renamed(w, in_text), inputs["ids"], maps, picture=with_picture, vocabulary=vocabulary, **arguments)


IDS = torch.tensor([1, 5, 9] + [PICTURE_TOKEN] * 16 + [4, 21, 13, 3, 8])
INPUTS = {"picture": picture("picture", 32, 32), "ids": IDS}

# With words between the pictures, and without.
TWO_PICTURES = {"pictures": [picture("picture", 32, 32), picture("picture_2", 32, 32)],
                "ids": torch.tensor([1, 5] + [PICTURE_TOKEN] * 16 + [9] + [PICTURE_TOKEN] * 16 + [4, 21, 13, 3, 8])}

CONFIG = {
    "architectures": ["LlavaForConditionalGeneration"],
    "ignore_index": -100,
    "image_seq_length": 16,
    "image_token_index": PICTURE_TOKEN,
    "model_type": "llava",
    "multimodal_projector_bias": True,
    "pad_token_id": 0,
    "projector_hidden_act": "gelu",
    "text_config": {**LLAMA, "head_dim": 8},
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "transformers_version": "4.46.0",
    "vision_config": {**IMAGES, "projection_dim": 11},
    "vision_feature_layer": -2,
    "vision_feature_select_strategy": "default",
}

CASES = {
    "llava_two_pictures": (
        "LLaVA: Hugging Face CLIP, Hugging Face Llama", llava, {}, TWO_PICTURES, CONFIG, {},
        {"vision_feature_select_strategy": "half"}, "multi_modal_projector.linear_2.bias",
        "multi_modal_projector.layer_norm.weight",
    ),
    "llava": (
        "LLaVA: Hugging Face CLIP, Hugging Face Llama", llava, {}, INPUTS, CONFIG, {},
        {"vision_feature_select_strategy": "half"}, "vision_tower.vision_model.encoder.layers.1.layer_norm2.weight",
        "multi_modal_projector.layer_norm.weight",
    ),
    "llava_inner_qwen2": (
        "LLaVA: Hugging Face CLIP, Hugging Face Llama", llava,
        dict(inner="model.", read=-1, act="gelu_tanh", heads=8, head_width=4, tied=True, biases=True, out_bias=False, theta=1e6),
        INPUTS,
        {**CONFIG, "projector_hidden_act": "gelu_pytorch_tanh", "vision_feature_layer": -1,
         "text_config": {**QWEN2, "use_sliding_window": False}, "tie_word_embeddings": True},
        {}, {"text_config": {"hidden_act": "mish"}}, "model.language_model.norm.weight",
        "model.image_newline",
    ),
    "llava_siglip_mistral": (
        "LLaVA: Hugging Face SigLIP, Hugging Face Llama", llava, dict(images=siglip, head_width=12, eps=1e-5, window=5), INPUTS,
        {**CONFIG, "text_config": MISTRAL, "vision_config": SIGLIP_IMAGES,
         "vision_feature_select_strategy": "full"},
        {}, {"projector_hidden_act": "mish"}, "vision_tower.vision_model.post_layernorm.bias",
        "multi_modal_projector.layer_norm.weight",
    ),
}
