// Tensor names of Hugging Face's DeBERTa, v2 and v3, which also multiplies queries and keys with
// relative positions.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_deberta_v2_family = R"json({
  "name": "Hugging Face DeBERTa v2",
  "prefixes": ["deberta."],
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "layer", "position": "post" },
      "scores": { "bias": "disentangled" }
    }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-7 },
      "attention": { "head_width": 64 },
      "scores": { "bucket_distance": 512 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of DebertaV2Config",
    "layer.scores.bucket_distance": "as in the published configurations"
  },
  "where": {
    "head.0.weight": { "readout": { "kind": "class", "head_activation": "gelu" } },
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.word_embeddings",
    "token_types": "embeddings.token_type_embeddings?",
    "embedding_norm": "embeddings.LayerNorm",
    "relative_positions": "encoder.rel_embeddings.weight",
    "relative_positions_norm": "encoder.LayerNorm",
    "layer.query": "encoder.layer.{layer}.attention.self.query_proj",
    "layer.key": "encoder.layer.{layer}.attention.self.key_proj",
    "layer.value": "encoder.layer.{layer}.attention.self.value_proj",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.norm1": "encoder.layer.{layer}.attention.output.LayerNorm",
    "layer.mlp1": "encoder.layer.{layer}.intermediate.dense",
    "layer.mlp2": "encoder.layer.{layer}.output.dense",
    "layer.norm2": "encoder.layer.{layer}.output.LayerNorm",
    "head_transform": "cls.predictions.transform.dense?",
    "head_transform_norm": "cls.predictions.transform.LayerNorm?",
    "head.0.weight": ["cls.predictions.decoder.weight?", "pooler.dense.weight?"],
    "head.0.bias": ["cls.predictions.bias?", "cls.predictions.decoder.bias?", "pooler.dense.bias?"],
    "head.1": "classifier?"
  },
  "harmless": ["cls.predictions.*bias", "embeddings.position_ids", "lm_predictions.*", "mask_predictions.*"],
  "refuse": {
    "encoder.layer.0.attention.self.pos_key_proj.weight": "projections of relative positions of their own",
    "encoder.layer.0.attention.self.pos_query_proj.weight": "projections of relative positions of their own",
    "encoder.conv.conv.weight": "a convolution next to the first layer"
  }
})json";

const std::string_view hugging_face_deberta_v2_convolution_family = R"json({
  "name": "Hugging Face DeBERTa v2 (convolution)",
  "like": "Hugging Face DeBERTa v2",
  "tensors": {
    "convolution.weight": "encoder.conv.conv.weight",
    "convolution.bias": "encoder.conv.conv.bias",
    "convolution_norm": "encoder.conv.LayerNorm"
  },
  "refuse": {
    "encoder.conv.conv.weight": null
  }
})json";

const std::string_view hugging_face_deberta_family = R"json({
  "name": "Hugging Face DeBERTa",
  "like": "Hugging Face DeBERTa v2",
  "qkv_rows": "heads_first",
  "model": { "layer": { "scores": { "bucket_distance": 0 } } },
  "assume": { "layer": { "scores": null } },
  "reasons": {
    "norm_eps": "the default of DebertaConfig",
    "layer.scores.bucket_distance": null
  },
  "tensors": {
    "relative_positions_norm": null,
    "layer.query": null,
    "layer.key": null,
    "layer.value": null,
    "layer.qkv.weight": "encoder.layer.{layer}.attention.self.in_proj.weight",
    "layer.query.bias": "encoder.layer.{layer}.attention.self.q_bias",
    "layer.value.bias": "encoder.layer.{layer}.attention.self.v_bias",
    "layer.relative_query": "encoder.layer.{layer}.attention.self.pos_q_proj",
    "layer.relative_key.weight": "encoder.layer.{layer}.attention.self.pos_proj.weight"
  },
  "refuse": {
    "encoder.layer.0.attention.self.pos_key_proj.weight": null,
    "encoder.layer.0.attention.self.pos_query_proj.weight": null,
    "encoder.layer.0.attention.self.head_logits_proj.weight": "heads that are mixed (talking heads)"
  }
})json";

}  // namespace attnscope
