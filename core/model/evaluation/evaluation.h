// Classification accuracy of a model, a check that it was loaded correctly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"

namespace attnscope {

struct Evaluation {
  std::int64_t images = 0;
  std::int64_t correct = 0;          ///< number of images whose true class has the largest logit
  std::int64_t correct_in_five = 0;  ///< number of images with the true class among the five best
  std::int64_t not_finite = 0;       ///< number of images with NaN or Inf logits, counted as wrong
  /// Counts per true class, in the order of the logits.
  std::vector<std::int64_t> class_images, class_correct;

  [[nodiscard]] double accuracy() const {
    return images ? static_cast<double>(correct) / static_cast<double>(images) : 0;
  }
};

/// The true class of an item, below `classes`, the number of logits. Throws Error(usage) naming the
/// item if it has no label, if there are no logits, or if the label is out of range.
[[nodiscard]] int true_class_of(const Input& item, std::int64_t classes);

/// Runs the chosen items in parallel. `parameters` replace the mechanism's own parameters
/// (TraceRequest::parameters). Throws Error(usage) if the model has no head, if the data set is
/// empty or has no labels, or if a label is out of the model's range. Throws Cancelled.
[[nodiscard]] Evaluation evaluate(const Model& model, const MechanismChoice& mechanism,
                                  const DataSet& data_set, const ItemChoice& choice,
                                  const Progress& progress,
                                  std::shared_ptr<const std::vector<NamedTensors>> parameters = {});

}  // namespace attnscope
