// CLIP's two towers with the names of OpenAI and OpenCLIP and with those of Hugging Face.
// OpenCLIP's models with the norm after the mean of the patches have CLIP's names; only a
// configuration distinguishes them.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view clip_family = R"json({
  "name": "CLIP",
  "model": { "readout": "class" },
  "assume": {
    "head_width": 64,
    "activation": "quick_gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "input_mean": [0.48145466, 0.4578275, 0.40821073],
    "input_std": [0.26862954, 0.26130258, 0.27577711],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0,
    "position_resize": "bicubic_antialiased"
  },
  "reasons": {
    "heads": "64 channels a head, as CLIP",
    "activation": "as OpenAI's; most of OpenCLIP's other weights have gelu",
    "norm_eps": "PyTorch's default, as CLIP",
    "input_mean": "CLIP's own",
    "input_std": "CLIP's own",
    "position_resize": "as OpenCLIP does"
  },
  "tensors": {
    "patch": "conv1",
    "class_token": "class_embedding",
    "positions": "positional_embedding",
    "embedding_norm": "ln_pre?",
    "layer.norm1": "transformer.resblocks.{layer}.ln_1",
    "layer.qkv.weight": "transformer.resblocks.{layer}.attn.in_proj_weight",
    "layer.qkv.bias": "transformer.resblocks.{layer}.attn.in_proj_bias?",
    "layer.out": "transformer.resblocks.{layer}.attn.out_proj",
    "layer.scale1": "transformer.resblocks.{layer}.ls_1.gamma?",
    "layer.norm2": "transformer.resblocks.{layer}.ln_2",
    "layer.mlp1": "transformer.resblocks.{layer}.mlp.c_fc",
    "layer.mlp2": "transformer.resblocks.{layer}.mlp.c_proj",
    "layer.scale2": "transformer.resblocks.{layer}.ls_2.gamma?",
    "final_norm": "ln_post",
    "head.0.weight": { "pattern": "proj", "transposed": true, "optional": true }
  }
})json";

const std::string_view open_clip_mean_family = R"json({
  "name": "OpenCLIP (mean of patches)",
  "like": "CLIP",
  "model": { "readout": "mean" },
  "tensors": { "final_norm": null, "head_norm": "ln_post" }
})json";

const std::string_view clip_text_family = R"json({
  "name": "CLIP text",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "learned" },
    "layer": { "scores": { "causal": true } },
    "readout": { "kind": "end_token" }
  },
  "assume": {
    "layer": {
      "norm": { "position": "pre", "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "quick_gelu" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as CLIP",
    "activation": "as OpenAI's; most of OpenCLIP's other weights have gelu",
    "norm_eps": "PyTorch's default, as CLIP",
    "readout.end_token": "the greatest id of the text, as CLIP's tokenizer numbers its end"
  },
  "tensors": {
    "token_embedding": "token_embedding",
    "positions": "positional_embedding",
    "layer.norm1": "transformer.resblocks.{layer}.ln_1",
    "layer.qkv.weight": "transformer.resblocks.{layer}.attn.in_proj_weight",
    "layer.qkv.bias": "transformer.resblocks.{layer}.attn.in_proj_bias?",
    "layer.out": "transformer.resblocks.{layer}.attn.out_proj",
    "layer.scale1": "transformer.resblocks.{layer}.ls_1.gamma?",
    "layer.norm2": "transformer.resblocks.{layer}.ln_2",
    "layer.mlp1": "transformer.resblocks.{layer}.mlp.c_fc",
    "layer.mlp2": "transformer.resblocks.{layer}.mlp.c_proj",
    "layer.scale2": "transformer.resblocks.{layer}.ls_2.gamma?",
    "final_norm": "ln_final",
    "head.0.weight": [
      { "pattern": "text_projection", "transposed": true, "optional": true },
      { "pattern": "text_projection.weight", "optional": true }
    ]
  },
  "harmless": [
    "visual.*", "logit_scale", "attn_mask", "input_resolution", "context_length", "vocab_size"
  ],
  "refuse": {
    "text_projection.bias": "SigLIP's text tower, which hides no tokens",
    "logit_bias": "SigLIP's text tower, which hides no tokens",
    "text_decoder.text_projection": "CoCa's towers",
    "cls_emb": "CoCa's text tower",
    "class_embedding": "an image tower",
    "conv1.weight": "an image tower"
  }
})json";

