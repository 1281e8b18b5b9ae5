// What one layer of a transformer is: norms, heads, scores, rotary positions, MLP. What the tensors
// say themselves (biases, norms of queries and keys, layer scales, an output projection) is not
// repeated here.
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/spec/activation.h"

namespace attnscope {

/// What one layer does around its attention.
enum class LayerForm {
  transformer,          ///< attention and MLP, each with its residual
  fastformer,           ///< two additive attentions, residual and norm between (Fastformer-LM)
  fastformer_rescaled,  ///< without these, normalised within each head (Fastformer-LM's later code)
  fastformer_encoder    ///< Wu et al. 2021, Eq. 3 to 6: bidirectional, post-LN
};
/// Of attention and MLP.
enum class Residual {
  sequential,  ///< x += attention; x += MLP
  parallel,    ///< x += attention + MLP, both of the same x; one norm or two
  none         ///< x = attention; x = MLP (teaching models)
};

enum class NormPosition {
  pre,       ///< x + f(norm(x))
  post,      ///< norm(x + f(x))
  sandwich,  ///< x + norm′(f(norm(x))) (Gemma 2)
  branch     ///< x + norm(f(x)) (OLMo-2)
};
enum class Norm {
  layer,        ///< LayerNorm
  rms,          ///< x / √(mean x² + ε) ⊙ weight
  rms_plus_one  ///< the same with 1 + weight (Gemma)
};

struct NormSpec {
  Norm kind = Norm::layer;
  NormPosition position = NormPosition::pre;
  double eps = 1e-6;
};

/// Which tokens ask, and which are asked.
enum class Attending {
  self,         ///< all tokens, each other
  class_token,  ///< the class token asks itself and the patches (CaiT)
  encoder       ///< those of the decoder's text ask those that the encoder gave (T5)
};

/// How the rows of the projections of queries, keys and values are split into heads of d channels,
/// and those of the output joined.
enum class HeadSplit {
  heads_first,         ///< row h·d + c of head h, channel c: "b n (h d)"
  channels_first,      ///< row c·H + h: "b n (d h)"
  channels_then_heads  ///< split as channels_first, and the output joined as heads_first
};

struct AttentionSpec {
  Attending of = Attending::self;
  std::int64_t heads = 3;       ///< H, of queries
  std::int64_t key_heads = 0;   ///< Hk, of keys and values: a divisor of H; 0: as many
  std::int64_t head_width = 0;  ///< d; 0 means width / heads
  HeadSplit head_split = HeadSplit::heads_first;  ///< in the file; a loaded model has heads first
  bool cosine = false;  ///< queries and keys of each head are brought to length 1
};

/// Which channels are turned together: x_i with x_{i+r/2}, or x_{2i} with x_{2i+1}.
enum class Rotary { none, half, pair };
enum class RotaryScaling { none, linear, dynamic, llama3, yarn, longrope };
/// Of what the angles are made.
enum class RotaryGrid {
  sequence,  ///< the token's number
  patches,   ///< row and column of its patch in [−1, 1]; prefix tokens are not turned (DINOv3)
  cells      ///< row and column of its patch, from 0 on, in cells of trained_side (EVA-02)
};

/// Rotary positions: queries and keys are turned by position · θ^(−2i/r) (Su et al. 2021, Eq. 15).
struct RotarySpec {
  Rotary form = Rotary::none;
  RotaryGrid grid = RotaryGrid::sequence;
  double theta = 10000;
  std::int64_t width = 0;         ///< r, of a head's first channels; 0: all
  std::int64_t trained_side = 0;  ///< cells: along a side of the grid it was trained on; 0: of this
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  std::int64_t trained_context = 0;              ///< tokens of the texts before it was stretched
  double low_frequency = 1, high_frequency = 4;  ///< llama3
  double beta_fast = 32, beta_slow = 1;          ///< yarn
  double attention_factor = 0;  ///< of cosines and sines, yarn and longrope; 0: by their formulas
  std::vector<double> short_factors = {}, long_factors = {};  ///< longrope, one a frequency
};

/// What the scores q·k are multiplied with before the softmax. In text: "head_width^-1/2",
/// "width^-1/2", "none" or a number.
struct ScoreScale {
  enum class Rule { head_width, width, number };
  Rule rule = Rule::head_width;
  double number = 1;  ///< of Rule::number

  bool operator==(const ScoreScale&) const = default;
};

/// Which keys a query sees through a window of W.
enum class WindowForm {
  before,  ///< i − W < j ≤ i: the last W, itself included
  around,  ///< |i − j| ≤ W / 2
  chunk,   ///< ⌊i / W⌋ = ⌊j / W⌋
  tiles    ///< those of its W × W cells of the grid, which zeros fill up to a multiple of W (SAM)
};
/// How zeros make whole windows of a grid whose every other layer shifts them (Swin).
enum class WindowFilling {
  none,          ///< the grid must be of whole windows
  before_shift,  ///< at its last rows and columns, and with them it is shifted (transformers)
  after_shift    ///< at those of the shifted grid (timm)
};
/// What is added to the scores for where query and key are.
enum class ScoreBias {
  none,
  alibi,        ///< −m (i − j), m of each head (Press et al. 2022)
  buckets,      ///< a learned number for each bucket of j − i (T5)
  table,        ///< a learned number for each pair of offsets on the grid of patches (Swin, BEiT)
  decomposed,   ///< q·Rh[y − y′] + q·Rw[x − x′] on the grid of patches (SAM)
  disentangled  ///< q_i·Kr + k_j·Qr of the bucket of i − j (DeBERTa): relative_bucket
};

struct ScoreSpec {
  ScoreScale scale;             ///< of q·k; see score_scale
  bool scale_by_layer = false;  ///< scores are also divided by the layer's number, from 1 on
  double soft_cap = 0;          ///< c · tanh(score / c); 0: none
  bool causal = false;          ///< no token sees later ones
  std::int64_t window = 0;      ///< W; 0: all keys are seen
  WindowForm window_form = WindowForm::before;
  WindowFilling window_filling = WindowFilling::none;
  ScoreBias bias = ScoreBias::none;
  /// Of ScoreBias::buckets; of ::disentangled there are as many to each side, and with distance 0
  /// each holds one.
  std::int64_t buckets = 32, bucket_distance = 128;
  double alibi_maximum = 8;  ///< m_h = 2^(−maximum · h / H)
};

enum class MlpForm {
  plain,  ///< mlp2(act(mlp1 x))
  gated,  ///< mlp2(act(gate x) ⊙ mlp1 x): GLU, SwiGLU
  none    ///< attention alone
};

struct MlpSpec {
  MlpForm form = MlpForm::plain;
  std::int64_t width = 768;
  Activation activation = Activation::gelu;
};

struct LayerSpec {
  LayerForm form = LayerForm::transformer;
  Residual residual = Residual::sequential;
  double residual_scale = 1;  ///< α: α·x + f(x) in place of each x + f(x) (DeepNorm)
  NormSpec norm;
  AttentionSpec attention;
  RotarySpec rotary;
  ScoreSpec scores;
  MlpSpec mlp;
  double importance_scale = 7;  ///< of fastformer_rescaled: the greatest logit of an importance

  [[nodiscard]] std::int64_t key_heads() const {
    return attention.key_heads ? attention.key_heads : attention.heads;
  }
};

}  // namespace attnscope
