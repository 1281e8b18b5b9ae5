// What `attnscope compare` prints: tables for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/data_set_comparison.h"

namespace attnscope {

/// One model beside the reference, on one input or over a data set.
struct ComparisonReport {
  struct Compared {
    std::string label;
    MechanismChoice mechanism;
    IdentityView view = IdentityView::as_is;  ///< of both maps
    DataSetComparison result;                 ///< predictions without items on a single input
    std::vector<std::string> layers = {};     ///< layers_in_words; none over a data set
  };
  std::string reference;
  MechanismChoice reference_mechanism;
  std::string input;     ///< its label; empty over a data set
  std::string data_set;  ///< its path; empty on a single input
  ItemChoice choice;     ///< which of its items
  std::int64_t data_set_size = 0;
  ComparisonOptions options;         ///< but for the view, which each of `compared` has
  std::string identity = "as-is";    ///< as it was asked for: "both" gives each model twice
  std::vector<std::string> assumed;  ///< a line of each model whose file does not say all
  std::vector<Compared> compared;
};

/// {"reference", …, "compared": [{"label", "mean", "layers", "maps", "predictions"}]}; what is not
/// defined is null.
[[nodiscard]] std::string comparison_as_json(const ComparisonReport& report);
/// A header and a row for each map of each model.
[[nodiscard]] std::string comparison_as_csv(const ComparisonReport& report);
/// For each model a row for each map and the layers' means, then the predictions.
[[nodiscard]] std::string comparison_as_text(const ComparisonReport& report);

}  // namespace attnscope
