// Settings of one transformer layer: norms, heads, scores, rotary positions, MLP. The tensors show
// biases, norms of queries and keys, layer scales and output projections, so no member repeats
// them.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

/// Activation of linear layers and convolutions.
enum class Activation {
  gelu,        ///< x Φ(x)
  gelu_tanh,   ///< gelu's tanh form: Hugging Face's gelu_new, gelu_fast and gelu_pytorch_tanh
  relu,        ///< max(x, 0)
  quick_gelu,  ///< x σ(1.702 x) (CLIP)
  silu,        ///< x σ(x), also called swish
  relu2,       ///< max(x, 0)²
  hard_swish   ///< x · min(max(x + 3, 0), 6) / 6 (MobileNetV3, LeViT)
};

/// Structure of a layer around its attention.
enum class LayerForm {
  transformer,  ///< attention and MLP, each with a residual connection
  fastformer,   ///< two additive attentions with residual and norm between them (Fastformer-LM)
  fastformer_rescaled,  ///< no residual or norm between; normalised per head (later Fastformer-LM)
  fastformer_encoder    ///< Wu et al. 2021, Eq. 3 to 6: bidirectional, post-LN
};
/// Residual connections of attention and MLP.
enum class Residual {
  sequential,  ///< x += attention; x += MLP
  parallel,    ///< x += attention(x) + MLP(x), with one norm or two
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
  rms_plus_one  ///< RMS norm with 1 + weight (Gemma)
};

struct NormSpec {
  Norm kind = Norm::layer;
  NormPosition position = NormPosition::pre;
  double eps = 1e-6;
};

/// Tokens that give the queries, and tokens that give the keys and values.
enum class Attending {
  self,         ///< all tokens attend to all tokens
  class_token,  ///< the class token attends to itself and the patches (CaiT)
  encoder       ///< the decoder's tokens attend to the encoder's output (T5)
};

/// Order of heads and their d channels in the rows of the query, key and value projections and in
/// the joined output.
enum class HeadSplit {
  heads_first,         ///< row h·d + c holds head h, channel c: "b n (h d)"
  channels_first,      ///< row c·H + h holds head h, channel c: "b n (d h)"
  channels_then_heads  ///< projections in the order channels_first, output in heads_first
};

/// Norm of the heads' output, before the output projection.
enum class HeadsNorm {
  over_all,        ///< over all heads, like the layer's other norms, if one is stored
  each_head,       ///< by the RMS of each head, times a stored weight [dv] if there is one
  each_difference  ///< likewise, and times 1 − λ₀ of differential attention
};
/// Gate of the heads' output, which a layer computes from its input. It is no part of the map.
enum class OutputGate {
  none,
  sigmoid,     ///< norm(o) ⊙ σ(x W)
  silu,        ///< norm(o) ⊙ silu(x W)
  silu_inside  ///< norm(o ⊙ silu(x W)) (Mamba-2)
};
/// Decays α of each token that a layer computes from its input, for a recurrent mechanism.
enum class DecayGate {
  none,
  softplus,    ///< ln α = −exp(a) Δ, with the step Δ = softplus(x W + b), one for each head
  log_sigmoid  ///< ln α = ln σ(x W + b) / divisor, one for each channel of the keys
};