const std::string_view hugging_face_clip_family = R"json({
  "name": "Hugging Face CLIP",
  "model": { "readout": "class" },
  "assume": {
    "head_width": 64,
    "activation": "quick_gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "input_mean": [0.48145466, 0.4578275, 0.40821073],
    "input_std": [0.26862954, 0.26130258, 0.27577711],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0,
    "position_resize": "bicubic"
  },
  "reasons": {
    "heads": "64 channels a head, as the default of CLIPVisionConfig",
    "activation": "the default of CLIPVisionConfig",
    "norm_eps": "the default of CLIPVisionConfig",
    "input_mean": "CLIP's own",
    "input_std": "CLIP's own"
  },
  "tensors": {
    "patch": "vision_model.embeddings.patch_embedding",
    "class_token": "vision_model.embeddings.class_embedding",
    "positions": "vision_model.embeddings.position_embedding",
    "embedding_norm": "vision_model.pre_layrnorm",
    "layer.norm1": "vision_model.encoder.layers.{layer}.layer_norm1",
    "layer.query": "vision_model.encoder.layers.{layer}.self_attn.q_proj",
    "layer.key": "vision_model.encoder.layers.{layer}.self_attn.k_proj",
    "layer.value": "vision_model.encoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "vision_model.encoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "vision_model.encoder.layers.{layer}.layer_norm2",
    "layer.mlp1": "vision_model.encoder.layers.{layer}.mlp.fc1",
    "layer.mlp2": "vision_model.encoder.layers.{layer}.mlp.fc2",
    "final_norm": "vision_model.post_layernorm",
    "head": "visual_projection?"
  },
  "harmless": ["text_model.*", "text_projection*", "logit_scale"],
  "refuse": {
    "classifier.weight": "a classifier of the patches' mean"
  }
})json";

const std::string_view hugging_face_clip_text_family = R"json({
  "name": "Hugging Face CLIP text",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "learned" },
    "layer": { "scores": { "causal": true } },
    "readout": { "kind": "end_token" }
  },
  "assume": {
    "layer": {
      "norm": { "position": "pre", "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "quick_gelu" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as the default of CLIPTextConfig",
    "activation": "the default of CLIPTextConfig",
    "norm_eps": "the default of CLIPTextConfig",
    "readout.end_token": "the greatest id of the text, as CLIP's tokenizer numbers its end"
  },
  "tensors": {
    "token_embedding": "text_model.embeddings.token_embedding",
    "positions": "text_model.embeddings.position_embedding",
    "layer.norm1": "text_model.encoder.layers.{layer}.layer_norm1",
    "layer.query": "text_model.encoder.layers.{layer}.self_attn.q_proj",
    "layer.key": "text_model.encoder.layers.{layer}.self_attn.k_proj",
    "layer.value": "text_model.encoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "text_model.encoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "text_model.encoder.layers.{layer}.layer_norm2",
    "layer.mlp1": "text_model.encoder.layers.{layer}.mlp.fc1",
    "layer.mlp2": "text_model.encoder.layers.{layer}.mlp.fc2",
    "final_norm": "text_model.final_layer_norm",
    "head": "text_projection?"
  },
  "harmless": ["vision_model.*", "visual_projection*", "logit_scale"],
  "refuse": {
    "text_model.head.weight": "SigLIP's text tower, which hides no tokens",
    "logit_bias": "SigLIP's text tower, which hides no tokens"
  }
})json";

}  // namespace attnscope
