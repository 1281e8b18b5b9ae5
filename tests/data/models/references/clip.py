"""CLIP's two towers in the names of OpenAI and of Hugging Face, and SigLIP's in the latter's: a class token and a norm
before the layers, or a learned query that asks all patches; texts read at their end token, or at their last.

From openai/CLIP, clip/model.py; mlfoundations/open_clip, src/open_clip/transformer.py; huggingface/transformers,
models/clip/modeling_clip.py and models/siglip/modeling_siglip.py.
"""

import torch

from make_families import ACTIVATIONS, IMAGE, attend, heads_of

# The greatest id ends the text, and later tokens do not affect it. In ENDS_EARLY the end is the
# first of two 17s.
GREATEST = torch.tensor([26, 3, 11, 5, 19, 28, 7, 7, 2])
ENDS_EARLY = torch.tensor([26, 3, 11, 17, 19, 28, 17, 7])


def open_layers(w, x, maps, root, *, heads, layers, hidden, act, causal=False, scales=False, eps=1e-5):
    width = x.shape[-1]
    for i in range(layers):
        b = f"{root}transformer.resblocks.{i}."
        h = w.norm(x, b + "ln_1", eps) @ w(b + "attn.in_proj_weight", 3 * width, width).T
        h = h + w(b + "attn.in_proj_bias", 3 * width)
        h = attend(*(heads_of(part, heads) for part in h.chunk(3, -1)), maps, causal=causal)
        h = w.linear(h, b + "attn.out_proj", width)
        x = x + (w(b + "ls_1.gamma", width) * h if scales else h)
        h = ACTIVATIONS[act](w.linear(w.norm(x, b + "ln_2", eps), b + "mlp.c_fc", hidden))
        h = w.linear(h, b + "mlp.c_proj", width)
        x = x + (w(b + "ls_2.gamma", width) * h if scales else h)
    return x


def open_images(w, image, maps, *, root="visual.", width=48, heads=3, layers=2, patch=8, out=11, act="quick_gelu",
                pre_norm=True, scales=False, pool="token"):
    x = w.patches(image, root + "conv1", width, patch, bias=False)
    x = torch.cat([w(root + "class_embedding", width)[None], x])
    x = x + w(root + "positional_embedding", len(x), width)
    if pre_norm:
        x = w.norm(x, root + "ln_pre", 1e-5)
    x = open_layers(w, x, maps, root, heads=heads, layers=layers, hidden=4 * width, act=act, scales=scales)
    if pool == "normed":
        read = w.norm(x, root + "ln_post", 1e-5)[1:].mean(0)
    else:
        read = w.norm(x[1:].mean(0) if pool == "mean" else x[0], root + "ln_post", 1e-5)
    return read @ w(root + "proj", width, out)


def open_texts(w, ids, maps, *, root="", width=32, heads=2, layers=3, out=11, act="quick_gelu", vocabulary=29,
               context=24):
    x = w(root + "token_embedding.weight", vocabulary, width)[ids]
    x = x + w(root + "positional_embedding", context, width)[: len(ids)]
    x = open_layers(w, x, maps, root, heads=heads, layers=layers, hidden=4 * width, act=act, causal=True)
    x = w.norm(x, root + "ln_final", 1e-5)
    return x[ids.argmax()] @ w(root + "text_projection", width, out)


def open_siglip_texts(w, ids, maps, *, root="text.", width=32, heads=2, layers=3, out=48, act="gelu", vocabulary=29,
                      context=24, eps=1e-6, padding=1):
    """Filled up to the context; no token is hidden, and the last is read."""
    ids = torch.cat([ids, torch.full((context - len(ids),), padding)])
    x = w(root + "token_embedding.weight", vocabulary, width)[ids]
    x = x + w(root + "positional_embedding", context, width)
    x = open_layers(w, x, maps, root, heads=heads, layers=layers, hidden=4 * width, act=act, eps=eps)
    w("logit_scale", 1)
    w("logit_bias", 1)
    return w.linear(w.norm(x, root + "ln_final", eps)[-1], root + "text_projection", out)