struct AttentionSpec {
  Attending of = Attending::self;
  std::int64_t heads = 3;       ///< H, number of query heads
  std::int64_t key_heads = 0;   ///< Hk, number of key and value heads, a divisor of H; 0: H
  std::int64_t head_width = 0;  ///< d, width of a head; 0: width / heads
  HeadSplit head_split = HeadSplit::heads_first;  ///< order in the file; heads_first once loaded
  bool cosine = false;           ///< queries and keys are normalised to length 1 per head
  std::int64_t value_width = 0;  ///< dv, width of a head's values; 0: d
  /// Number of stored heads of queries and keys, a divisor of H, each of which serves the values of
  /// H / query_heads heads; 0: H. Unlike key_heads it leaves every head its values.
  std::int64_t query_heads = 0;
  /// Heads have two halves, stored apart: the rows of a projection hold the first halves of all
  /// heads, then the second. Rotary positions turn each half by itself.
  bool halves = false;
  /// r, width of the latent from which the keys and values of all heads are computed, and r′, that
  /// from which the queries are (multi-head latent attention, DeepSeek-V2); 0: the tokens. A head's
  /// rotated channels then come first, though the file has them last.
  std::int64_t latent_width = 0, query_latent_width = 0;
  HeadsNorm heads_norm = HeadsNorm::over_all;
  OutputGate gate = OutputGate::none;
  DecayGate decay = DecayGate::none;
  double decay_divisor = 1;  ///< DecayGate::log_sigmoid
};

/// Channels that are rotated together: x_i with x_{i+r/2} (half), or x_{2i} with x_{2i+1} (pair).
enum class Rotary { none, half, pair };
enum class RotaryScaling { none, linear, dynamic, llama3, yarn, longrope };
/// Positions that the rotary angles are computed from.
enum class RotaryGrid {
  sequence,  ///< token position
  patches,   ///< row and column of the patch in [−1, 1]; prefix tokens are not rotated (DINOv3)
  cells      ///< row and column of the patch from 0, rescaled to trained_side (EVA-02)
};

/// Rotary positions: queries and keys are rotated by position · θ^(−2i/r) (Su et al. 2021, Eq. 15).
struct RotarySpec {
  Rotary form = Rotary::none;
  RotaryGrid grid = RotaryGrid::sequence;
  double theta = 10000;
  std::int64_t width = 0;         ///< r, number of rotated channels at the start of a head; 0: all
  std::int64_t trained_side = 0;  ///< RotaryGrid::cells: side of the training grid; 0: this grid's
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  std::int64_t trained_context = 0;              ///< context before scaling, in tokens
  double low_frequency = 1, high_frequency = 4;  ///< for llama3
  double beta_fast = 32, beta_slow = 1;          ///< for yarn
  bool whole_pairs = true;      ///< yarn: the range of interpolated pairs ends at whole pairs
  double attention_factor = 0;  ///< yarn, longrope: factor of cosines and sines; 0: from formulas
  std::vector<double> short_factors = {}, long_factors = {};  ///< for longrope, one per frequency
  /// Numbers of channel pairs that turn by a token's time, row and column if it stands for a patch
  /// of a picture in a text (Wang et al. 2024, Qwen2-VL). Empty: all turn by its place in the text.
  std::vector<std::int64_t> sections = {};
  /// The pairs of `sections` take turns, as long as rows and columns last; false: one after the
  /// other.
  bool sections_in_turns = false;
};

/// Factor of the scores q·k before the softmax. As text: "head_width^-1/2", "width^-1/2", "none" or
/// a number.
struct ScoreScale {
  enum class Rule { head_width, width, number };
  Rule rule = Rule::head_width;
  double number = 1;  ///< only for Rule::number

  bool operator==(const ScoreScale&) const = default;
};

/// Keys j that query i sees in a window of W.
enum class WindowForm {
  before,  ///< i − W < j ≤ i: the last W tokens including i
  around,  ///< |i − j| ≤ W / 2
  chunk,   ///< ⌊i / W⌋ = ⌊j / W⌋
  tiles  ///< keys in the same tile of W × W cells; the grid is zero-padded to a multiple of W (SAM)
};
/// Zero padding of grids to whole windows: if every other layer shifts them (Swin), or of tiles.
enum class WindowFilling {
  none,          ///< Swin: the grid must consist of whole windows; tiles: the last are padded
  before_shift,  ///< at the last rows and columns, before the grid is shifted (transformers)
  after_shift,   ///< at the last rows and columns of the shifted grid (timm)
  cut            ///< no padding: tiles at the last edges are smaller (Qwen2.5-VL)
};
/// Bias that is added to the scores for the positions of query and key.
enum class ScoreBias {
  none,
  alibi,           ///< −m (i − j), one slope m per head (Press et al. 2022)
  alibi_bfloat16,  ///< m j, rounded to bfloat16, times the scale of the scores 1/√d (Falcon)
  buckets,         ///< one learned value per bucket of j − i (T5)
  table,        ///< one learned value per row and column offset on the grid of patches (Swin, BEiT)
  decomposed,   ///< q·Rh[y − y′] + q·Rw[x − x′] on the grid of patches (SAM)
  disentangled  ///< q_i·Kr + k_j·Qr for the bucket of i − j (DeBERTa): relative_bucket
};

