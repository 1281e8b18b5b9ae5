// Tensor names of Hugging Face's BERT. Early files name a norm's weight and bias gamma and beta.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_bert_family = R"json({
  "name": "Hugging Face BERT",
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "norm": { "kind": "layer", "position": "post" } }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-12 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "pooler", "head_activation": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of BertConfig"
  },
  "where": {
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "embedding_norm.weight": ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma"],
    "embedding_norm.bias": ["embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta"],
    "layer.query": "encoder.layer.{layer}.attention.self.query",
    "layer.key": "encoder.layer.{layer}.attention.self.key",
    "layer.value": "encoder.layer.{layer}.attention.self.value",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.norm1.weight": ["encoder.layer.{layer}.attention.output.LayerNorm.weight",
                           "encoder.layer.{layer}.attention.output.LayerNorm.gamma"],
    "layer.norm1.bias": ["encoder.layer.{layer}.attention.output.LayerNorm.bias",
                         "encoder.layer.{layer}.attention.output.LayerNorm.beta"],
    "layer.mlp1": "encoder.layer.{layer}.intermediate.dense",
    "layer.mlp2": "encoder.layer.{layer}.output.dense",
    "layer.norm2.weight": ["encoder.layer.{layer}.output.LayerNorm.weight",
                           "encoder.layer.{layer}.output.LayerNorm.gamma"],
    "layer.norm2.bias": ["encoder.layer.{layer}.output.LayerNorm.bias",
                         "encoder.layer.{layer}.output.LayerNorm.beta"],
    "pooler": "pooler.dense?",
    "head_transform": "cls.predictions.transform.dense?",
    "head_transform_norm.weight": ["cls.predictions.transform.LayerNorm.weight?",
                                   "cls.predictions.transform.LayerNorm.gamma?"],
    "head_transform_norm.bias": ["cls.predictions.transform.LayerNorm.bias?",
                                 "cls.predictions.transform.LayerNorm.beta?"],
    "head.weight": ["cls.predictions.decoder.weight?", "classifier.weight?"],
    "head.bias": ["cls.predictions.bias?", "cls.predictions.decoder.bias?", "classifier.bias?"]
  },
  "harmless": ["cls.seq_relationship.*", "cls.predictions.*bias", "embeddings.position_ids"],
  "refuse": {
    "encoder.layer.0.attention.self.distance_embedding.weight": "relative positions",
    "encoder.layer.0.crossattention.self.query.weight": "cross attention"
  }
})json";

}  // namespace attnscope
