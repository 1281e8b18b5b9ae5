// The attention that hash codes of a layer are to imitate, with the tokens to be hashed.
#pragma once

#include <cstdint>

#include "analysis/hash_codes/learning.h"
#include "core/trace/trace.h"

namespace attnscope {

/// What a layer ran with.
[[nodiscard]] const MechanismChoice& mechanism_at(const Trace& trace, const LayerTrace& layer);

/// What a run has to record for it: one layer's maps, queries, keys and values.
[[nodiscard]] TraceRequest request_for_imitation(std::int64_t layer);

/// Head `head`'s attention at `layer`, [N, M]: the map of the run, without I; of a hashed run,
/// whose map is that of its codes, softmax(q·k / √d) (Adder, Eq. 3). Throws Error(usage) if the
/// trace did not record what is needed.
[[nodiscard]] Matrix imitated_attention(const Trace& trace, std::int64_t layer, std::int64_t head);

/// The tokens of that head, scaled to length 1, and their similar pairs. Throws Error(usage).
[[nodiscard]] HashExample hash_example(const Trace& trace, std::int64_t layer, std::int64_t head,
                                       std::int64_t pairs);

}  // namespace attnscope
