// The table of two models' maps, as the command line prints it and Python returns it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/comparison/data_set_comparison.h"
#include "analysis/report/report.h"

namespace attnscope {

/// One row per compared map: its place, its counterpart, its state, and every quantity of
/// comparison_quantities. Over a data set the quantities are means over the items, each with its
/// standard deviation; otherwise the row-wise divergences are in JSON. `result` must outlive the
/// report.
[[nodiscard]] Report compared_maps_report(const DataSetComparison& result, bool over_data_set);

/// {"js_divergence_bits": …, …}: every quantity by its name, null if it is not defined.
[[nodiscard]] nlohmann::ordered_json comparison_values_json(const ComparisonValues& values);

}  // namespace attnscope
