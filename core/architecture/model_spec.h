// Specification of a model apart from its weights: everything that its architecture leaves open, as
// data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/input_spec.h"
#include "core/architecture/layer_spec.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// Output that is read after the last layer. In JSON "class" for class_token, otherwise the name.
enum class Readout {
  class_token,
  mean,                 ///< mean of the patch tokens
  class_and_distilled,  ///< class and distillation token, each with its head; logits are averaged
  none,
  mean_all,        ///< mean of all tokens, including prefix tokens
  class_and_mean,  ///< the class token, then the mean of the patches: [2·D]
  pooler,          ///< tanh(pooler · first token) (BERT)
  last_token,
  additive_pooling,   ///< mean weighted by a softmax over the tokens (Fastformer)
  attention_pooling,  ///< attention output of a learned query (SigLIP)
  next_token,         ///< one row of logits per token, for the token after it
  masked_token,       ///< one row of logits per token, for the token at its position
  end_token           ///< first token that marks the end of the text (CLIP)
};
enum class HeadActivation { none, tanh, gelu, relu };

struct ReadoutSpec {
  Readout kind = Readout::class_token;
  bool final_norm = true;  ///< true: a norm of all tokens after the last layer
  HeadActivation head_activation = HeadActivation::tanh;  ///< activation within a deep head
  std::int64_t end_token = -1;  ///< id for Readout::end_token; -1: the largest id of the text
  double logit_scale = 1;  ///< factor of a language model's logits; 0: 1/√width (Fastformer-LM)
  double soft_cap = 0;     ///< logits become c · tanh(logit / c) (Gemma 2); 0: none

  /// True if the read-out gives one feature vector per input.
  [[nodiscard]] bool gives_features() const {
    return kind != Readout::none && !gives_token_logits();
  }
  [[nodiscard]] bool gives_token_logits() const {
    return kind == Readout::next_token || kind == Readout::masked_token;
  }
};

enum class Arithmetic { multiplicative, adder };

/// Stage of a pyramid: an embedding that coarsens the grid, then layers on that grid. Kernel and
/// stride are sides of squares in cells of the grid before (first stage: pixels); reduction, pooled
/// and window are in cells of the stage's grid.
struct PyramidStage {
  std::int64_t width = 64;  ///< D, width of a token
  std::int64_t layers = 2;  ///< number of blocks
  std::int64_t heads = 1;   ///< H, number of heads
  std::int64_t mlp_width = 256;
  std::int64_t kernel = 3;  ///< kernel of the embedding; padded by kernel / 2 if above the stride
  std::int64_t stride = 2;
  /// Factor by which a strided convolution coarsens the grid of keys and values; 1: full grid.
  std::int64_t reduction = 1;
  /// Side of the pooled grid that keys and values come from (PVTv2-Li); 0: not pooled.
  std::int64_t pooled = 0;
  /// Side of the attention windows of every other layer from the first on (Twins-SVT), or of all
  /// layers (shifts_windows); 0: no windows.
  std::int64_t window = 0;

  bool operator==(const PyramidStage&) const = default;
};

/// Kind of the layers that come after the others and have their own tensor names.
enum class Tail {
  none,
  decoder,  ///< decoder of a second text: blocks of two layers, self-attention and cross-attention
  class_attention  ///< layers in which the class token, added there, attends to all tokens (CaiT)
};

/// Tail layers, which are the last of ModelSpec::layers.
struct TailSpec {
  Tail kind = Tail::none;
  std::int64_t blocks = 0;
  std::int64_t heads = 0;      ///< H; 0: same as the other layers
  std::int64_t mlp_width = 0;  ///< 0: same as the other layers
  // Members for a decoder:
  std::int64_t vocabulary = 0;    ///< number of tokens; 0: same vocabulary as the encoder
  std::int64_t context = 0;       ///< maximum number of tokens of a text; 0: no limit
  std::int64_t start_token = -1;  ///< id of the first token of its texts; -1: unknown

  [[nodiscard]] std::int64_t layers_of_block() const { return kind == Tail::decoder ? 2 : 1; }
  [[nodiscard]] std::int64_t layers() const { return blocks * layers_of_block(); }
};

/// Layers that differ from ModelSpec::layer, and the members that differ.
struct LayerDifference {
  /// Layer numbers; if empty, every `every`-th layer from `first` on.
  std::vector<std::int64_t> layers;
  std::int64_t first = 0, every = 1;
  /// Path of a LayerSpec member ("scores.window") → value as JSON text.
  std::map<std::string, std::string> members;

  [[nodiscard]] bool holds(std::int64_t layer) const;
  bool operator==(const LayerDifference&) const = default;
};

