// Nomic's BERT (nomic-embed-text), which is run by its own code: rotary positions, gated MLPs with
// fc12 as the gate, fused queries, keys and values, norms after each part.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view nomic_bert_family = R"json({
  "name": "Nomic BERT",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": { "norm": { "kind": "layer", "position": "post" } }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-12 },
      "attention": { "head_width": 64 },
      "rotary": { "form": "half", "theta": 1000 },
      "mlp": { "activation": "silu" }
    },
    "readout": { "kind": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "as in the published configurations",
    "layer.rotary.theta": "as in nomic-embed-text v1 and v1.5"
  },
  "where": {
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.word_embeddings",
    "token_types": "embeddings.token_type_embeddings?",
    "embedding_norm": "emb_ln",
    "layer.qkv": "encoder.layers.{layer}.attn.Wqkv",
    "layer.out": "encoder.layers.{layer}.attn.out_proj",
    "layer.norm1": "encoder.layers.{layer}.norm1",
    "layer.mlp1": "encoder.layers.{layer}.mlp.fc11",
    "layer.mlp_gate": "encoder.layers.{layer}.mlp.fc12",
    "layer.mlp2": "encoder.layers.{layer}.mlp.fc2",
    "layer.norm2": "encoder.layers.{layer}.norm2",
    "head_transform": "cls.predictions.transform.dense?",
    "head_transform_norm": "cls.predictions.transform.layer_norm?",
    "head": "cls.predictions.decoder?"
  },
  "refuse": {
    "classifier.weight": "a head that classifies",
    "embeddings.position_embeddings.weight": "learned positions",
    "encoder.layers.1.mlp.router.layer.weight": "a mixture of experts"
  }
})json";

}  // namespace attnscope
