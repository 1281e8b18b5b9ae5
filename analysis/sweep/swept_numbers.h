// Selects what a sweep computes besides the spectra of plain maps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "core/trace/trace.h"

namespace attnscope {

struct SweptNumbers {
  /// The analysed matrix, as selected by `attnscope spectrum --of`.
  MatrixChoice analysed;
  /// True to compute every number of head_measures except null ranks, by its name.
  bool heads = false;
  /// True to compute "null_rank" and "rank_over_null" of the maps as they are seen, with
  /// `analysed.centred`, and the spectra of the null models.
  bool baselines = false;

  bool operator==(const SweptNumbers&) const = default;
};

/// One statistic of a sweep's layers.
struct StatisticName {
  std::string_view name;   ///< name in files: key of LayerSweep::statistics
  std::string_view title;  ///< title of an axis, with its unit if that does not depend on the input
};

/// All statistics that a sweep may have: sweep_statistics, then heads and null models. No
/// duplicates.
[[nodiscard]] std::vector<StatisticName> statistic_names();

/// Adds to `request` the quantities that the numbers need from a run.
void request_for(const SweptNumbers& numbers, TraceRequest& request);

/// Throws Error(usage) for null models or numbers of heads of matrices that are not maps.
void check_numbers(const SweptNumbers& numbers);

/// Description of the numbers, "attention maps, without the mean row; numbers of heads; null models
/// and their spectra"; empty for the default.
[[nodiscard]] std::string in_words(const SweptNumbers& numbers);

}  // namespace attnscope
