// Hugging Face's RoBERTa (XLM-R, CamemBERT) and MPNet: BERT's layers with positions counted from
// the padding token's id + 1.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_roberta_family = R"json({
  "name": "Hugging Face RoBERTa",
  "prefixes": ["roberta."],
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "norm": { "kind": "layer", "position": "post" } }
  },
  "assume": {
    "input": { "padding": 1 },
    "positions": { "offset": 2 },
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "pooler", "head_activation": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "as in the published configurations",
    "positions.offset": "those of texts begin behind the padding token's, 1",
    "padding": "as in the published configurations"
  },
  "where": {
    "head.0.weight": { "readout": { "kind": "class", "head_activation": "tanh" } },
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "layer.query": "encoder.layer.{layer}.attention.self.query",
    "layer.key": "encoder.layer.{layer}.attention.self.key",
    "layer.value": "encoder.layer.{layer}.attention.self.value",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.norm1": "encoder.layer.{layer}.attention.output.LayerNorm",
    "layer.mlp1": "encoder.layer.{layer}.intermediate.dense",
    "layer.mlp2": "encoder.layer.{layer}.output.dense",
    "layer.norm2": "encoder.layer.{layer}.output.LayerNorm",
    "pooler": "pooler.dense?",
    "head_transform": "lm_head.dense?",
    "head_transform_norm": "lm_head.layer_norm?",
    "head.0.weight": ["lm_head.decoder.weight?", "classifier.dense.weight?"],
    "head.0.bias": ["lm_head.bias?", "lm_head.decoder.bias?", "classifier.dense.bias?"],
    "head.1": "classifier.out_proj?"
  },
  "harmless": ["lm_head.decoder.bias", "embeddings.position_ids"],
  "refuse": {
    "encoder.layer.0.attention.self.distance_embedding.weight": "relative positions",
    "encoder.layer.0.crossattention.self.query.weight": "cross attention"
  }
})json";

const std::string_view hugging_face_mpnet_family = R"json({
  "name": "Hugging Face MPNet",
  "like": "Hugging Face RoBERTa",
  "prefixes": ["mpnet."],
  "model": {
    "input": { "padding": 1 },
    "positions": { "offset": 2 },
    "layer": {
      "scores": { "bias": "buckets", "buckets": 32, "bucket_distance": 128 }
    }
  },
  "reasons": {
    "positions.offset": null,
    "padding": null
  },
  "tensors": {
    "token_types": null,
    "position_biases": "encoder.relative_attention_bias.weight",
    "layer.query": "encoder.layer.{layer}.attention.attn.q",
    "layer.key": "encoder.layer.{layer}.attention.attn.k",
    "layer.value": "encoder.layer.{layer}.attention.attn.v",
    "layer.out": "encoder.layer.{layer}.attention.attn.o",
    "layer.norm1": "encoder.layer.{layer}.attention.LayerNorm"
  },
  "refuse": null
})json";

}  // namespace attnscope
