// Tensor names of Hugging Face's OPT: norms before the parts; in the 350M model norms after the
// parts and none after the last layer.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_opt_family = R"json({
  "name": "Hugging Face OPT",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "offset": 2 },
    "layer": {
      "norm": { "kind": "layer" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "position": "post", "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "relu" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as in OPT 125M, 350M and 1.3B",
    "norm_eps": "PyTorch's default, as its code has it"
  },
  "where": {
    "final_norm.weight": { "layer": { "norm": { "position": "pre" } } }
  },
  "tensors": {
    "token_embedding": "decoder.embed_tokens",
    "input_projection": "decoder.project_in?",
    "positions": "decoder.embed_positions",
    "layer.norm1": "decoder.layers.{layer}.self_attn_layer_norm",
    "layer.query": "decoder.layers.{layer}.self_attn.q_proj",
    "layer.key": "decoder.layers.{layer}.self_attn.k_proj",
    "layer.value": "decoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "decoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "decoder.layers.{layer}.final_layer_norm",
    "layer.mlp1": "decoder.layers.{layer}.fc1",
    "layer.mlp2": "decoder.layers.{layer}.fc2",
    "final_norm": "decoder.final_layer_norm?",
    "output_projection": "decoder.project_out?",
    "head": "lm_head?"
  }
})json";

}  // namespace attnscope
