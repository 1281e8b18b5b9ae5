// Final features of a labelled data set: the input of a model's head.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"

namespace attnscope {

struct LabelledFeatures {
  Tensor features;                       ///< [n, D], one row per item
  std::vector<int> classes;              ///< [n], the items' true classes
  std::vector<std::string> class_names;  ///< the data set's names, else the model's; may be empty
  std::int64_t correct = 0;              ///< number of correctly classified items
  std::int64_t not_finite = 0;  ///< number of items left out for NaN or Inf in their features
};

/// Runs the chosen items, the same for every model, in parallel. Throws Error(usage) if the model
/// has no head or an item has no label; Cancelled.
[[nodiscard]] LabelledFeatures features_of(const Model& model, const MechanismChoice& mechanism,
                                           const DataSet& data_set, const ItemChoice& choice,
                                           const Progress& progress);

}  // namespace attnscope
