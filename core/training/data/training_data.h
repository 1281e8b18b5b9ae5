// What a network learns from and is tested on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/input/data_set.h"
#include "core/training/parts/trained_embedding.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

/// Immutable; examples are made by several threads at once. What a step learns from is a function
/// of the seed and the step alone.
class TrainingData {
 public:
  virtual ~TrainingData() = default;

  [[nodiscard]] virtual ExampleKind kind() const = 0;
  /// Images, texts or, of stretches, characters that are learnt from.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Adds to a recipe's model what the data say: extents, channels, classes; the vocabulary.
  [[nodiscard]] virtual ModelSpec complete(ModelSpec spec) const = 0;

  /// Examples [first, first + count) of the batch of step `step`, for a model that `complete` made.
  [[nodiscard]] virtual Examples examples(const ModelSpec& spec, std::int64_t step,
                                          std::int64_t first, std::int64_t count) const = 0;
  /// An example that is learnt from, 0 to size() − 1, as the program's models are run on it: of one
  /// text the stretch that begins there, or the last.
  [[nodiscard]] virtual Input learnt_input(std::int64_t index) const = 0;
  [[nodiscard]] virtual std::int64_t test_size() const = 0;
  /// Test examples [first, first + count), as they are.
  [[nodiscard]] virtual Examples test_examples(const ModelSpec& spec, std::int64_t first,
                                               std::int64_t count) const = 0;
  /// A test example as the program's models are run on it.
  [[nodiscard]] virtual Input test_input(std::int64_t index) const = 0;
};

/// Throws Error naming "dataset" or "test_dataset" and what to do.
[[nodiscard]] std::shared_ptr<const TrainingData> open_training_data(const DataSettings& settings);

/// The kinds, one file each.
[[nodiscard]] std::shared_ptr<const TrainingData> make_training_images(
    const DataSettings& settings, std::shared_ptr<const DataSet> images,
    std::shared_ptr<const DataSet> test);
/// Without `test` every tenth of them is tested on, and not learnt from.
[[nodiscard]] std::shared_ptr<const TrainingData> make_training_texts(
    const DataSettings& settings, std::shared_ptr<const DataSet> texts,
    std::shared_ptr<const DataSet> test);
[[nodiscard]] std::shared_ptr<const TrainingData> open_training_text(const DataSettings& settings);

}  // namespace attnscope