struct ScoreSpec {
  ScoreScale scale;             ///< factor of q·k; see score_scale
  bool scale_by_layer = false;  ///< scores are also divided by the layer number, counted from 1
  double soft_cap = 0;          ///< c · tanh(score / c); 0: none
  bool causal = false;          ///< no token sees later ones
  /// The tokens of a picture in a causal text also see each other's later ones (Gemma 3).
  bool picture_both_ways = false;
  std::int64_t window = 0;  ///< W; 0: all keys are seen
  WindowForm window_form = WindowForm::before;
  WindowFilling window_filling = WindowFilling::none;
  ScoreBias bias = ScoreBias::none;
  /// Number of buckets and largest distance, for ScoreBias::buckets. With ScoreBias::disentangled
  /// there are `buckets` on each side, and bucket_distance 0 means one distance per bucket.
  std::int64_t buckets = 32, bucket_distance = 128;
  double alibi_maximum = 8;  ///< m_h = 2^(−maximum · h / H)
};

enum class MlpForm {
  plain,  ///< mlp2(act(mlp1 x))
  gated,  ///< mlp2(act(gate x) ⊙ mlp1 x): GLU, SwiGLU
  none    ///< no MLP
};

/// Scores by which a router ranks the experts of a token, from its logits.
enum class ExpertScore { softmax, sigmoid };

struct MlpSpec {
  MlpForm form = MlpForm::plain;
  std::int64_t width = 768;
  Activation activation = Activation::gelu;
  /// c in mlp2(act(min(gate x, c)) ⊙ (1 + min(max(mlp1 x, −c), c))) (gpt-oss); 0: not clipped.
  double clip = 0;
  /// Number of MLPs of this width, of which each token passes through those that a router chooses
  /// (a mixture of experts); 0: one MLP for all tokens.
  std::int64_t experts = 0;
  std::int64_t active_experts = 2;  ///< k, number of experts that a token passes through
  /// Weights of a token's k experts, from scores of all, are divided by their sum.
  bool sums_to_one = true;
  ExpertScore expert_score = ExpertScore::softmax;
  double expert_scale = 1;  ///< factor of the weights of a token's experts
  /// Number of groups of consecutive experts, and of those from which a token's experts come: the
  /// groups with the greatest sums of their `group_best` best scores.
  std::int64_t expert_groups = 1, active_groups = 1, group_best = 1;
  std::int64_t shared_width = 0;  ///< width of an MLP for all tokens next to experts; 0: none
  /// Rows of a weight with gates and hidden layers of experts alternate, the gate first; false:
  /// first all of the gate.
  bool alternating = false;
};

struct LayerSpec {
  LayerForm form = LayerForm::transformer;
  Residual residual = Residual::sequential;
  double residual_scale = 1;  ///< α in α·x + f(x), which replaces x + f(x) (DeepNorm)
  double branch_scale = 1;    ///< β in x + β·f(x) (Granite)
  NormSpec norm;
  AttentionSpec attention;
  RotarySpec rotary;
  ScoreSpec scores;
  MlpSpec mlp;
  double importance_scale = 7;  ///< fastformer_rescaled: largest logit of an importance

  [[nodiscard]] std::int64_t key_heads() const {
    return attention.key_heads ? attention.key_heads : attention.heads;
  }
};

}  // namespace attnscope
