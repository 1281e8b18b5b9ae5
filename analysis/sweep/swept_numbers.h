// Selects what a sweep computes besides the spectra of plain maps.
#pragma once

#include <optional>
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
  /// Entropy h, a share of ln n, at which "rank_at_entropy" is the rank of each map
  /// (equal_entropy); empty for none.
  std::optional<double> at_entropy = std::nullopt;

  bool operator==(const SweptNumbers&) const = default;
};

/// Name of the statistic of SweptNumbers::at_entropy.
inline constexpr std::string_view kRankAtEntropy = "rank_at_entropy";

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

/// Throws Error(usage) for null models, numbers of heads or ranks at an entropy of matrices that
/// are not maps, and for an entropy out of range.
void check_numbers(const SweptNumbers& numbers);

/// Description of the numbers, "attention maps, without the mean row; numbers of heads; null models
/// and their spectra"; empty for the default.
[[nodiscard]] std::string in_words(const SweptNumbers& numbers);

}  // namespace attnscope
