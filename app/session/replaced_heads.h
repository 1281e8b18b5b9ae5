// Replacement maps of heads whose computation needs the model: another mechanism on the same
// queries and keys, and the mean over a data set.
#pragma once

#include <memory>

#include "app/session/what_if.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Maps for HeadReplacement::other_attention and mean_over_data, to be passed to map_change.
/// `whole`: the subject's trace without changes. Reads data sets and runs the model on up to
/// mean_items of each. Throws Error like change_of and mean_maps
/// (analysis/intervention/ablation.h), and for a data set that cannot be read; Cancelled.
[[nodiscard]] PutInPlace maps_in_place(const WhatIf& what_if, const Subject& subject,
                                       const std::shared_ptr<const Trace>& whole,
                                       const Progress& progress);

/// Number of data set inputs that a mean map is computed from, evenly spaced.
inline constexpr std::int64_t mean_items = 32;

}  // namespace attnscope
