// Hash codes for every head of every layer, learned from a model's own attention.
#pragma once

#include <memory>
#include <vector>

#include "analysis/hash_codes/learning.h"
#include "core/model/model.h"
#include "core/model/weights/learned_tensors.h"

namespace attnscope {

struct LearnedCodes {
  /// Tensors of "hash": "ksh.A" [H, b, m], "ksh.mvec" [H, m] and "ksh.anchor" [H, m, d].
  LearnedTensors tensors;
  /// ‖H Hᵀ − bY‖² / ‖bY‖² [layers, H] over the training inputs, with random A (KLSH with the same
  /// anchors) and with learned A; NaN for heads that a layer does not have.
  MatrixD error_before, error_after;
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

}  // namespace attnscope