/// Transformer as input → positions → layers → read-out. JSON of the same structure
/// (model_spec_json.h) is used in model files, sessions and architecture descriptions.
struct ModelSpec {
  std::int64_t width = 192;  ///< D, width of a token
  std::int64_t layers = 12;
  /// Number of layers in the file if layers are shared (ALBERT): stored_layer; 0: not shared.
  std::int64_t stored_layers = 0;
  InputSpec input;
  PositionSpec positions;
  LayerSpec layer;  ///< settings of all layers except for `differences` and `tail`
  std::vector<LayerDifference> differences;  ///< later entries override earlier ones
  TailSpec tail;
  ReadoutSpec readout;
  Arithmetic arithmetic = Arithmetic::multiplicative;  ///< for the linear layers (Adder, Eq. 4, 5)
  MechanismChoice mechanism;  ///< mechanism that the model was trained with
  /// Mechanism per layer if layers differ; empty: `mechanism` everywhere.
  std::vector<MechanismChoice> layer_mechanisms;
  /// Layers that stay multiplicative with adder arithmetic, in linear layers and attention (Adder,
  /// 4.2: the first and last block on ImageNet).
  std::vector<std::int64_t> multiplicative_layers;
  /// Stages of a pyramid. `layers` is then their total, `patch_*` the first stage's stride, and
  /// width, heads, head width and MLP width are those of the last stage.
  std::vector<PyramidStage> stages;
  std::vector<std::string> labels;  ///< class names; for a language model, the text of each token

  [[nodiscard]] bool reads_texts() const { return input.kind == InputKind::tokens; }
  [[nodiscard]] bool is_audio() const { return input.kind == InputKind::audio; }
  /// True if tokens lie on a grid of patches.
  [[nodiscard]] bool has_grid() const {
    return input.kind == InputKind::patches || input.kind == InputKind::stages;
  }
  [[nodiscard]] bool is_pyramid() const { return input.kind == InputKind::stages; }
  /// True for Swin: all layers attend within windows, shifted by half in every other layer, each
  /// layer has a table of relative positions, and four patches are merged into one between stages.
  [[nodiscard]] bool shifts_windows() const {
    return is_pyramid() && layer.scores.bias == ScoreBias::table;
  }
  [[nodiscard]] bool has_decoder() const { return tail.kind == Tail::decoder; }
  /// Number of tokens that token logits cover.
  [[nodiscard]] std::int64_t output_vocabulary() const {
    return tail.vocabulary ? tail.vocabulary : input.vocabulary;
  }
  /// Number of layers before the tail.
  [[nodiscard]] std::int64_t body_layers() const { return layers - tail.layers(); }
  /// True for text models that predict the token after each token.
  [[nodiscard]] bool is_language_model() const {
    return reads_texts() && readout.kind == Readout::next_token;
  }

  /// d, width of queries, keys and values per head.
  [[nodiscard]] std::int64_t width_of_head() const {
    const AttentionSpec& attention = layer.attention;
    if (attention.head_width) return attention.head_width;
    return attention.heads ? width / attention.heads : 0;
  }
  /// Width of embeddings before a projection to the model's width.
  [[nodiscard]] std::int64_t embedding_width() const { return input.width ? input.width : width; }
  /// Number of tokens of one input; 0 if it depends on the input.
  [[nodiscard]] std::int64_t tokens() const {
    if (is_audio()) return input.context;
    return input.patch_height ? input.prefix_tokens() + input.grid_rows() * input.grid_columns()
                              : 0;
  }
};

/// Stage of a layer and its number within the stage; outside pyramids, the tail is stage 1.
struct LayerPlace {
  std::size_t stage = 0;
  std::int64_t block = 0;
};
[[nodiscard]] LayerPlace place_of_layer(const ModelSpec& spec, std::int64_t layer);

/// Layer of the file that layer `layer` uses: ⌊layer / (layers / stored_layers)⌋ in double
/// precision, like ALBERT's Python code; `layer` itself if stored_layers is 0.
[[nodiscard]] std::int64_t stored_layer(const ModelSpec& spec, std::int64_t layer);

/// Settings of a layer: `spec.layer` with its stage's sizes and its differences, or with the tail's
/// settings.
[[nodiscard]] LayerSpec layer_of(const ModelSpec& spec, std::int64_t layer);

/// Width D of a layer.
[[nodiscard]] std::int64_t width_of_layer(const ModelSpec& spec, std::int64_t layer);

/// Head width d of a layer with width `width`.
[[nodiscard]] std::int64_t width_of_head(const LayerSpec& layer, std::int64_t width);

/// Mechanism that a layer was trained with. Unless layer_mechanisms is given, class attention and
/// the multiplicative layers of a model with adder attention use softmax.
[[nodiscard]] const MechanismChoice& mechanism_of(const ModelSpec& spec, std::int64_t layer);

/// Arithmetic of the linear layers of layer `layer`.
[[nodiscard]] Arithmetic arithmetic_of(const ModelSpec& spec, std::int64_t layer);

/// Factor of the scores of layer `layer`, for AttentionInput::scale; empty if it is the mechanism's
/// own 1/√d.
[[nodiscard]] std::optional<double> score_scale(const ModelSpec& spec, std::int64_t layer);

/// Throws Error(damaged) naming the member and its valid range if the spec is invalid.
void validate(const ModelSpec& spec);

/// Value that the file does not specify and that the family's default supplies; shown, and can be
/// overridden.
struct Assumption {
  std::string option;   ///< model option: "heads"
  std::string value;    ///< value as text: "3"
  std::string reason;   ///< reason, such as "the file does not say; 64 channels a head, as DeiT"
  bool stated = false;  ///< true if the user or a file next to the weights specifies it: no guess
};

}  // namespace attnscope
