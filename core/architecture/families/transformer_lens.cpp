// Models saved by TransformerLens: heads are an axis of every attention weight, and kernels are
// [in, out]. If the number of outputs of W_U is not that of the tokens, they are classes. Files
// without norms are refused, since the norms may be folded into the weights.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view transformer_lens_family = R"json({
  "name": "TransformerLens",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "learned" },
    "layer": { "norm": { "kind": "layer", "position": "pre" } }
  },
  "assume": {
    "readout": { "kind": "next_token" },
    "layer": {
      "norm": { "eps": 1e-5 },
      "scores": { "causal": true },
      "mlp": { "activation": "gelu_tanh" }
    }
  },
  "reasons": {
    "layer.scores.causal": "TransformerLens' default; a mask is stored in bidirectional models too",
    "scale": "1/√d, TransformerLens' default (use_attn_scale)",
    "activation": "as GPT-2; the file does not say",
    "norm_eps": "TransformerLens' default"
  },
  "tensors": {
    "token_embedding": "embed.W_E",
    "positions": "pos_embed.W_pos",
    "layer.norm1.weight": "blocks.{layer}.ln1.w",
    "layer.norm1.bias": "blocks.{layer}.ln1.b",
    "layer.query.weight": { "pattern": "blocks.{layer}.attn.W_Q", "axes": [[0, 2], 1] },
    "layer.query.bias": { "pattern": "blocks.{layer}.attn.b_Q", "axes": [[0, 1]] },
    "layer.key.weight": { "pattern": "blocks.{layer}.attn.W_K", "axes": [[0, 2], 1] },
    "layer.key.bias": { "pattern": "blocks.{layer}.attn.b_K", "axes": [[0, 1]] },
    "layer.value.weight": { "pattern": "blocks.{layer}.attn.W_V", "axes": [[0, 2], 1] },
    "layer.value.bias": { "pattern": "blocks.{layer}.attn.b_V", "axes": [[0, 1]] },
    "layer.out.weight": { "pattern": "blocks.{layer}.attn.W_O", "axes": [2, [0, 1]] },
    "layer.out.bias": "blocks.{layer}.attn.b_O",
    "layer.mask": "blocks.{layer}.attn.mask?",
    "layer.norm2.weight": "blocks.{layer}.ln2.w?",
    "layer.norm2.bias": "blocks.{layer}.ln2.b?",
    "layer.mlp1.weight": { "pattern": "blocks.{layer}.mlp.W_in", "transposed": true, "optional": true },
    "layer.mlp1.bias": "blocks.{layer}.mlp.b_in?",
    "layer.mlp2.weight": { "pattern": "blocks.{layer}.mlp.W_out", "transposed": true, "optional": true },
    "layer.mlp2.bias": "blocks.{layer}.mlp.b_out?",
    "final_norm.weight": "ln_final.w",
    "final_norm.bias": "ln_final.b",
    "head.weight": { "pattern": "unembed.W_U", "transposed": true },
    "head.bias": "unembed.b_U"
  },
  "harmless": ["blocks.*.attn.IGNORE"],
  "refuse": {
    "blocks.0.attn.rotary_sin": "rotary positions, whose form the file does not say",
    "blocks.0.mlp.W_gate": "a gated MLP, whose activation the file does not say",
    "blocks.0.mlp.ln.w": "SoLU with a norm"
  }
})json";

}  // namespace attnscope
