// Compares models over the items of a data set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"

namespace attnscope {

/// Agreement of a model with the reference over the items of a data set.
struct PredictionAgreement {
  std::int64_t items = 0;     ///< items with finite logits of both models
  std::int64_t agreeing = 0;  ///< items with the same class of the largest logit
  std::int64_t labelled = 0;  ///< items whose true class is known
  std::int64_t both_right = 0, only_reference_right = 0, only_other_right = 0, both_wrong = 0;
  std::int64_t not_finite = 0;  ///< items with NaN or Inf in a logit; not counted above
  /// Sum of the Jensen–Shannon divergences of the softmax of both logits.
  double sum_divergence_bits = 0;

  /// Adds one item; `true_class` is −1 if unknown. Throws Error(usage) if the numbers of classes
  /// differ or are 0.
  void add(std::span<const float> logits, std::span<const float> reference_logits, int true_class);

  [[nodiscard]] double share() const;            ///< agreeing / items; NaN without items
  [[nodiscard]] double standard_error() const;   ///< standard error of the share, √(p(1 − p)/n)
  [[nodiscard]] double mean_divergence() const;  ///< mean over items, in bits, 0 to 1
};

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
