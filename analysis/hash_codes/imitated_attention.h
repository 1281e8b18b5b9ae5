// Attention map that a layer's hash codes imitate, and the tokens to be hashed.
#pragma once

#include <cstdint>

#include "analysis/hash_codes/learning.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Mechanism that the layer ran with.
[[nodiscard]] const MechanismChoice& mechanism_at(const Trace& trace, const LayerTrace& layer);

/// Trace request for imitated_attention: one layer's maps, queries, keys and values.
[[nodiscard]] TraceRequest request_for_imitation(std::int64_t layer);

/// Attention [N, M] of one head, without I: the map of the run, or softmax(q·k / √d) (Adder, Eq. 3)
/// for a run with hash codes. Throws Error(usage) if the trace did not record the tensors.
[[nodiscard]] Matrix imitated_attention(const Trace& trace, std::int64_t layer, std::int64_t head);

/// The head's tokens scaled to length 1, and their similar pairs. Throws Error(usage) like
/// imitated_attention and similar_pairs.
[[nodiscard]] HashExample hash_example(const Trace& trace, std::int64_t layer, std::int64_t head,
                                       std::int64_t pairs);

}  // namespace attnscope
