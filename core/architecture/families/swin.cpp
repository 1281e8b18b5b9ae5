// Swin with the names of its authors, of timm and of Hugging Face. The authors and timm number the
// stage of a merging differently.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view swin_family = R"json({
  "name": "Swin",
  "model": { "input": { "kind": "stages" }, "layer": { "scores": { "bias": "table" } } },
  "assume": {
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "embedding_norm_eps": 1e-5,
    "readout": "mean",
    "class_tokens": 0,
    "positions": "none",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.9
  },
  "reasons": {
    "norm_eps": "PyTorch's default, as Swin",
    "crop_fraction": "as timm evaluates"
  },
  "first_stage": 0,
  "tensors": {
    "stage.patch": "patch_embed.proj?",
    "stage.patch_norm": "patch_embed.norm?",
    "stage.merge": "layers.{stage-1}.downsample.reduction?",
    "stage.merge_norm": "layers.{stage-1}.downsample.norm?",
    "layer.norm1": "layers.{stage}.blocks.{block}.norm1",
    "layer.qkv": "layers.{stage}.blocks.{block}.attn.qkv",
    "layer.position_biases": "layers.{stage}.blocks.{block}.attn.relative_position_bias_table",
    "layer.out": "layers.{stage}.blocks.{block}.attn.proj",
    "layer.norm2": "layers.{stage}.blocks.{block}.norm2",
    "layer.mlp1": "layers.{stage}.blocks.{block}.mlp.fc1",
    "layer.mlp2": "layers.{stage}.blocks.{block}.mlp.fc2",
    "final_norm": "norm",
    "head": "head?"
  },
  "harmless": ["layers.*.blocks.*.attn_mask"],
  "refuse": {
    "layers.0.blocks.0.attn.logit_scale": "Swin v2's cosines of queries and keys",
    "absolute_pos_embed": "position embeddings as well as relative ones"
  }
})json";

const std::string_view timm_swin_family = R"json({
  "name": "timm Swin",
  "like": "Swin",
  "model": { "layer": { "scores": { "window_filling": "after_shift" } } },
  "tensors": {
    "stage.merge": "layers.{stage}.downsample.reduction?",
    "stage.merge_norm": "layers.{stage}.downsample.norm?",
    "head": ["head.fc?", "head?"]
  },
  "refuse": {
    "layers.0.downsample.reduction.weight": "Swin's names by its authors"
  }
})json";

const std::string_view hugging_face_swin_family = R"json({
  "name": "Hugging Face Swin",
  "like": "Swin",
  "model": { "layer": { "scores": { "window_filling": "before_shift" } } },
  "assume": {
    "resize_mode": "exact",
    "crop_fraction": 1.0
  },
  "reasons": {
    "norm_eps": "the default of SwinConfig",
    "crop_fraction": null
  },
  "tensors": {
    "stage.patch": "embeddings.patch_embeddings.projection?",
    "stage.patch_norm": "embeddings.norm?",
    "stage.merge": "encoder.layers.{stage-1}.downsample.reduction?",
    "stage.merge_norm": "encoder.layers.{stage-1}.downsample.norm?",
    "layer.norm1": "encoder.layers.{stage}.blocks.{block}.layernorm_before",
    "layer.qkv": null,
    "layer.query": "encoder.layers.{stage}.blocks.{block}.attention.self.query",
    "layer.key": "encoder.layers.{stage}.blocks.{block}.attention.self.key",
    "layer.value": "encoder.layers.{stage}.blocks.{block}.attention.self.value",
    "layer.position_biases":
      "encoder.layers.{stage}.blocks.{block}.attention.self.relative_position_bias_table",
    "layer.out": "encoder.layers.{stage}.blocks.{block}.attention.output.dense",
    "layer.norm2": "encoder.layers.{stage}.blocks.{block}.layernorm_after",
    "layer.mlp1": "encoder.layers.{stage}.blocks.{block}.intermediate.dense",
    "layer.mlp2": "encoder.layers.{stage}.blocks.{block}.output.dense",
    "final_norm": "layernorm",
    "head": "classifier?"
  },
  "harmless": null,
  "refuse": {
    "layers.0.blocks.0.attn.logit_scale": null,
    "absolute_pos_embed": null,
    "encoder.layers.0.blocks.0.attention.self.logit_scale": "Swin v2's cosines of queries and keys",
    "embeddings.position_embeddings": "position embeddings as well as relative ones"
  }
})json";

}  // namespace attnscope
