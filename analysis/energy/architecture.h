// Dimensions of the transformers whose operations are counted, without weights. Named ones are
// data, one file per family.
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

/// A convolution before the patches, followed by an activation. A norm with running statistics is
/// part of the convolution.
struct StemConvolution {
  std::int64_t outputs = 0;         ///< number of output cells
  std::int64_t input_channels = 0;  ///< channels of the input
  std::int64_t kernel_taps = 0;     ///< taps of the kernel: rows × columns
  std::int64_t width = 0;           ///< channels of the output
  bool norm = false;                ///< a LayerNorm of each cell before the activation
};

/// Computation of a stage's input tokens.
struct StageEmbedding {
  enum class Kind {
    none,         ///< tokens come from the stage before, or are given
    convolution,  ///< patches: kernel_taps × input_channels → width, for every output
    sound,        ///< two convolutions, each followed by an activation (Whisper)
    merging,      ///< a norm and a linear layer without bias over merged tokens (Swin)
    table         ///< rows of a vocabulary's table
  };
  Kind kind = Kind::none;
  std::int64_t outputs = 0;         ///< number of tokens without class tokens
  std::int64_t first_outputs = 0;   ///< outputs of the first of two convolutions: frames of a sound
  std::int64_t input_channels = 0;  ///< channels of the input
  std::int64_t kernel_taps = 0;     ///< taps of the kernel: rows × columns
  std::int64_t vocabulary = 0;      ///< rows of the table
  std::int64_t positions = 0;       ///< number of learned position embeddings; 0: none
  std::int64_t types = 0;           ///< number of token types with learned embeddings (BERT)
  bool fixed_positions = false;     ///< position embeddings are sines and cosines, not learned
  bool scaled = false;              ///< tokens are multiplied by a constant
  std::int64_t class_tokens = 0;
  bool biases = true;  ///< the convolution or merging of patches has a bias
  bool norm = false;   ///< a norm of the width follows
  std::vector<StemConvolution> stem = {};
  Activation stem_activation = Activation::relu;
};

/// Layers of equal width.
struct Stage {
  StageEmbedding embedding;
  std::int64_t tokens = 0;      ///< N
  std::int64_t width = 0;       ///< D
  std::int64_t heads = 0;       ///< H, divides D unless head_width is given
  std::int64_t head_width = 0;  ///< d; 0: D / H
  std::int64_t key_heads = 0;   ///< Hk, number of key and value heads; 0: H
  /// Width of the norms of queries and of keys, d or of all heads; 0: none.
  std::int64_t query_norm = 0;
  /// Number of channels of each head of queries and keys that rotary positions turn, and of tokens
  /// without a position before the others.
  std::int64_t rotated = 0, unrotated_tokens = 0;
  std::int64_t layers = 0;
  std::int64_t mlp_width = 0;
  /// Taps of the depth-wise convolution in the MLP (PVTv2); 0: none.
  std::int64_t mlp_convolution_taps = 0;
  /// Taps of the depth-wise convolution once per stage (Twins); 0: none.
  std::int64_t position_convolution_taps = 0;
  bool closing_norm = false;
  bool softmax_only = false;        ///< keeps softmax whatever mechanism is requested
  std::int64_t reduction = 1;       ///< the family's own spatial reduction of keys, per side
  bool reduction_norm = false;      ///< a LayerNorm follows the reduction
  std::int64_t window_tokens = 0;   ///< the family's own windows, in every other layer; 0: none
  bool windows_everywhere = false;  ///< windows in every layer (Swin)
  /// Number of windows of a grid, including windows padded with zeros, which are counted whole
  /// (SAM); 0: the tokens fill the windows.
  std::int64_t window_count = 0;
  std::vector<std::int64_t> whole_layers = {};  ///< layers that attend beyond windows, from 0
  /// True if queries meet learned vectors of row and column offsets (SAM), over the sides of the
  /// grid or of a window.
  bool decomposed_positions = false;
  std::int64_t rows = 0, columns = 0;  ///< dimensions of the grid, for decomposed_positions
  /// Learned position biases per head within a window, one added to each score (Swin).
  std::int64_t window_biases = 0;
  /// Learned position biases per head over all tokens, one per distance bucket, shared by the
  /// layers (T5).
  std::int64_t position_buckets = 0;
  bool gated_mlp = false;  ///< a third linear layer, activated, multiplies the hidden units
  bool mlp_norm = true;    ///< false if the MLP takes the attention's normed input
  /// Number of MLPs of width mlp_width from which a router chooses active_experts for each token;
  /// 0: one MLP for all tokens.
  std::int64_t experts = 0, active_experts = 0;
  std::int64_t shared_width = 0;  ///< width of an MLP for all tokens next to experts; 0: none
  /// Number of encoder tokens that a decoder reads; 0: no decoder. Layers then alternate between
  /// self-attention without an MLP, and cross-attention with an MLP.
  std::int64_t memory_tokens = 0;
  /// Only the class token queries, over all tokens, and changes (CaiT).
  bool class_attention = false;
  std::vector<std::int64_t> windows;  ///< tokens that each layer attends to, for additive; 0: all

