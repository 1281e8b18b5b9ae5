// What a model is, apart from its weights: everything its architecture leaves open, as data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.h"

namespace attnscope {

enum class NormPosition { pre, post };
enum class Norm {
  layer,  ///< LayerNorm
  rms     ///< x / √(mean x² + ε) ⊙ weight
};
enum class Activation {
  gelu,        ///< x Φ(x)
  gelu_tanh,   ///< its tanh form: Hugging Face's gelu_new, gelu_fast and gelu_pytorch_tanh
  relu,        ///< max(x, 0)
  quick_gelu,  ///< x σ(1.702 x), as CLIP
  silu,        ///< x σ(x), also called swish
  relu2        ///< max(x, 0)²
};
enum class MlpForm {
  plain,  ///< mlp2(act(mlp1 x))
  gated   ///< mlp2(act(gate x) ⊙ mlp1 x): GLU, SwiGLU
};
/// In JSON "class", "mean", …
enum class Readout {
  class_token,
  mean,                 ///< of the patches' tokens
  class_and_distilled,  ///< each by its head; the logits are averaged
  none,
  mean_all,       ///< of all tokens, prefix tokens included
  class_and_mean  ///< the class token, then the mean of the patches: [2·D]
};
enum class PatchOrder {
  channels_first,  ///< a flattened patch is (c, row, column), as a convolution's kernel
  channels_last    ///< (row, column, c), as vit-pytorch's rearrange
};
enum class Arithmetic { multiplicative, adder };
enum class Positions { none, learned };
enum class ResizeFilter { bilinear, bicubic };
enum class ResizeMode {
  shorter_side,  ///< keep the proportions, then centre crop
  exact          ///< to the wanted width and height, whatever becomes of the proportions
};
enum class HeadActivation { none, tanh, gelu, relu };
/// How learned positions are brought to another grid of patches, always bicubically.
enum class PositionResize {
  bicubic,              ///< to the exact extents, as Hugging Face
  bicubic_antialiased,  ///< the same with a wider kernel where the grid shrinks, as timm
  bicubic_offset        ///< by the factor (side + 0.1) / stored side, as DINOv2
};
/// How a text becomes numbers.
enum class Tokenizer {
  characters,  ///< one token a Unicode character; the vocabulary is `labels`
  bytes,       ///< one token a byte, numbered by its value
  byte_pairs,  ///< GPT-2's byte-level BPE, from vocab.json and merges.txt beside the weights
  ids          ///< not known: only token ids can be given
};
/// What one layer of a language model does around its attention.
enum class LayerForm {
  transformer,         ///< x += attention; x += MLP
  fastformer,          ///< two additive attentions, residual and norm between (Fastformer-LM)
  fastformer_rescaled  ///< without these, normalised within each head (Fastformer-LM's later code)
};

/// One stage of a pyramid: an embedding that coarsens the grid, then layers on that grid. Extents
/// are sides of squares, in cells of the grid before (of the first stage: pixels).
struct PyramidStage {
  std::int64_t width = 64;  ///< D
  std::int64_t layers = 2;  ///< blocks
  std::int64_t heads = 1;   ///< H
  std::int64_t mlp_width = 256;
  std::int64_t kernel = 3;  ///< of the embedding; padded by kernel / 2 where it exceeds the stride
  std::int64_t stride = 2;
  /// Keys and values come from a grid coarser by this, made by a strided convolution; 1: all.
  std::int64_t reduction = 1;
  /// Keys and values come from a grid pooled to this side (PVTv2-Li); 0: not pooled.
  std::int64_t pooled = 0;
  /// Every other layer, from the first on, attends within windows of this side (Twins-SVT); 0:
  /// none.
  std::int64_t window = 0;

  bool operator==(const PyramidStage&) const = default;
};

/// What the scores q·k are multiplied with before the softmax. In text: "head_width^-1/2",
/// "width^-1/2", "none" or a number.
struct ScoreScale {
  enum class Rule { head_width, width, number };
  Rule rule = Rule::head_width;
  double number = 1;  ///< of Rule::number