def hf_layers(w, x, maps, root, *, heads, layers, hidden, act, eps, causal=False):
    width = x.shape[-1]
    for i in range(layers):
        l = f"{root}encoder.layers.{i}."
        h = w.norm(x, l + "layer_norm1", eps)
        q, k, v = (heads_of(w.linear(h, f"{l}self_attn.{part}_proj", width), heads) for part in "qkv")
        x = x + w.linear(attend(q, k, v, maps, causal=causal), l + "self_attn.out_proj", width)
        h = w.norm(x, l + "layer_norm2", eps)
        x = x + w.linear(ACTIVATIONS[act](w.linear(h, l + "mlp.fc1", hidden)), l + "mlp.fc2", width)
    return x


def hf_images(w, image, maps, *, width=48, heads=4, layers=2, patch=8, hidden=80, out=11, act="quick_gelu", eps=1e-5):
    v = "vision_model."
    x = w.patches(image, v + "embeddings.patch_embedding", width, patch, bias=False)
    x = torch.cat([w(v + "embeddings.class_embedding", width)[None], x])
    x = x + w(v + "embeddings.position_embedding.weight", len(x), width)
    x = w.norm(x, v + "pre_layrnorm", eps)
    x = hf_layers(w, x, maps, v, heads=heads, layers=layers, hidden=hidden, act=act, eps=eps)
    return w.linear(w.norm(x[0], v + "post_layernorm", eps), "visual_projection", out, bias=False)


def hf_texts(w, ids, maps, *, width=32, heads=4, layers=3, hidden=64, out=11, act="quick_gelu", eps=1e-5, end=None,
             vocabulary=29, context=24):
    t = "text_model."
    x = w(t + "embeddings.token_embedding.weight", vocabulary, width)[ids]
    x = x + w(t + "embeddings.position_embedding.weight", context, width)[: len(ids)]
    x = hf_layers(w, x, maps, t, heads=heads, layers=layers, hidden=hidden, act=act, eps=eps, causal=True)
    x = w.norm(x, t + "final_layer_norm", eps)
    place = ids.argmax() if end is None else (ids == end).int().argmax()
    return w.linear(x[place], "text_projection", out, bias=False)


def siglip_images(w, image, maps, *, width=48, heads=4, layers=2, patch=8, hidden=80, act="gelu_tanh", eps=1e-6):
    """The last layer's tokens, and what is read of them."""
    v = "vision_model."
    x = w.patches(image, v + "embeddings.patch_embedding", width, patch)
    x = x + w(v + "embeddings.position_embedding.weight", len(x), width)
    x = hf_layers(w, x, maps, v, heads=heads, layers=layers, hidden=hidden, act=act, eps=eps)
    tokens = w.norm(x, v + "post_layernorm", eps)
    h = v + "head."
    probe = w(h + "probe", 1, 1, width)[0]
    weight = w(h + "attention.in_proj_weight", 3 * width, width).chunk(3)
    bias = w(h + "attention.in_proj_bias", 3 * width).chunk(3)
    q, k, values = (heads_of(source @ weight[i].T + bias[i], heads) for i, source in enumerate((probe, tokens, tokens)))
    read = w.linear(attend(q, k, values, []), h + "attention.out_proj", width)
    hidden_layer = w.linear(w.norm(read, h + "layernorm", eps), h + "mlp.fc1", hidden)
    read = read + w.linear(ACTIVATIONS[act](hidden_layer), h + "mlp.fc2", width)
    return x, read[0]


