// The tables of a sweep over a data set.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/report/report.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

/// One row per layer: number of maps, mean, deviation and quantiles of the equivalent ranks at the
/// first threshold, and the statistics, means over heads and inputs (in JSON also deviation, least
/// and greatest; text has the ranks of null models). Of one series, or of all with the columns
/// "series", "mechanism" and "identity". `result` must outlive it.
[[nodiscard]] Report swept_layers_report(const SweepResult& result,
                                         std::optional<std::size_t> series = {});

/// Means of the numbers of heads, one row per layer, without columns that are empty for all layers.
/// `series` must outlive it.
[[nodiscard]] Report swept_heads_report(const SweepSeries& series);

/// Lines above the tables of all series: the number of inputs, and what was computed.
[[nodiscard]] std::string swept_items_in_words(const SweepResult& result);
/// Lines above the table of a series: its label, and the share of right answers if it has labels.
[[nodiscard]] std::string swept_series_in_words(const SweepSeries& series);

}  // namespace attnscope
