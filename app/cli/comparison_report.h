// Output of `attnscope compare`: tables for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/data_set_comparison.h"

namespace attnscope {

/// Models compared with a reference, on one input or over a data set.
struct ComparisonReport {
  struct Compared {
    std::string label;
    MechanismChoice mechanism;
    IdentityView view = IdentityView::as_is;  ///< identity view of both maps
    DataSetComparison result;                 ///< on a single input, the predictions have no items
    std::vector<std::string> layers = {};  ///< layer names (layers_in_words); empty over a data set
  };
  std::string reference;
  MechanismChoice reference_mechanism;
  std::string input;     ///< label of the input; empty over a data set
  std::string data_set;  ///< path of the data set; empty on a single input
  ItemChoice choice;     ///< the chosen items of the data set
  std::int64_t data_set_size = 0;
  ComparisonOptions options;         ///< common options; the view differs for each of `compared`
  std::string identity = "as-is";    ///< value of --identity; "both" lists each model twice
  std::vector<std::string> assumed;  ///< one line per model whose file leaves something unspecified
  std::vector<Compared> compared;
};

/// {"reference", …, "compared": [{"label", "mean", "layers", "maps", "predictions"}]}; undefined
/// values are null.
[[nodiscard]] std::string comparison_as_json(const ComparisonReport& report);
/// A header and one row per map of each model.
[[nodiscard]] std::string comparison_as_csv(const ComparisonReport& report);
/// For each model, one row per map, the layers' means, then the predictions.
[[nodiscard]] std::string comparison_as_text(const ComparisonReport& report);

}  // namespace attnscope