def siglip_texts(w, ids, maps, *, width=32, heads=4, layers=3, hidden=64, act="gelu_tanh", eps=1e-6, vocabulary=29,
                 context=24, padding=1):
    """Filled up to the context with a token that all others see."""
    t = "text_model."
    ids = torch.cat([ids, torch.full((context - len(ids),), padding)])
    x = w(t + "embeddings.token_embedding.weight", vocabulary, width)[ids]
    x = x + w(t + "embeddings.position_embedding.weight", context, width)[: len(ids)]
    x = hf_layers(w, x, maps, t, heads=heads, layers=layers, hidden=hidden, act=act, eps=eps)
    return w.linear(w.norm(x, t + "final_layer_norm", eps)[-1], t + "head", 48)


def of_two(asked, other, inputs):
    """A file with both towers, of which one is asked."""

    def model(w, own, maps, **arguments):
        other(w, inputs, [])
        w("logit_scale", 1)
        return asked(w, own, maps, **arguments)

    return model


COMMON = {"attention_dropout": 0.0, "dropout": 0.0, "initializer_factor": 1.0, "initializer_range": 0.02,
          "layer_norm_eps": 1e-05, "num_hidden_layers": 2, "torch_dtype": "float32"}
IMAGES = {**COMMON, "hidden_act": "quick_gelu", "hidden_size": 48, "image_size": 32, "intermediate_size": 80,
          "model_type": "clip_vision_model", "num_attention_heads": 4, "num_channels": 3, "patch_size": 8,
          "projection_dim": 11}
TEXTS = {**COMMON, "bos_token_id": 26, "eos_token_id": 2, "hidden_act": "gelu", "hidden_size": 32,
         "intermediate_size": 64, "max_position_embeddings": 24, "model_type": "clip_text_model",
         "num_attention_heads": 4, "num_hidden_layers": 3, "projection_dim": 11, "vocab_size": 29}
# openai/clip-vit-base-patch32 writes the whole configuration of each tower, including unused
# classes.
CLASSES = {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}, "label2id": {"LABEL_0": 0, "LABEL_1": 1}, "num_beams": 1}
CONFIG = {"architectures": ["CLIPModel"], "initializer_factor": 1.0, "logit_scale_init_value": 2.6592,
          "model_type": "clip", "projection_dim": 11, "text_config": {**TEXTS, **CLASSES}, "text_config_dict": None,
          "vision_config": {**IMAGES, **CLASSES, "model_type": "clip_vision_model"}, "vision_config_dict": None,
          "transformers_version": "4.40.0"}
SIGLIP_IMAGES = {**IMAGES, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-06,
                 "model_type": "siglip_vision_model"}
SIGLIP_TEXTS = {**TEXTS, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-06, "model_type": "siglip_text_model",
                "projection_size": 48}
SIGLIP = {"architectures": ["SiglipModel"], "initializer_factor": 1.0, "model_type": "siglip",
          "text_config": SIGLIP_TEXTS, "vision_config": SIGLIP_IMAGES, "transformers_version": "4.40.0"}

OPEN_CLIP_IMAGES = {"image_size": 32, "layers": 2, "width": 48, "patch_size": 8, "head_width": 16, "pool_type": "avg"}


def open_clip(**images):
    return {"model_cfg": {"embed_dim": 11, "vision_cfg": {**OPEN_CLIP_IMAGES, **images}}, "preprocess_cfg": {}}


POOLED_OTHERWISE = {"model_cfg": {"vision_cfg": {"pool_type": "none"}}}
IN_TEXT = {"input.kind": "tokens"}
HEADS = {"heads": "3"}

