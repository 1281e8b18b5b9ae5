// How often a model names the right class: how users know that it was loaded right.
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
  std::int64_t correct = 0;          ///< the largest logit is the true class's
  std::int64_t correct_in_five = 0;  ///< it is among the five largest
  std::int64_t not_finite = 0;       ///< logits with NaN or Inf: counted as wrong
  /// Per true class, in the order of the logits.
  std::vector<std::int64_t> class_images, class_correct;

  [[nodiscard]] double accuracy() const {
    return images ? static_cast<double>(correct) / static_cast<double>(images) : 0;
  }
};

/// The true class of an item, one of `classes`, as many as there are logits. Throws Error(usage)
/// naming the item: it has no label, there are no logits, or the label is none of the classes.
[[nodiscard]] int true_class_of(const Input& item, std::int64_t classes);

/// Runs the chosen items in parallel, with `parameters` laid over the model's own of the mechanism
/// (TraceRequest::parameters). Throws Error(usage) if the model has no head, the data set no
/// labels, or a label lies outside the model's classes; Cancelled.
[[nodiscard]] Evaluation evaluate(const Model& model, const MechanismChoice& mechanism,
                                  const DataSet& data_set, const ItemChoice& choice,
                                  const Progress& progress,
                                  std::shared_ptr<const std::vector<NamedTensors>> parameters = {});

}  // namespace attnscope
