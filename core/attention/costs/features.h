// What the mechanisms with feature maps share.
#pragma once

#include <string>
#include <vector>

#include "core/attention/costs/cost.h"
#include "core/attention/costs/count.h"

namespace attnscope::costs {

/// What makes random features of ω·x.
enum class FeatureKind {
  positive,  ///< exp(ω·x' − ‖x'‖²/2) (FAVOR+)
  relu       ///< max(ω·x', 0) + ε; counted by itself under `complete` only
};

/// φ of `tokens` rows a head into `features` random features.
OperationCount random_features(std::string name, const AttentionShape& shape, std::int64_t tokens,
                               CostConvention convention, std::int64_t features,
                               FeatureKind kind = FeatureKind::positive);

/// Appends "values", "normaliser" and "division" of (φ(Q)·Σ φ(k) vᵀ) / (φ(Q)·Σ φ(k)) over `f`
/// features of each head.
void append_linear_attention(std::vector<OperationCount>& counts, const AttentionShape& shape,
                             CostConvention convention, Count f);

/// Throws Error(usage) unless there are as many keys as queries.
void check_shared(const char* mechanism, const AttentionShape& shape);

/// Throws Error(usage) naming the parameter unless it is 1 or more.
void check_positive(const char* parameter, std::int64_t value);

}  // namespace attnscope::costs
