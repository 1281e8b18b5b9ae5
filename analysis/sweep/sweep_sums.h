// Records of inputs, added up.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/sweep/input_record.h"

namespace attnscope {

/// Adds what `input` gave under one series; the first one says how many layers, heads and values
/// there are, of null models too if `null_spectra`. Throws Error(usage) for maps of another size
/// than those before.
void add_series(SweepSeries& series, const SeriesRecord& record, const std::string& input,
                std::size_t thresholds, bool null_spectra);

}  // namespace attnscope
