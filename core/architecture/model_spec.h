// What a model is, apart from its weights: everything its architecture leaves open, as data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/spec/input_spec.h"
#include "core/architecture/spec/layer_spec.h"
#include "core/architecture/spec/readout_spec.h"
#include "core/parameters/parameters.h"

namespace attnscope {

enum class Arithmetic { multiplicative, adder };

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
  /// Every other layer, from the first on, attends within windows of this side (Twins-SVT), or all
  /// do (shifts_windows); 0: none.
  std::int64_t window = 0;

  bool operator==(const PyramidStage&) const = default;
};

/// What layers of their own names come after the others.
enum class Tail {
  none,
  decoder,         ///< of a second text: blocks of two layers, the text's own and to the encoder
  class_attention  ///< in which the class token, there for the first time, asks (CaiT)
};

/// These layers: the last of ModelSpec::layers.
struct TailSpec {
  Tail kind = Tail::none;
  std::int64_t blocks = 0;
  std::int64_t heads = 0;      ///< H; 0: as the others
  std::int64_t mlp_width = 0;  ///< 0: as the others'
  // Of a decoder:
  std::int64_t vocabulary = 0;    ///< number of tokens it knows; 0: as the encoder, the same ones
  std::int64_t context = 0;       ///< the most tokens of one text; 0: any number
  std::int64_t start_token = -1;  ///< the id that its texts begin with; -1: not known

  [[nodiscard]] std::int64_t layers_of_block() const { return kind == Tail::decoder ? 2 : 1; }
  [[nodiscard]] std::int64_t layers() const { return blocks * layers_of_block(); }
};

/// Layers that differ from ModelSpec::layer, and in what.
struct LayerDifference {
  /// Those in the list; of an empty one every `every`-th from `first` on.
  std::vector<std::int64_t> layers;
  std::int64_t first = 0, every = 1;
  /// Members of LayerSpec by their paths, "scores.window" → as JSON text.
  std::map<std::string, std::string> members;

  [[nodiscard]] bool holds(std::int64_t layer) const;
  bool operator==(const LayerDifference&) const = default;
};

/// One transformer: input → positions → layers → read-out. Serialised as JSON of the same shape
/// (model_spec_json.h) in our own files, sessions and architecture descriptions.
struct ModelSpec {
  std::int64_t width = 192;  ///< D, of a token
  std::int64_t layers = 12;
  /// Of the file, where each is run several times (ALBERT): stored_layer; 0: each is its own.
  std::int64_t stored_layers = 0;
  InputSpec input;
  PositionSpec positions;
  LayerSpec layer;                           ///< what each is, but for `differences` and `tail`
  std::vector<LayerDifference> differences;  ///< later ones go before earlier ones
  TailSpec tail;
  ReadoutSpec readout;
  Arithmetic arithmetic = Arithmetic::multiplicative;  ///< of the linear layers (Adder, Eq. 4, 5)
  MechanismChoice mechanism;                           ///< what it was trained with
  /// Of each layer, where they differ; empty: `mechanism` everywhere.
  std::vector<MechanismChoice> layer_mechanisms;
  /// Adder arithmetic: layers that stay multiplicative, linear layers and attention (Adder, 4.2:
  /// the first and last block on ImageNet).
  std::vector<std::int64_t> multiplicative_layers;
  /// Of a pyramid; its `layers` is their sum, its `patch_*` the first stage's stride, and its
  /// width, heads, head width and MLP width are the last stage's.
  std::vector<PyramidStage> stages;
  std::vector<std::string> labels;  ///< of classes; of a language model, what each token says

  [[nodiscard]] bool reads_texts() const { return input.kind == InputKind::tokens; }
  [[nodiscard]] bool hears() const { return input.kind == InputKind::audio; }
  /// Tokens lie on a grid of patches.
  [[nodiscard]] bool has_grid() const {
    return input.kind == InputKind::patches || input.kind == InputKind::stages;
  }
  [[nodiscard]] bool is_pyramid() const { return input.kind == InputKind::stages; }
  /// Swin: all layers attend within windows, every other layer's shifted by half, each with a table
  /// of relative positions, and four patches are merged into one between the stages.
  [[nodiscard]] bool shifts_windows() const {
    return is_pyramid() && layer.scores.bias == ScoreBias::table;
  }
  [[nodiscard]] bool has_decoder() const { return tail.kind == Tail::decoder; }
  /// Number of tokens that logits of tokens are of.
  [[nodiscard]] std::int64_t output_vocabulary() const {
    return tail.vocabulary ? tail.vocabulary : input.vocabulary;
  }
  /// The layers that are no tail's.
  [[nodiscard]] std::int64_t body_layers() const { return layers - tail.layers(); }
  /// Of texts, told by what comes after each token.
  [[nodiscard]] bool is_language_model() const {
    return reads_texts() && readout.kind == Readout::next_token;
  }

  /// d: of queries, keys and values.
  [[nodiscard]] std::int64_t width_of_head() const {
    const AttentionSpec& attention = layer.attention;
    if (attention.head_width) return attention.head_width;
    return attention.heads ? width / attention.heads : 0;
  }
  /// Of what is embedded, before a projection to the width.
  [[nodiscard]] std::int64_t embedding_width() const { return input.width ? input.width : width; }
  /// Tokens of one input; 0 when only the input decides.
  [[nodiscard]] std::int64_t tokens() const {
    if (hears()) return input.context;
    return input.patch_height ? input.prefix_tokens() + input.grid_rows() * input.grid_columns()
                              : 0;
  }
};

/// Which stage of a pyramid a layer is in, and its number there; a tail is stage 1 of other models.
struct LayerPlace {
  std::size_t stage = 0;
  std::int64_t block = 0;
};
[[nodiscard]] LayerPlace place_of_layer(const ModelSpec& spec, std::int64_t layer);

/// The layer of the file that layer `layer` runs: ⌊layer · stored_layers / layers⌋, rounded as
/// Python does (ALBERT's group of layers); with stored_layers 0 itself.
[[nodiscard]] std::int64_t stored_layer(const ModelSpec& spec, std::int64_t layer);

/// What a layer is: `spec.layer` with its stage's extents and its differences, or as the tail says.
[[nodiscard]] LayerSpec layer_of(const ModelSpec& spec, std::int64_t layer);

/// D of a layer.
[[nodiscard]] std::int64_t width_of_layer(const ModelSpec& spec, std::int64_t layer);

/// d of a layer of that width.
[[nodiscard]] std::int64_t width_of_head(const LayerSpec& layer, std::int64_t width);

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
  std::string option;   ///< a model option: "heads"
  std::string value;    ///< "3"
  std::string reason;   ///< "the file does not say; 64 channels a head, as DeiT"
  bool stated = false;  ///< by what lies beside the file, or the user: listed, but no guess
};

}  // namespace attnscope
