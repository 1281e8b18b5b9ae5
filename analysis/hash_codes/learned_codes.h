// Hash codes for every head of every layer, learnt from a model's own attention.
#pragma once

#include <memory>
#include <vector>

#include "analysis/hash_codes/learning.h"
#include "core/model/model.h"
#include "core/model/weights/learned_tensors.h"

namespace attnscope {

struct LearnedCodes {
  LearnedTensors
      tensors;  ///< of "hash": "ksh.A" [H, b, m], "ksh.mvec" [H, m], "ksh.anchor" [H, m, d]
  /// [layers, H], ‖H Hᵀ − bY‖² / ‖bY‖² over the inputs they were learnt from: with random A (KLSH
  /// with the same anchors), and learnt; NaN where a layer has no such head.
  MatrixD error_before, error_after;
};

/// Runs `model` with `mechanism` on every input, and learns each head's hash from its own queries,
/// keys and attention there, heads in parallel, one layer after the other: where `mechanism` is
/// such a hash itself, each on the tokens that the layers below hand up with their new codes.
/// Deterministic whatever the thread count.
/// Throws Error(usage) without inputs, for tokens that cannot be hashed or too few for the options;
/// Cancelled.
[[nodiscard]] LearnedCodes learn_hash_codes(const Model& model, const MechanismChoice& mechanism,
                                            const std::vector<std::shared_ptr<const Input>>& inputs,
                                            const HashLearningOptions& options,
                                            const Progress& progress);

}  // namespace attnscope
