// What is counted: a transformer's extents, without weights. Named ones are data, one file a
// family.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/model/transformer/weight_extents.h"

namespace attnscope {

/// A convolution before the patches, with an activation behind it; a norm by running statistics is
/// part of it.
struct StemConvolution {
  std::int64_t outputs = 0;         ///< cells
  std::int64_t input_channels = 0;  ///< of these
  std::int64_t kernel_taps = 0;     ///< of these: rows × columns
  std::int64_t width = 0;           ///< channels it gives
  bool norm = false;                ///< a LayerNorm of each cell before the activation
};

/// How the tokens of a stage come to be.
struct StageEmbedding {
  enum class Kind {
    none,         ///< the stage before passes its tokens on, or tokens are given
    convolution,  ///< patches: kernel_taps × input_channels → width, at every output
    sound,        ///< two of these, an activation behind each (Whisper)
    merging,      ///< a norm and a linear layer without bias of as many (Swin)
    table         ///< rows of a vocabulary
  };
  Kind kind = Kind::none;
  std::int64_t outputs = 0;         ///< of these: tokens without class tokens
  std::int64_t first_outputs = 0;   ///< of the first of two: frames of a sound
  std::int64_t input_channels = 0;  ///< of these
  std::int64_t kernel_taps = 0;     ///< of these: rows × columns
  std::int64_t vocabulary = 0;      ///< rows of the table
  std::int64_t positions = 0;       ///< learned position embeddings; 0 without
  std::int64_t types = 0;           ///< of tokens, that have learned embeddings too (BERT)
  bool fixed_positions = false;     ///< those that are added are not learned: sines and cosines
  bool scaled = false;              ///< tokens are multiplied with a number
  std::int64_t class_tokens = 0;
  bool norm = false;  ///< a norm of the width follows
  std::vector<StemConvolution> stem = {};
  Activation stem_activation = Activation::relu;
};

/// Layers of one width.
struct Stage {
  StageEmbedding embedding;
  std::int64_t tokens = 0;      ///< N
  std::int64_t width = 0;       ///< D
  std::int64_t heads = 0;       ///< H, divides D unless head_width is given
  std::int64_t head_width = 0;  ///< d; 0: D / H
  std::int64_t layers = 0;
  std::int64_t mlp_width = 0;
  std::int64_t mlp_convolution_taps = 0;       ///< depth-wise, between the two (PVTv2); 0 without
  std::int64_t position_convolution_taps = 0;  ///< depth-wise, once a stage (Twins); 0 without
  bool closing_norm = false;
  bool softmax_only = false;        ///< keeps softmax whatever mechanism is asked for
  std::int64_t reduction = 1;       ///< the family's own spatial reduction of keys, per side
  bool reduction_norm = false;      ///< a LayerNorm follows the reduction
  std::int64_t window_tokens = 0;   ///< the family's own windows, every other layer; 0 without
  bool windows_everywhere = false;  ///< in every layer (Swin)
  /// Windows of a grid that zeros fill up, and that take part as a whole (SAM); 0: the tokens fill
  /// them.
  std::int64_t window_count = 0;
  std::vector<std::int64_t> whole_layers = {};  ///< which attend beyond windows, counted from 0
  /// Vectors of offsets between rows and between columns that queries meet (SAM): of the grid's
  /// sides, or a window's.
  bool decomposed_positions = false;
  std::int64_t rows = 0, columns = 0;  ///< of the grid, for these
  /// Learned numbers of a head, of which one is added to each score within a window (Swin).
  std::int64_t window_biases = 0;
  /// The same of all tokens, shared by the layers: one for each bucket of distances (T5).
  std::int64_t position_buckets = 0;
  bool gated_mlp =
      false;  ///< a third linear layer, whose activation the others' is multiplied with
  /// Of a decoder: the tokens that the encoder gives. Layers are then in turns one of the text
  /// itself without an MLP, and one that asks these tokens, with it; 0: none.
  std::int64_t memory_tokens = 0;
  bool class_attention = false;       ///< the first token alone asks, of all, and changes (CaiT)
  std::vector<std::int64_t> windows;  ///< tokens a layer attends to, for additive; 0: all
};

/// One network. `family` decides which settings apply.
struct Network {
  std::string name;    ///< "deit-small"
  std::string title;   ///< "DeiT-S, 224 x 224"
  std::string source;  ///< where its extents are from
  std::string note;    ///< what was assumed, or how it is counted; empty if nothing
  std::vector<Stage> stages;
  MechanismChoice mechanism;  ///< its own
  Arithmetic arithmetic = Arithmetic::multiplicative;
  Activation activation = Activation::gelu;
  bool final_norm = true;
  bool linear_biases = true;
  bool layer_scales = false;  ///< of what attention and MLP give
  bool query_key_value_biases = true;
  bool key_biases = true;     ///< of those, that of the keys (Whisper has none)
  bool rms_norms = false;     ///< in place of LayerNorms
  bool scaled_scores = true;  ///< by 1/√d (T5: not)
  bool causal = false;        ///< no token sees later ones; all pairs are counted all the same
  bool pooler = false;        ///< tanh of a linear layer of the first token (BERT)
  bool scaled_head = false;   ///< what the head reads is multiplied with a number (T5)
  bool head_bias = true;
  std::vector<std::int64_t> head_hidden;  ///< widths between the layers of a deep head
  std::int64_t head_outputs = 0;          ///< classes or vocabulary; 0: no head
  std::int64_t pooling =
      0;  ///< P of the attention pooling before the head (Wu et al. 2021); 0: none
  std::int64_t head_tokens = 1;  ///< rows the head is applied to
  std::int64_t head_copies = 1;  ///< 2 for a distilled model
  bool tied_head = false;        ///< shares the embedding table
  /// What settings of these names are unless they are given; see AccountingOptions.
  bool native_attention = false;
  std::int64_t multiplicative_ends = 0;
  /// Layers that stay multiplicative beside the ends.
  std::vector<std::int64_t> multiplicative_layers;
};

/// What a named architecture's maker may be asked for beside its own extents; absent: its own.
struct NetworkExtents {
  std::int64_t tokens = 0;    ///< of the first stage, with class tokens
  std::int64_t image = 0;     ///< pixels a side
  std::int64_t channels = 0;  ///< of the image
  std::int64_t classes = -1;  ///< or words
  std::int64_t class_tokens = -1;
  int positions = -1;  ///< 0: no position embeddings
};

/// One line of the list.
struct NamedNetwork {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  /// Throws Error(usage) naming the extent that is impossible.
  Network (*make)(const NamedNetwork& self, const NetworkExtents& extents);
};

[[nodiscard]] std::span<const NamedNetwork> named_architectures();

/// By name or title, in any case: "deit-tiny", "DeiT-T". Null if there is none.
[[nodiscard]] const NamedNetwork* find_named_architecture(std::string_view name);

/// "deit-tiny, deit-small, …"
[[nodiscard]] std::string architecture_names();

/// A loaded model's, for `tokens` tokens (0: its own) and `classes` outputs of its head (-1: as
/// many as `weights` say, or else as it has labels). `weights` is what its file says beyond the
/// spec, where that is known. Throws Error(usage) when only an input would tell the number of
/// tokens.
[[nodiscard]] Network architecture_of(const ModelSpec& spec, const std::string& name,
                                      std::int64_t tokens = 0, std::int64_t classes = -1,
                                      const std::optional<WeightExtents>& weights = {});

/// Throws Error(usage): heads that do not divide the width, an extent that is not positive.
void check(const Network& architecture);

}  // namespace attnscope