  [[nodiscard]] std::int64_t heads_of_keys() const { return key_heads > 0 ? key_heads : heads; }
};

/// A network whose operations are counted.
struct Network {
  std::string name;    ///< "deit-small"
  std::string title;   ///< "DeiT-S, 224 x 224"
  std::string source;  ///< source of the dimensions
  std::string note;    ///< assumptions or remarks on the counting; may be empty
  std::vector<Stage> stages;
  MechanismChoice mechanism;  ///< the network's own mechanism
  Arithmetic arithmetic = Arithmetic::multiplicative;
  Activation activation = Activation::gelu;
  bool final_norm = true;
  bool linear_biases = true;   ///< biases of the MLP
  bool output_biases = true;   ///< biases of the attention's output projection
  bool router_biases = false;  ///< biases of the routers of experts
  bool shared_gate = false;    ///< a gate of the MLP next to experts
  bool layer_scales = false;   ///< learned scales of the outputs of attention and MLP
  bool query_key_value_biases = true;
  bool key_biases = true;     ///< biases of the keys, if query_key_value_biases (none in Whisper)
  bool rms_norms = false;     ///< RMS norms instead of LayerNorms
  bool scaled_scores = true;  ///< scores are scaled by 1/√d (not in T5)
  bool causal = false;       ///< no token attends to later ones; all pairs are counted nevertheless
  bool pooler = false;       ///< tanh of a linear layer of the first token (BERT)
  bool scaled_head = false;  ///< the input of the head is multiplied by a constant (T5)
  bool head_norm = false;    ///< a norm of the head's input alone
  bool head_bias = true;
  std::vector<std::int64_t> head_hidden;  ///< hidden widths of a multi-layer head
  std::int64_t head_outputs = 0;          ///< classes or vocabulary; 0: no head
  std::int64_t pooling = 0;      ///< width P of the attention pooling (Wu et al. 2021); 0: none
  std::int64_t head_tokens = 1;  ///< number of rows the head is applied to
  std::int64_t head_copies = 1;  ///< 2 for a distilled model
  bool tied_head = false;        ///< shares the embedding table
  /// Defaults of the settings with these names; see AccountingOptions.
  bool native_attention = false;
  std::int64_t multiplicative_ends = 0;
  /// Layers that stay multiplicative in addition to those at the ends.
  std::vector<std::int64_t> multiplicative_layers;
};

/// Dimensions that may be requested of a named architecture; the default value means its own.
struct NetworkExtents {
  std::int64_t tokens = 0;    ///< number of tokens of the first stage, with class tokens
  std::int64_t image = 0;     ///< side in pixels
  std::int64_t channels = 0;  ///< channels of the image
  std::int64_t classes = -1;  ///< number of classes, or size of the vocabulary
  std::int64_t class_tokens = -1;
  int positions = -1;  ///< 0: no position embeddings
};

/// Entry of the list of named architectures.
struct NamedNetwork {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  /// Makes the network. Throws Error(usage) naming an invalid dimension.
  Network (*make)(const NamedNetwork& self, const NetworkExtents& extents);
};

[[nodiscard]] std::span<const NamedNetwork> named_architectures();

/// Finds an architecture by name or title, ignoring case: "deit-tiny", "DeiT-T". Null if unknown.
[[nodiscard]] const NamedNetwork* find_named_architecture(std::string_view name);

/// Names of all named architectures: "deit-tiny, deit-small, …".
[[nodiscard]] std::string architecture_names();

/// The network of a loaded model for `tokens` tokens (0: its own) and `classes` outputs of its head
/// (-1: those of `weights`, or else the number of labels). `weights` holds what the file says in
/// addition to the spec, if known. Throws Error(usage) if the number of tokens depends on an input,
/// and Error(unsupported) for layers whose operations are not counted.
[[nodiscard]] Network architecture_of(const ModelSpec& spec, const std::string& name,
                                      std::int64_t tokens = 0, std::int64_t classes = -1,
                                      const std::optional<WeightExtents>& weights = {});

/// Throws Error(usage): heads that do not divide the width, dimensions that are not positive.
void check(const Network& architecture);

}  // namespace attnscope