CASES = {
    "clip_images": (
        "CLIP", of_two(open_images, open_texts, GREATEST), {}, IMAGE, None, HEADS, None,
        "visual.transformer.resblocks.1.ln_2.bias", "visual.transformer.resblocks.1.ln_attn.weight",
    ),
    "clip_images_scaled": (
        "CLIP", open_images, dict(root="", act="gelu", pre_norm=False, scales=True), IMAGE, None,
        {**HEADS, "activation": "gelu"}, None, "transformer.resblocks.0.ls_1.gamma", "attn_pool.query",
    ),
    "open_clip_mean_of_normed": (
        "CLIP", open_images, dict(act="gelu", pool="normed"), IMAGE, open_clip(), {}, POOLED_OTHERWISE,
        "visual.ln_post.weight", "visual.attn_pool.query",
    ),
    "open_clip_normed_mean": (
        "OpenCLIP (mean of patches)", open_images, dict(act="gelu", pool="mean"), IMAGE,
        open_clip(final_ln_after_pool=True), {}, POOLED_OTHERWISE, "visual.ln_post.weight", "visual.attn_pool.query",
    ),
    "clip_texts": (
        "CLIP text", of_two(open_texts, open_images, IMAGE), {}, GREATEST, None, {**IN_TEXT, "heads": "2"}, None,
        "transformer.resblocks.2.attn.out_proj.bias", "transformer.resblocks.1.attn.logit_scale",
    ),
    "hugging_face_clip": (
        "Hugging Face CLIP", of_two(hf_images, hf_texts, GREATEST), {}, IMAGE, CONFIG, {},
        {"vision_config": {"hidden_act": "gelu_10"}}, "vision_model.pre_layrnorm.weight",
        "vision_model.embeddings.register_tokens",
    ),
    "hugging_face_clip_vision": (
        "Hugging Face CLIP", hf_images, dict(act="gelu", eps=1e-4), IMAGE,
        {**IMAGES, "architectures": ["CLIPVisionModelWithProjection"], "hidden_act": "gelu", "layer_norm_eps": 1e-4},
        {}, {"hidden_act": "gelu_10"}, "vision_model.encoder.layers.1.self_attn.k_proj.bias",
        "vision_model.encoder.layers.0.self_attn.rel_pos",
    ),
    "hugging_face_clip_text": (
        "Hugging Face CLIP text", of_two(hf_texts, hf_images, IMAGE), dict(act="gelu"), GREATEST, CONFIG, IN_TEXT,
        {"text_config": {"hidden_act": "gelu_10"}}, "text_model.embeddings.position_embedding.weight",
        "text_model.encoder.layers.2.self_attn.sinks",
    ),
    "hugging_face_clip_text_end": (
        "Hugging Face CLIP text", hf_texts, dict(act="gelu", end=17), ENDS_EARLY,
        {**TEXTS, "architectures": ["CLIPTextModelWithProjection"], "eos_token_id": 17}, {}, {"eos_token_id": "17"},
        "text_model.encoder.layers.1.layer_norm1.bias", "text_model.embeddings.token_type_embeddings.weight",
    ),
    "open_clip_siglip_text": (
        "OpenCLIP SigLIP text", open_siglip_texts, {}, GREATEST, None, {"heads": "2"}, None, "text.text_projection.bias",
        "text.transformer.resblocks.1.attn.q_norm.weight",
    ),
    "hugging_face_siglip": (
        "Hugging Face SigLIP", of_two(siglip_images, siglip_texts, GREATEST), {}, IMAGE, SIGLIP, {},
        {"vision_config": {"hidden_act": "gelu_10"}}, "vision_model.head.mlp.fc1.weight",
        "vision_model.embeddings.register_tokens",
    ),
    "hugging_face_siglip_text": (
        "Hugging Face SigLIP text", of_two(siglip_texts, siglip_images, IMAGE), {}, GREATEST, SIGLIP, IN_TEXT,
        {"text_config": {"hidden_act": "gelu_10"}}, "text_model.head.bias",
        "text_model.encoder.layers.0.self_attn.q_norm.weight",
    ),
    "hugging_face_siglip_text_padding": (
        "Hugging Face SigLIP text", siglip_texts, dict(padding=5), GREATEST, {**SIGLIP_TEXTS, "pad_token_id": 5}, {},
        {"hidden_act": "gelu_10"}, "text_model.final_layer_norm.weight",
        "text_model.embeddings.token_type_embeddings.weight",
    ),
}
