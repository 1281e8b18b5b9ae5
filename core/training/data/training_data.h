// The examples that a network is trained and tested on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/input/data_set.h"
#include "core/training/parts/trained_embedding.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

/// Immutable; examples are made by several threads at once. The examples of a step depend only on
/// the seed and the step.
class TrainingData {
 public:
  virtual ~TrainingData() = default;

  [[nodiscard]] virtual ExampleKind kind() const = 0;
  /// Number of training images or texts or, for a single text, of its training characters.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Completes a recipe's model with facts about the data: image size, channels, classes,
  /// vocabulary.
  [[nodiscard]] virtual ModelSpec complete(ModelSpec spec) const = 0;

  /// Examples [first, first + count) of the batch of step `step`, for a model returned by
  /// `complete`.
  [[nodiscard]] virtual Examples examples(const ModelSpec& spec, std::int64_t step,
                                          std::int64_t first, std::int64_t count) const = 0;
  /// A training example, 0 to size() − 1, as an input for Model::run. For a single text it is the
  /// chunk that begins there, or the last one.
  [[nodiscard]] virtual Input training_input(std::int64_t index) const = 0;
  [[nodiscard]] virtual std::int64_t test_size() const = 0;
  /// Test examples [first, first + count), without variation.
  [[nodiscard]] virtual Examples test_examples(const ModelSpec& spec, std::int64_t first,
                                               std::int64_t count) const = 0;
  /// A test example as an input for Model::run.
  [[nodiscard]] virtual Input test_input(std::int64_t index) const = 0;
};

/// Throws Error naming "dataset" or "test_dataset", with a remedy.
[[nodiscard]] std::shared_ptr<const TrainingData> open_training_data(const DataSettings& settings);

/// The kinds of training data, one file each.
[[nodiscard]] std::shared_ptr<const TrainingData> make_training_images(
    const DataSettings& settings, std::shared_ptr<const DataSet> images,
    std::shared_ptr<const DataSet> test);
/// Without `test`, every tenth text is used for testing instead of training.
[[nodiscard]] std::shared_ptr<const TrainingData> make_training_texts(
    const DataSettings& settings, std::shared_ptr<const DataSet> texts,
    std::shared_ptr<const DataSet> test);
[[nodiscard]] std::shared_ptr<const TrainingData> open_training_text(const DataSettings& settings);

}  // namespace attnscope
