// Implied maps that are computed on access from the queries and keys of their layer.
#pragma once

#include "core/attention/mechanism.h"
#include "core/trace/implied_maps.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Maps [H, N, M] of `queries` [N, H·d] and `keys` [M, Hk·d], which they store. Requires a
/// mechanism with MechanismEntry::rows, and an input without score terms and parameters.
[[nodiscard]] ImpliedMaps computed_maps(const Mechanism& mechanism, const AttentionInput& input,
                                        Tensor queries, Tensor keys);

/// True if the maps of `layer` are computed on access and follow from its recorded queries and
/// keys, so that maps_of_vectors restores them.
[[nodiscard]] bool follow_from_vectors(const Trace& trace, const LayerTrace& layer);

/// The maps of a layer with these queries [H, N, d], keys [Hk, M, d], mechanism, seen keys and
/// scale of the scores. Throws Error(damaged) if these do not fit each other, or if maps of the
/// mechanism do not follow from them.
[[nodiscard]] ImpliedMaps maps_of_vectors(const Trace& trace, const LayerTrace& layer);

}  // namespace attnscope
