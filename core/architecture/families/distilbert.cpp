// Tensor names of Hugging Face's DistilBERT.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_distilbert_family = R"json({
  "name": "Hugging Face DistilBERT",
  "prefixes": ["distilbert."],
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "norm": { "kind": "layer", "position": "post", "eps": 1e-12 } }
  },
  "assume": {
    "layer": {
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations"
  },
  "where": {
    "head.0.weight": { "readout": { "kind": "class", "head_activation": "relu" } },
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "layer.query": "transformer.layer.{layer}.attention.q_lin",
    "layer.key": "transformer.layer.{layer}.attention.k_lin",
    "layer.value": "transformer.layer.{layer}.attention.v_lin",
    "layer.out": "transformer.layer.{layer}.attention.out_lin",
    "layer.norm1": "transformer.layer.{layer}.sa_layer_norm",
    "layer.mlp1": "transformer.layer.{layer}.ffn.lin1",
    "layer.mlp2": "transformer.layer.{layer}.ffn.lin2",
    "layer.norm2": "transformer.layer.{layer}.output_layer_norm",
    "head_transform": "vocab_transform?",
    "head_transform_norm": "vocab_layer_norm?",
    "head.0.weight": ["vocab_projector.weight?", "pre_classifier.weight?"],
    "head.0.bias": ["vocab_projector.bias?", "pre_classifier.bias?"],
    "head.1": "classifier?"
  },
  "harmless": ["embeddings.position_ids"]
})json";

}  // namespace attnscope
