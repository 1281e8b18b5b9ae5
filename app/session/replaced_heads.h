// Maps that stand in the place of heads' and need the model to be found: another attention's of the
// same queries and keys, and the mean over a data set.
#pragma once

#include <memory>

#include "app/session/what_if.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// For map_change: of HeadReplacement::other_attention and mean_over_data. `whole`: the subject's
/// trace as it runs by itself. Reads data sets and runs the model on up to mean_items of each.
/// Throws Error as change_of and mean_maps (analysis/intervention/ablation.h), and for a data set
/// that cannot be read; Cancelled.
[[nodiscard]] PutInPlace maps_in_place(const WhatIf& what_if, const Subject& subject,
                                       const std::shared_ptr<const Trace>& whole,
                                       const Progress& progress);

/// Inputs of a data set that a mean map is of, spread evenly over it.
inline constexpr std::int64_t mean_items = 32;

}  // namespace attnscope
