// What a sweep computes besides the spectra of the maps as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysed/what.h"
#include "core/trace/trace.h"

namespace attnscope {

struct SweptNumbers {
  /// What the spectra are of, as `attnscope spectrum --of` has it.
  Analysed analysed;
  /// Every number of head_measures (but null ranks), by its name.
  bool heads = false;
  /// "null_rank" and "rank_over_null" of the maps as they are seen, with `analysed.centred`, and
  /// the null models' own spectra.
  bool baselines = false;

  bool operator==(const SweptNumbers&) const = default;
};

/// One statistic of a sweep's layers.
struct StatisticName {
  std::string_view name;   ///< in files: LayerSweep::statistics
  std::string_view title;  ///< of an axis, with its unit where that does not depend on the input
};

/// All that a sweep may have: those of sweep_statistics, then of heads and null models. Each once.
[[nodiscard]] std::vector<StatisticName> statistic_names();

/// Adds to `request` what is needed of a run.
void request_for(const SweptNumbers& numbers, TraceRequest& request);

/// Throws Error(usage) for what has no meaning together: null models and numbers of heads of what
/// is not a map.
void check_numbers(const SweptNumbers& numbers);

/// "attention maps, without the mean row; numbers of heads; null models and their spectra"; empty
/// of the usual.
[[nodiscard]] std::string in_words(const SweptNumbers& numbers);

}  // namespace attnscope
