// The biases of Agent attention, which its authors' code sums from eight tables.
#pragma once

#include <cstdint>

#include "core/architecture/model_spec.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// Replaces the tables of layer `layer`, if it has them, by the mechanism's "an" [H, k, N] and "na"
/// [H, N, k] (pooled_maps.cpp), for k agents. Each is the sum of a coarse grid ("an_bias",
/// "na_bias", [H, k, s, s]), brought to the grid of patches bilinearly, and of one bias per row
/// ("ah_bias", "ha_bias") and column ("aw_bias", "wa_bias"); the class token has biases of its own
/// ("ac_bias", "ca_bias"). Throws Error(damaged) naming a table that does not fit the grid of
/// patches: rows and columns are not resampled.
void sum_agent_tables(const WeightReader& reader, const ModelSpec& spec, std::int64_t heads,
                      std::int64_t layer, NamedTensors& tensors);

}  // namespace attnscope
