// Fastformer as published by its authors (Wu et al. 2021): a text classifier in BERT's post-LN
// blocks. Its values are its queries.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view fastformer_family = R"json({
  "name": "Fastformer",
  "model": {
    "input": { "kind": "tokens" },
    "layer_form": "fastformer_encoder",
    "mechanism": "additive",
    "norm_position": "post",
    "readout": "additive_pooling"
  },
  "assume": { "activation": "gelu", "norm_eps": 1e-12, "padding": 0 },
  "reasons": {
    "activation": "as in the authors' fastformer.json",
    "norm_eps": "as in the authors' fastformer.json",
    "padding": "the authors' PADDING, which their model masks"
  },
  "tensors": {
    "token_embedding": "word_embedding",
    "positions": "fastformer_model.position_embeddings.weight",
    "embedding_norm": "fastformer_model.LayerNorm",
    "layer.query": "fastformer_model.encoders.{layer}.attention.self.query",
    "layer.key": "fastformer_model.encoders.{layer}.attention.self.key",
    "layer.value": "fastformer_model.encoders.{layer}.attention.self.query",
    "layer.query_importance": "fastformer_model.encoders.{layer}.attention.self.query_att",
    "layer.key_importance": "fastformer_model.encoders.{layer}.attention.self.key_att",
    "layer.transform": "fastformer_model.encoders.{layer}.attention.self.transform",
    "layer.out": "fastformer_model.encoders.{layer}.attention.output.dense",
    "layer.norm1": "fastformer_model.encoders.{layer}.attention.output.LayerNorm",
    "layer.mlp1": "fastformer_model.encoders.{layer}.intermediate.dense",
    "layer.mlp2": "fastformer_model.encoders.{layer}.output.dense",
    "layer.norm2": "fastformer_model.encoders.{layer}.output.LayerNorm",
    "pooling1": "fastformer_model.poolers.0.att_fc1",
    "pooling2": "fastformer_model.poolers.0.att_fc2",
    "head": "dense_linear"
  }
})json";

}  // namespace attnscope
