// Identifies everything that decides a sweep's result, so that only the same sweep is resumed.
#pragma once

#include <string>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// The fingerprint as text: content hashes of weights and data set (for class folders of the names,
/// sizes and times of the files), mechanisms with their learned weights, views, thresholds, choice
/// of inputs, program version. Throws Error(io) for a folder that cannot be read.
[[nodiscard]] std::string sweep_fingerprint(const SweepRequest& request);

/// Names of the differences of two fingerprints: "the data set, the thresholds". Empty if equal.
[[nodiscard]] std::string fingerprint_difference(const std::string& one, const std::string& other);

}  // namespace attnscope
