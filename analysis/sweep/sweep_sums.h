// Adds the records of inputs to the sums of a sweep.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/sweep/input_record.h"

namespace attnscope {

/// Adds the contribution of `input` to one series. The first input decides the number of layers,
/// heads and singular values, also of null models if `null_spectra`. Throws Error(usage) for maps
/// whose size differs from earlier ones.
void add_series(SweepSeries& series, const SeriesRecord& record, const std::string& input,
                std::size_t thresholds, bool null_spectra);

}  // namespace attnscope
