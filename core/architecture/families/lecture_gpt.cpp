// The GPT that Karpathy's lecture builds, with one projection a head, in the names that course
// projects keep.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view lecture_gpt_family = R"json({
  "name": "lecture GPT",
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "norm": { "position": "pre" }, "scores": { "causal": true } },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "mlp": { "activation": "relu" }
    }
  },
  "reasons": {
    "norm_eps": "PyTorch's default",
    "activation": "as the lecture has it",
    "scale": "1/√d, as the lecture's repository has it; the video's code has 1/√D: scale=width^-1/2"
  },
  "tensors": {
    "token_embedding": "token_embedding_table",
    "positions": "position_embedding_table",
    "layer.norm1": "blocks.{layer}.ln1",
    "layer.query": "blocks.{layer}.sa.heads.{head}.query",
    "layer.key": "blocks.{layer}.sa.heads.{head}.key",
    "layer.value": "blocks.{layer}.sa.heads.{head}.value",
    "layer.mask": "blocks.{layer}.sa.heads.{head}.tril?",
    "layer.out": "blocks.{layer}.sa.proj",
    "layer.norm2": "blocks.{layer}.ln2",
    "layer.mlp1": "blocks.{layer}.ffwd.net.0",
    "layer.mlp2": "blocks.{layer}.ffwd.net.2",
    "final_norm": "ln_f",
    "head": "lm_head"
  }
})json";

}  // namespace attnscope
