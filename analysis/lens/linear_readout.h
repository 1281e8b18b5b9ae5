// The read-out of models whose answer is linear in the tokens but for norms.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "core/model/transformer/transformer.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Throws Error(usage) unless one linear head reads what norms make of the tokens.
void require_linear_readout(const Transformer& model);

/// Which tokens the head reads, as weights that sum to 1: of a language model that at `place` (-1:
/// the last). Throws Error(usage) for a place there is none of, and where no tokens are read so.
[[nodiscard]] Eigen::RowVectorXd places_read(const Transformer& model, Eigen::Index tokens,
                                             std::int64_t place);

/// `target`, or of -1 the likeliest answer at `place`. Throws Error(usage) for one there is none
/// of, for what was not recorded, and for logits that are not finite.
[[nodiscard]] std::int64_t chosen_target(const Trace& trace, std::int64_t target,
                                         std::int64_t place);

/// What the head's logits are multiplied with.
[[nodiscard]] double scale_of_logits(const ModelSpec& spec);

}  // namespace attnscope
