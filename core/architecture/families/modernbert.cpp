// Hugging Face's ModernBERT, also with a text classification head. Every third layer sees all
// tokens; `differences` lists the layers with windows.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_modernbert_family = R"json({
  "name": "Hugging Face ModernBERT",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "layer", "position": "pre" },
      "rotary": { "form": "half" },
      "scores": { "window_form": "around" }
    }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "rotary": { "theta": 160000 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "none" },
    "differences": [
      { "layers": { "first": 1, "every": 3 }, "scores": { "window": 128 }, "rotary": { "theta": 10000 } },
      { "layers": { "first": 2, "every": 3 }, "scores": { "window": 128 }, "rotary": { "theta": 10000 } }
    ]
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of ModernBertConfig",
    "layer.rotary.theta": "of layers that see all tokens; the default of ModernBertConfig",
    "differences": "two layers of three see 64 tokens to each side: the default of ModernBertConfig"
  },
  "where": {
    "head_transform.weight": { "readout": { "kind": "masked_token" } }
  },
  "tensors": {
    "token_embedding": "embeddings.tok_embeddings",
    "embedding_norm": "embeddings.norm",
    "layer.norm1": "layers.{layer}.attn_norm?",
    "layer.qkv": "layers.{layer}.attn.Wqkv",
    "layer.out": "layers.{layer}.attn.Wo",
    "layer.norm2": "layers.{layer}.mlp_norm",
    "layer.mlp_gate_and_mlp1": "layers.{layer}.mlp.Wi",
    "layer.mlp2": "layers.{layer}.mlp.Wo",
    "final_norm": "final_norm",
    "head_transform": "head.dense?",
    "head_transform_norm": "head.norm?",
    "head.0.weight": "decoder.weight?",
    "head.0.bias": "decoder.bias?"
  },
  "refuse": {
    "classifier.weight": "a head that classifies"
  }
})json";

const std::string_view hugging_face_modernbert_classifier_family = R"json({
  "name": "Hugging Face ModernBERT classifier",
  "like": "Hugging Face ModernBERT",
  "assume": {
    "readout": { "kind": "class" }
  },
  "reasons": {
    "readout": "the default of ModernBertConfig; others read the mean (mean_all)"
  },
  "where": null,
  "tensors": {
    "head_transform": "head.dense",
    "head_transform_norm": "head.norm",
    "head.0.weight": "classifier.weight",
    "head.0.bias": "classifier.bias?"
  },
  "refuse": null
})json";

}  // namespace attnscope
