// Transformer of "Progress measures for grokking via mechanistic interpretability" (Nanda et al.
// 2023): no norms, no biases in the attention, embedding tables and per-head weights oriented as in
// the paper.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view grokking_family = R"json({
  "name": "grokking transformer",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "learned" },
    "layer": { "scores": { "causal": true } },
    "readout": { "kind": "next_token" }
  },
  "assume": { "layer": { "mlp": { "activation": "relu" } } },
  "reasons": { "activation": "as the paper's code; it can also be gelu, which the file does not say" },
  "tensors": {
    "token_embedding.weight": { "pattern": "embed.W_E", "transposed": true },
    "positions": "pos_embed.W_pos",
    "layer.query.weight": [
      { "pattern": "blocks.{layer}.attn.W_Q", "axes": [[0, 1], 2] },
      { "pattern": "attn_blocks.{layer}.attn.W_Q", "axes": [[0, 1], 2] }
    ],
    "layer.key.weight": [
      { "pattern": "blocks.{layer}.attn.W_K", "axes": [[0, 1], 2] },
      { "pattern": "attn_blocks.{layer}.attn.W_K", "axes": [[0, 1], 2] }
    ],
    "layer.value.weight": [
      { "pattern": "blocks.{layer}.attn.W_V", "axes": [[0, 1], 2] },
      { "pattern": "attn_blocks.{layer}.attn.W_V", "axes": [[0, 1], 2] }
    ],
    "layer.mask": ["blocks.{layer}.attn.mask", "attn_blocks.{layer}.attn.mask"],
    "layer.out.weight": ["blocks.{layer}.attn.W_O", "attn_blocks.{layer}.attn.W_O"],
    "layer.mlp1.weight": "blocks.{layer}.mlp.W_in?",
    "layer.mlp1.bias": "blocks.{layer}.mlp.b_in?",
    "layer.mlp2.weight": "blocks.{layer}.mlp.W_out?",
    "layer.mlp2.bias": "blocks.{layer}.mlp.b_out?",
    "head.weight": { "pattern": "unembed.W_U", "transposed": true }
  },
  "refuse": { "blocks.0.attn.b_Q": "TransformerLens' biases of queries" }
})json";

}  // namespace attnscope
