// SigLIP's two towers with Hugging Face's names, and the text tower with OpenCLIP's names.
// OpenCLIP's image tower is timm's ViT with attn_pool.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_siglip_family = R"json({
  "name": "Hugging Face SigLIP",
  "like": "Hugging Face CLIP",
  "model": { "readout": "attention_pooling" },
  "assume": {
    "activation": "gelu_tanh",
    "norm_eps": 1e-6,
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "exact"
  },
  "reasons": {
    "heads": "64 channels a head, as the default of SiglipVisionConfig",
    "activation": "the default of SiglipVisionConfig",
    "norm_eps": "the default of SiglipVisionConfig",
    "input_mean": null,
    "input_std": null
  },
  "tensors": {
    "class_token": null,
    "embedding_norm": null,
    "pooling.probe": "vision_model.head.probe?",
    "pooling.qkv.weight": "vision_model.head.attention.in_proj_weight?",
    "pooling.qkv.bias": "vision_model.head.attention.in_proj_bias?",
    "pooling.out": "vision_model.head.attention.out_proj?",
    "pooling.norm": "vision_model.head.layernorm?",
    "pooling.mlp1": "vision_model.head.mlp.fc1?",
    "pooling.mlp2": "vision_model.head.mlp.fc2?",
    "head": null
  },
  "harmless": ["text_model.*", "logit_scale", "logit_bias"],
  "refuse": {
    "vision_model.embeddings.class_embedding": "a class token",
    "vision_model.pre_layrnorm.weight": "a norm before the layers"
  }
})json";

const std::string_view hugging_face_siglip_text_family = R"json({
  "name": "Hugging Face SigLIP text",
  "like": "Hugging Face CLIP text",
  "model": {
    "input": { "kind": "tokens", "pads_to_context": true },
    "layer": null,
    "readout": { "kind": "last_token" }
  },
  "assume": {
    "input": { "padding": 1 },
    "layer": {
      "norm": { "eps": 1e-6 },
      "mlp": { "activation": "gelu_tanh" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as the default of SiglipTextConfig",
    "activation": "the default of SiglipTextConfig",
    "norm_eps": "the default of SiglipTextConfig",
    "padding": "the default of SiglipTextConfig, as SigLIP's tokenizer",
    "readout.end_token": null
  },
  "tensors": {
    "head": null,
    "head.0.weight": "text_model.head.weight",
    "head.0.bias": "text_model.head.bias"
  },
  "harmless": ["vision_model.*", "logit_scale", "logit_bias"],
  "refuse": null
})json";

const std::string_view open_clip_siglip_text_family = R"json({
  "name": "OpenCLIP SigLIP text",
  "like": "CLIP text",
  "model": {
    "input": { "kind": "tokens", "pads_to_context": true },
    "layer": null,
    "readout": { "kind": "last_token" }
  },
  "assume": {
    "input": { "padding": 1 },
    "layer": {
      "norm": { "eps": 1e-6 },
      "mlp": { "activation": "gelu" }
    }
  },
  "reasons": {
    "activation": "as OpenCLIP builds it; big_vision's has the tanh form",
    "norm_eps": "as OpenCLIP's configurations of SigLIP have it",
    "padding": "as SigLIP's tokenizer",
    "readout.end_token": null
  },
  "tensors": {
    "head.0.weight": "text_projection.weight",
    "head.0.bias": "text_projection.bias"
  },
  "harmless": ["visual.*", "logit_scale", "logit_bias", "attn_mask"],
  "refuse": {
    "text_projection.bias": null,
    "logit_bias": null
  }
})json";

}  // namespace attnscope
