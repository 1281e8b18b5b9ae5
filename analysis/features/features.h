// The final features of a labelled data set: what a model's head reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"

namespace attnscope {

struct LabelledFeatures {
  Tensor features;                       ///< [n, D], one row an item
  std::vector<int> classes;              ///< [n], the items' true classes
  std::vector<std::string> class_names;  ///< of the data set, else of the model; may be empty
  std::int64_t correct = 0;              ///< items whose largest logit is their class's
  std::int64_t not_finite = 0;           ///< items left out: NaN or Inf among their features
};

/// Runs the chosen items in parallel; the same for every model. Throws Error(usage) if the model
/// reads nothing out or an item has no label; Cancelled.
[[nodiscard]] LabelledFeatures features_of(const Model& model, const MechanismChoice& mechanism,
                                           const DataSet& data_set, const ItemChoice& choice,
                                           const Progress& progress);

}  // namespace attnscope
