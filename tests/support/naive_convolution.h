// The convolution of the values that some mechanisms add to their map, with loops over every pair.
#pragma once

#include "core/parameters/typed_values.h"
#include "tests/support/naive_attention.h"

namespace attnscope {

/// map += T_c of channel `input.channel` of the head, or the mean over its channels, if the choice
/// has `term` and the layer the tensor "dwc" [H·dv or dv, w, w]
/// (core/attention/values_convolution.h).
void add_naive_convolution(const MechanismChoice& choice, const AttentionInput& input,
                           std::int64_t head, NaiveMap& map);

/// Executes the convolution of every head in the component "convolution", if `values` has `term`.
void count_convolution(const AttentionShape& shape, const TypedValues& values);

}  // namespace attnscope
