// Activation functions of linear layers and convolutions.
#pragma once

namespace attnscope {

enum class Activation {
  gelu,        ///< x Φ(x)
  gelu_tanh,   ///< gelu's tanh form: Hugging Face's gelu_new, gelu_fast and gelu_pytorch_tanh
  relu,        ///< max(x, 0)
  quick_gelu,  ///< x σ(1.702 x) (CLIP)
  silu,        ///< x σ(x), also called swish
  relu2,       ///< max(x, 0)²
  hard_swish   ///< x · min(max(x + 3, 0), 6) / 6 (MobileNetV3, LeViT)
};

}  // namespace attnscope
