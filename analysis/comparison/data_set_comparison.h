// Models compared over the items of a data set.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/predictions.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"

namespace attnscope {

/// What is run on every item.
struct ComparedModel {
  std::string label;
  std::shared_ptr<const Model> model;
  MechanismChoice mechanism;
};

/// One model against the reference.
struct DataSetComparison {
  std::int64_t items = 0;
  /// Every number is the mean over the items where it is defined; rows are not kept. Matched heads
  /// are those of some items' mean costs, the same for all.
  SubjectComparison mean;
  std::vector<ComparisonValues> deviation;  ///< of each map over the items, in the order of maps
  PredictionAgreement predictions;
  std::string why_no_predictions;  ///< "10 classes here, 1000 in the reference"; else empty
};

/// Compares every model but the first with the first on the chosen items. Items
/// are run on all cores; the result does not depend on their number, nor the memory on the count.
/// Throws Error(usage) with fewer than two models or an empty data set; Error, Cancelled.
[[nodiscard]] std::vector<DataSetComparison> compare_over_data_set(
    std::span<const ComparedModel> models, const DataSet& data_set, const ItemChoice& choice,
    const ComparisonOptions& options, const Progress& progress = {});

}  // namespace attnscope