  bool operator==(const ScoreScale&) const = default;
};

/// One transformer over patches, over given token embeddings (patch extents 0), or over a text
/// (families "causal_lm" and "text_classifier": of the members about images none counts).
/// Serialised as JSON (model_spec_json.h) in our own files, sessions and architecture descriptions,
/// under the names of these members.
struct ModelSpec {
  std::string family = "vit";
  std::int64_t channels = 3, image_height = 224, image_width = 224;  ///< pixels
  std::int64_t patch_height = 16, patch_width = 16;                  ///< pixels; 0: no embedding
  std::int64_t patch_stride = 0;   ///< pixels from patch to patch; 0: they tile the image
  std::int64_t patch_padding = 0;  ///< zeros around the image, in pixels
  PatchOrder patch_order = PatchOrder::channels_first;
  std::int64_t width = 192;  ///< D
  std::int64_t layers = 12, heads = 3;
  std::int64_t head_width = 0;  ///< d; 0 means width / heads
  ScoreScale scale;             ///< of the scores q·k; see score_scale
  bool scale_by_layer = false;  ///< scores are also divided by the layer's number, from 1 on
  std::int64_t mlp_width = 768;
  Activation activation = Activation::gelu;
  MlpForm mlp_form = MlpForm::plain;
  NormPosition norm_position = NormPosition::pre;
  Norm norm = Norm::layer;
  double norm_eps = 1e-6;
  Arithmetic arithmetic = Arithmetic::multiplicative;  ///< of the linear layers (Adder, Eq. 4, 5)
  std::int64_t class_tokens = 1;                       ///< the first: 0, 1, or 2 (distilled)
  std::int64_t register_tokens = 0;                    ///< between class tokens and patches
  Positions positions = Positions::learned;
  PositionResize position_resize = PositionResize::bicubic;
  bool final_norm = true;  ///< LayerNorm of all tokens after the last block
  Readout readout = Readout::class_token;
  HeadActivation head_activation = HeadActivation::tanh;  ///< between the layers of a deep head
  std::vector<double> input_mean = {0.5, 0.5, 0.5}, input_std = {0.5, 0.5, 0.5};  ///< per channel
  ResizeMode resize_mode = ResizeMode::shorter_side;
  ResizeFilter resize_filter = ResizeFilter::bicubic;  ///< antialiased
  double crop_fraction = 1.0;       ///< resize to image/crop_fraction, then centre crop
  MechanismChoice mechanism;        ///< what it was trained with
  std::vector<std::string> labels;  ///< of classes; of a causal_lm, what each token says
  /// Of each layer, where they differ; empty: `mechanism` everywhere.
  std::vector<MechanismChoice> layer_mechanisms;
  /// Adder arithmetic: layers that stay multiplicative, linear layers and attention (Adder, 4.2:
  /// the first and last block on ImageNet).
  std::vector<std::int64_t> multiplicative_layers;
  /// Of a pyramid; its `layers` is their sum, its `patch_*` the first stage's stride, and its
  /// `width`, `heads`, `head_width` and `mlp_width` are the last stage's.
  std::vector<PyramidStage> stages;
  double embedding_norm_eps = 1e-5;  ///< of a pyramid's embeddings and reductions
  // Of models of texts:
  std::int64_t vocabulary = 0;  ///< number of tokens
  std::int64_t context = 0;     ///< the most tokens of one text: rows of the position table
  double embedding_scale = 1;   ///< of the token embeddings; 0: √width (labml)
  std::int64_t padding = -1;    ///< of a text_classifier: the token it never sees; -1: none
  Tokenizer tokenizer = Tokenizer::ids;
  LayerForm layer_form = LayerForm::transformer;
  double logit_scale = 1;       ///< of the logits; 0: 1/√width (Fastformer-LM)
  double importance_scale = 7;  ///< of fastformer_rescaled: the greatest logit of an importance

  [[nodiscard]] bool is_language_model() const { return family == "causal_lm"; }
  [[nodiscard]] bool reads_texts() const {
    return is_language_model() || family == "text_classifier";
  }

  [[nodiscard]] std::int64_t grid_rows() const { return cells(image_height, patch_height); }
  [[nodiscard]] std::int64_t grid_columns() const { return cells(image_width, patch_width); }
  /// Patches along an axis of `pixels`.
  [[nodiscard]] std::int64_t cells(std::int64_t pixels, std::int64_t patch) const {
    if (patch == 0) return 0;
    const std::int64_t stride = patch_stride ? patch_stride : patch;
    return pixels + 2 * patch_padding < patch ? 0
                                              : (pixels + 2 * patch_padding - patch) / stride + 1;
  }
  /// Tokens before the patches.
  [[nodiscard]] std::int64_t prefix_tokens() const { return class_tokens + register_tokens; }
  /// d: of queries, keys and values.
  [[nodiscard]] std::int64_t width_of_head() const {
    return head_width ? head_width : (heads ? width / heads : 0);
  }
  /// Tokens of one input; 0 when only the input decides.
  [[nodiscard]] std::int64_t tokens() const {
    return patch_height ? prefix_tokens() + grid_rows() * grid_columns() : 0;
  }
};

/// What a layer was trained with: softmax where one with adder attention stays multiplicative.
[[nodiscard]] const MechanismChoice& mechanism_of(const ModelSpec& spec, std::int64_t layer);

/// The arithmetic of the linear layers of layer `layer`.
[[nodiscard]] Arithmetic arithmetic_of(const ModelSpec& spec, std::int64_t layer);

/// What the scores of layer `layer` are multiplied with, where that is not each mechanism's own
/// 1/√d: AttentionInput::scale.
[[nodiscard]] std::optional<double> score_scale(const ModelSpec& spec, std::int64_t layer);

/// Throws Error(damaged), naming the member and its valid range, for what no model can be.
void validate(const ModelSpec& spec);

/// Something the file could not tell: the family's default was taken; shown, and can be set.
struct Assumption {
  std::string option;  ///< a member of ModelSpec: "heads"
  std::string value;   ///< "3"
  std::string reason;  ///< "the file does not say; 64 channels a head, as DeiT"
};

}  // namespace attnscope
