// A recipe: all settings of a training, given by a JSON file or by options.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/parameters/enum_names.h"
#include "core/parameters/parameters.h"
#include "core/training/augmentation/mixing.h"
#include "core/training/augmentation/random_augment.h"
#include "core/training/augmentation/random_erasing.h"
#include "core/training/network.h"
#include "core/training/optimiser.h"

namespace attnscope {

/// The keys of a recipe, in the order in which they are shown.
[[nodiscard]] std::span<const ParameterDescription> recipe_settings();

/// The kind of examples, which determines the kind of model.
enum class ExampleKind {
  images,  ///< images with a class each: a vision transformer
  chunks,  ///< chunks of one text with next characters as targets: a causal language model
  texts    ///< texts with a class each, as bytes: an encoder that averages its tokens
};

/// Settings of the data set and of the variation of its examples.
struct DataSettings {
  std::string dataset, test_dataset;
  std::int64_t items = 0, test_items = 0;  ///< maximum number; 0: all
  std::vector<std::string> labels;         ///< names of classes, or empty for the data set's
  std::int64_t context = 64;               ///< maximum number of tokens of a text
  std::int64_t shift = 0;                  ///< maximum shift in pixels, in each direction
  bool flip = false;
  double crop = 1;  ///< minimum share of an image's area in a crop, which is enlarged to the image
  RandomAugmentSettings random_augment = {};
  ErasingSettings erasing = {};
  MixSettings mixing = {};
  std::int64_t repeats = 1;  ///< examples of each image in a row (repeated augmentation)
  std::int64_t batch = 64;
  std::uint64_t seed = 1;
};

/// Immutable. Includes everything that the result depends on, except for the data set's files.
class Recipe {
 public:
  /// Fills in defaults. Throws Error(usage) naming key, value and range.
  explicit Recipe(const ParameterValues& given);
  /// Reads a JSON object. Throws Error(damaged) if it is not one, and the errors of the
  /// constructor.
  [[nodiscard]] static Recipe from_json(std::string_view text);
  /// Like from_json, but checks each key separately: the values may need further ones to be a
  /// recipe.
  [[nodiscard]] static ParameterValues part_from_json(std::string_view text);

  [[nodiscard]] const ParameterValues& values() const { return values_; }
  /// JSON with one line per key, in their order.
  [[nodiscard]] std::string to_json() const;

  [[nodiscard]] DataSettings data() const;
  /// The model without facts about the data set: image size, classes, vocabulary.
  [[nodiscard]] ModelSpec model(ExampleKind kind) const;
  /// `fine`, a complete model of images, on the larger patches of the first coarse_steps() steps;
  /// DAFT's windows cover the same part of the image. Throws Error(usage) for a model of texts.
  [[nodiscard]] ModelSpec coarse_model(ModelSpec fine) const;
  [[nodiscard]] GradientForms gradient_forms() const;
  [[nodiscard]] Regularisation regularisation() const;
  [[nodiscard]] OptimiserSettings optimiser() const;
  /// The weight of the entropy of position biases in the loss (add_bias_entropy); 0: none.
  [[nodiscard]] double bias_entropy() const;
  /// The decay of the average of the weights (WeightAverage); 0: none.
  [[nodiscard]] double average_decay() const;
  /// The learning rate of step `step` (from 0). Coarse and fine patches have separate warm-ups and
  /// schedules.
  [[nodiscard]] double rate_of_step(std::int64_t step) const;
  /// The model file with the initial values; empty for random values.
  [[nodiscard]] std::string from() const;
  /// The parts of the network that begin with random values although the rest comes from from():
  /// positions, class_token, queries, keys, head.
  [[nodiscard]] std::vector<std::string> from_without() const;
  /// Number of steps of the whole run.
  [[nodiscard]] std::int64_t steps() const;
  /// True if the layers use learned hash codes, whose functions get no gradient.
  [[nodiscard]] bool has_learned_codes() const;
  /// The steps, ascending and counted from 0, before which hash functions are learned from the
  /// network's own attention: 0, and others at equal distances. Random weights are drawn only once.
  [[nodiscard]] std::vector<std::int64_t> code_steps() const;
  /// Number of examples that hash functions are learned from.
  [[nodiscard]] std::int64_t code_inputs() const;
  /// l, number of similar and of dissimilar keys per query in the learning of hash functions.
  [[nodiscard]] std::int64_t code_pairs() const;
  /// True if the weights A of hash functions stay as drawn (KLSH).
  [[nodiscard]] bool has_random_codes() const;
  /// Number of steps on coarse patches at the start of the run; 0 if there are none.
  [[nodiscard]] std::int64_t coarse_steps() const;
  /// Numbers of completed steps at which a checkpoint is written: 0, a geometric sequence up to the
  /// last step, and the last step on coarse patches.
  [[nodiscard]] std::vector<std::int64_t> checkpoints() const;
  /// Number of steps between saves of the state, from which an interrupted run resumes.
  [[nodiscard]] std::int64_t save_every() const;
  /// Number of test examples whose maps are followed.
  [[nodiscard]] std::int64_t probes() const;
  /// Number of steps between probes of the maps of test examples, besides those at checkpoints; 0:
  /// only at checkpoints.
  [[nodiscard]] std::int64_t probe_every() const;

 private:
  [[nodiscard]] MechanismChoice mechanism() const;

  ParameterValues values_;
};

// Names of enumerators that are used only in recipes:

inline constexpr EnumName<Positions> image_position_names[] = {{Positions::learned, "learned"},
                                                               {Positions::none, "none"}};
enum class ImageReadout { class_token, mean };
inline constexpr EnumName<ImageReadout> image_readout_names[] = {
    {ImageReadout::class_token, "class"}, {ImageReadout::mean, "mean"}};
inline constexpr EnumName<LayerForm> layer_form_names[] = {{LayerForm::transformer, "transformer"},
                                                           {LayerForm::fastformer, "fastformer"}};
enum class CodeWeights { learned, random };
inline constexpr EnumName<CodeWeights> code_weights_names[] = {{CodeWeights::learned, "learned"},
                                                               {CodeWeights::random, "random"}};
inline constexpr EnumName<ErasedFill> erased_fill_names[] = {{ErasedFill::noise, "noise"},
                                                             {ErasedFill::zero, "zero"}};
inline constexpr EnumName<Arithmetic> arithmetic_names[] = {
    {Arithmetic::multiplicative, "multiplicative"}, {Arithmetic::adder, "adder"}};

}  // namespace attnscope
