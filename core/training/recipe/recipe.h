// What a training is: every setting of it, as a file of JSON or flags say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/parameters/parameters.h"
#include "core/training/network.h"
#include "core/training/optimiser.h"

namespace attnscope {

/// The keys of a recipe, in the order in which they are shown.
[[nodiscard]] std::span<const ParameterDescription> recipe_settings();

/// What examples are, and with that what a model is.
enum class ExampleKind {
  images,     ///< with a class each: a vision transformer
  stretches,  ///< of one text, told by what comes after each character: a causal language model
  texts       ///< with a class each, as bytes: an encoder that reads the mean of its tokens
};

/// What is read of a data set, and how an example is varied.
struct DataSettings {
  std::string dataset, test_dataset;
  std::int64_t items = 0, test_items = 0;  ///< at most; 0: all
  std::vector<std::string> labels;         ///< of classes; none: the data set's, or numbers
  std::int64_t context = 64;               ///< tokens of a text, at most
  std::int64_t shift = 0;                  ///< pixels, to either side
  bool flip = false;
  double crop = 1;  ///< the least share of an image's area that is shown, enlarged to all of it
  std::int64_t batch = 64;
  std::uint64_t seed = 1;
};

/// Immutable. Everything that the result depends on, but for the data set's files.
class Recipe {
 public:
  /// Fills in defaults. Throws Error(usage) naming key, value and range.
  explicit Recipe(const ParameterValues& given);
  /// A JSON object. Throws Error(damaged) for what is none, else as the constructor.
  [[nodiscard]] static Recipe from_json(std::string_view text);
  /// The same, with each key checked by itself alone: it may be a recipe only with further ones.
  [[nodiscard]] static ParameterValues part_from_json(std::string_view text);

  [[nodiscard]] const ParameterValues& values() const { return values_; }
  /// A line a key, in their order.
  [[nodiscard]] std::string to_json() const;

  [[nodiscard]] DataSettings data() const;
  /// Without what the data set says: extents, classes, vocabulary.
  [[nodiscard]] ModelSpec model(ExampleKind kind) const;
  /// `fine`, a complete model of images, on the patches of the first coarse_steps() steps; DAFT's
  /// windows cover the same part of the image there. Throws Error(usage) for one of texts.
  [[nodiscard]] ModelSpec coarse_model(ModelSpec fine) const;
  [[nodiscard]] GradientForms gradient_forms() const;
  [[nodiscard]] OptimiserSettings optimiser() const;
  /// The learning rate of step `step` (from 0): coarse and fine patches each have a warm-up and a
  /// schedule of their own.
  [[nodiscard]] double rate_of_step(std::int64_t step) const;
  /// The model file that it begins from; empty: from random values.
  [[nodiscard]] std::string from() const;
  /// Of the whole run.
  [[nodiscard]] std::int64_t steps() const;
  /// Whether the layers have learnt hash codes, whose functions get no gradient.
  [[nodiscard]] bool has_learnt_codes() const;
  /// Numbers of done steps, ascending, at which those are learnt from the network's own attention:
  /// 0, and others as far apart.
  [[nodiscard]] std::vector<std::int64_t> code_steps() const;
  /// How many examples they are learnt from.
  [[nodiscard]] std::int64_t code_inputs() const;
  /// How many of them, the first, are on coarse patches; 0: none.
  [[nodiscard]] std::int64_t coarse_steps() const;
  /// Numbers of done steps at which a checkpoint is written: 0, then each as many times the one
  /// before, and the last; besides the last on coarse patches.
  [[nodiscard]] std::vector<std::int64_t> checkpoints() const;
  /// Steps after which the state is saved, so that a run that is interrupted goes on from there.
  [[nodiscard]] std::int64_t save_every() const;
  /// Test examples whose maps are followed.
  [[nodiscard]] std::int64_t probes() const;
  /// Steps after which they are followed besides at checkpoints; 0: at those alone.
  [[nodiscard]] std::int64_t probe_every() const;

 private:
  [[nodiscard]] MechanismChoice mechanism() const;

  ParameterValues values_;
};

}  // namespace attnscope
