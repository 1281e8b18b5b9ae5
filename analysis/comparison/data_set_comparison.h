// Compares models over the items of a data set.
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

/// A model and mechanism that run on every item.
struct ComparedModel {
  std::string label;
  std::shared_ptr<const Model> model;
  MechanismChoice mechanism;
};

/// Result of comparing one model with the reference.
struct DataSetComparison {
  std::int64_t items = 0;
  /// Means over the items in which a number is defined; divergences per row are not kept. Heads are
  /// matched by the mean costs over some items, with the same pairs for all items.
  SubjectComparison mean;
  /// Standard deviation of each map over the items, in the order of maps.
  std::vector<ComparisonValues> deviation;
  PredictionAgreement predictions;
  /// The reason, "10 classes here, 1000 in the reference"; empty if predictions are compared.
  std::string why_no_predictions;
};

/// Compares every model but the first with the first on the chosen items. Items run on all cores;
/// the result does not depend on the number of cores, nor the memory on the number of items. Throws
/// Error(usage) for fewer than two models or an empty data set; Error, Cancelled.
[[nodiscard]] std::vector<DataSetComparison> compare_over_data_set(
    std::span<const ComparedModel> models, const DataSet& data_set, const ItemChoice& choice,
    const ComparisonOptions& options, const Progress& progress = {});

}  // namespace attnscope
