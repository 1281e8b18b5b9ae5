// Hugging Face's Gemma, which has Llama's names and is recognised only by its configuration, Gemma
// 2, and the text model of Gemma 3.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_gemma_family = R"json({
  "name": "Hugging Face Gemma",
  "like": "Hugging Face Llama",
  "model": {
    "input": { "scale": 0 },
    "layer": { "norm": { "kind": "rms_plus_one" } }
  },
  "assume": {
    "layer": {
      "attention": { "head_width": 256 },
      "mlp": { "activation": "gelu_tanh" }
    }
  },
  "reasons": {
    "heads": "256 channels a head, as in the published configurations",
    "norm_eps": "the default of GemmaConfig",
    "layer.rotary.theta": "the default of GemmaConfig"
  },
  "refuse": {
    "layers.0.pre_feedforward_layernorm.weight": "Gemma 2's norms after each part"
  }
})json";

const std::string_view hugging_face_gemma2_family = R"json({
  "name": "Hugging Face Gemma 2",
  "like": "Hugging Face Gemma",
  "model": {
    "layer": { "norm": { "position": "sandwich" } }
  },
  "assume": {
    "layer": {
      "scores": { "scale": 0.0625, "soft_cap": 50 }
    },
    "readout": { "soft_cap": 30 },
    "differences": [{ "layers": { "first": 0, "every": 2 }, "scores": { "window": 4096 } }]
  },
  "reasons": {
    "heads": "256 channels a head, as in Gemma 2 2B and 9B",
    "scale": "query_pre_attn_scalar 256, as in 2B and 9B; 27B has 144",
    "layer.scores.soft_cap": "the default of Gemma2Config",
    "readout.soft_cap": "the default of Gemma2Config",
    "differences": "even layers see the last 4096 tokens, as in all published ones"
  },
  "tensors": {
    "layer.norm1_after": "layers.{layer}.post_attention_layernorm",
    "layer.norm2": "layers.{layer}.pre_feedforward_layernorm",
    "layer.norm2_after": "layers.{layer}.post_feedforward_layernorm"
  },
  "refuse": {
    "layers.0.self_attn.q_norm.weight": "Gemma 3's norms of queries and keys",
    "layers.0.pre_feedforward_layernorm.weight": null
  }
})json";

const std::string_view hugging_face_gemma3_family = R"json({
  "name": "Hugging Face Gemma 3",
  "like": "Hugging Face Gemma 2",
  "assume": {
    "layer": {
      "attention": null,
      "rotary": { "theta": 1000000 },
      "scores": { "soft_cap": null }
    },
    "readout": null,
    "differences": [
      { "layers": { "first": 0, "every": 6 }, "scores": { "window": 512 }, "rotary": { "theta": 10000 } },
      { "layers": { "first": 1, "every": 6 }, "scores": { "window": 512 }, "rotary": { "theta": 10000 } },
      { "layers": { "first": 2, "every": 6 }, "scores": { "window": 512 }, "rotary": { "theta": 10000 } },
      { "layers": { "first": 3, "every": 6 }, "scores": { "window": 512 }, "rotary": { "theta": 10000 } },
      { "layers": { "first": 4, "every": 6 }, "scores": { "window": 512 }, "rotary": { "theta": 10000 } }
    ]
  },
  "reasons": {
    "heads": null,
    "norm_eps": "the default of Gemma3TextConfig",
    "scale": "query_pre_attn_scalar 256, as in all published ones but 27B",
    "layer.scores.soft_cap": null,
    "readout.soft_cap": null,
    "layer.rotary.theta": "of layers that see all tokens; the default of Gemma3TextConfig",
    "differences": "five layers of six see the last 512 tokens, as in 270M and 1B"
  },
  "tensors": {
    "layer.query_norm": "layers.{layer}.self_attn.q_norm",
    "layer.key_norm": "layers.{layer}.self_attn.k_norm"
  },
  "refuse": null
})json";

}  // namespace attnscope
