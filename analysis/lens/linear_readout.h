// Read-out of models whose answer is linear in the tokens except for norms.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "core/model/transformer/transformer.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Throws Error(usage) unless the model reads its tokens through norms and a single linear head.
void require_linear_readout(const Transformer& model);

/// Weights, with sum 1, of the token positions that the head reads. A language model reads at
/// `place` (−1: the last position). Throws Error(usage) if the position does not exist or the
/// read-out is not such a mean.
[[nodiscard]] Eigen::RowVectorXd places_read(const Transformer& model, Eigen::Index tokens,
                                             std::int64_t place);

/// Returns `target`, or the likeliest answer at `place` if it is −1. Throws Error(usage) if the
/// class does not exist, logits at `place` were not recorded, or logits are not finite.
[[nodiscard]] std::int64_t chosen_target(const Trace& trace, std::int64_t target,
                                         std::int64_t place);

/// Factor that the head's logits are multiplied with.
[[nodiscard]] double scale_of_logits(const ModelSpec& spec);

}  // namespace attnscope
