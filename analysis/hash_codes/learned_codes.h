// Hash codes for every head of every layer, learned from a model's own attention, and that
// attention.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/hash_codes/learning.h"
#include "core/model/model.h"
#include "core/model/weights/learned_tensors.h"
#include "core/trace/trace.h"

namespace attnscope {

struct LearnedCodes {
  /// Tensors of "hash": "ksh.A" [H, b, m], "ksh.mvec" [H, m] and "ksh.anchor" [H, m, d].
  LearnedTensors tensors;
  /// reconstruction_error [layers, H] over the training inputs, with random A (KLSH with the same
  /// anchors) and with learned A; NaN for heads that a layer does not have.
  MatrixD error_before, error_after;
  MatrixD error_of_chance;  ///< error_of_chance [layers, H]
};

/// Runs `model` with `mechanism` on every input, layer by layer, and learns each head's hash from
/// its queries, keys and attention, heads in parallel. If `mechanism` itself is such a hash, each
/// layer runs on the tokens that the layers below produce with their new codes. Deterministic for
/// any thread count. Throws Error(usage) without inputs, for tokens that cannot be hashed, or if
/// they are too few for the options; Cancelled.
[[nodiscard]] LearnedCodes learn_hash_codes(const Model& model, const MechanismChoice& mechanism,
                                            const std::vector<std::shared_ptr<const Input>>& inputs,
                                            const HashLearningOptions& options,
                                            const Progress& progress);

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
