// What decides a sweep's result, so that only work of the same sweep is gone on with.
#pragma once

#include <string>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// As text: weights and data set by their content (of class folders: names, sizes and times of the
/// files), mechanisms and what was learnt for them, views, thresholds, choice of inputs, program
/// version. Throws Error(io) for a folder that cannot be read.
[[nodiscard]] std::string sweep_fingerprint(const SweepRequest& request);

/// In what two sweeps differ, in words: "the data set, the thresholds". Empty for equal ones.
[[nodiscard]] std::string fingerprint_difference(const std::string& one, const std::string& other);

}  // namespace attnscope
