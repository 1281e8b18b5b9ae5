// Tensor names of Hugging Face's ELECTRA and ALBERT, whose embeddings are narrower than their
// layers.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_electra_family = R"json({
  "name": "Hugging Face ELECTRA",
  "like": "Hugging Face RoBERTa",
  "prefixes": ["electra."],
  "assume": {
    "input": null,
    "positions": null,
    "layer": { "norm": { "eps": 1e-12 } },
    "readout": { "kind": "none", "head_activation": null }
  },
  "reasons": {
    "norm_eps": "the default of ElectraConfig",
    "positions.offset": null,
    "padding": null
  },
  "where": {
    "head.0.weight": { "readout": { "kind": "class", "head_activation": "gelu" } }
  },
  "tensors": {
    "input_projection": "embeddings_project?",
    "pooler": null,
    "head_transform": "generator_predictions.dense?",
    "head_transform_norm": "generator_predictions.LayerNorm?",
    "head.0.weight": ["generator_lm_head.weight?", "classifier.dense.weight?"],
    "head.0.bias": ["generator_lm_head.bias?", "classifier.dense.bias?"]
  },
  "harmless": ["embeddings.position_ids"],
  "refuse": {
    "pooler.dense.weight": "BERT's pooler"
  }
})json";

const std::string_view hugging_face_albert_family = R"json({
  "name": "Hugging Face ALBERT",
  "prefixes": ["albert."],
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "norm": { "kind": "layer", "position": "post" } }
  },
  "assume": {
    "stored_layers": 1,
    "layer": {
      "norm": { "eps": 1e-12 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu_tanh" }
    },
    "readout": { "kind": "pooler", "head_activation": "none" }
  },
  "reasons": {
    "layers": "as in base and xxlarge; large and xlarge have 24",
    "heads": "64 channels a head, as in base and large",
    "norm_eps": "the default of AlbertConfig",
    "activation": "the default of AlbertConfig"
  },
  "where": {
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "input_projection": "encoder.embedding_hidden_mapping_in",
    "layer.query": "encoder.albert_layer_groups.{layer}.albert_layers.0.attention.query",
    "layer.key": "encoder.albert_layer_groups.{layer}.albert_layers.0.attention.key",
    "layer.value": "encoder.albert_layer_groups.{layer}.albert_layers.0.attention.value",
    "layer.out": "encoder.albert_layer_groups.{layer}.albert_layers.0.attention.dense",
    "layer.norm1": "encoder.albert_layer_groups.{layer}.albert_layers.0.attention.LayerNorm",
    "layer.mlp1": "encoder.albert_layer_groups.{layer}.albert_layers.0.ffn",
    "layer.mlp2": "encoder.albert_layer_groups.{layer}.albert_layers.0.ffn_output",
    "layer.norm2": "encoder.albert_layer_groups.{layer}.albert_layers.0.full_layer_layer_norm",
    "pooler": "pooler?",
    "head_transform": "predictions.dense?",
    "head_transform_norm": "predictions.LayerNorm?",
    "head.weight": ["predictions.decoder.weight?", "classifier.weight?"],
    "head.bias": ["predictions.bias?", "predictions.decoder.bias?", "classifier.bias?"]
  },
  "harmless": ["predictions.decoder.bias", "embeddings.position_ids"],
  "refuse": {
    "encoder.albert_layer_groups.0.albert_layers.1.ffn.weight": "groups of several layers"
  }
})json";

}  // namespace attnscope
