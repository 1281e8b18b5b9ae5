// Cost components shared by mechanisms with feature maps.
#pragma once

#include <string>
#include <vector>

#include "core/attention/costs/cost.h"
#include "core/attention/costs/count.h"

namespace attnscope::costs {

/// Function that turns ω·x into a random feature.
enum class FeatureKind {
  positive,  ///< exp(ω·x' − ‖x'‖²/2) (FAVOR+)
  relu       ///< max(ω·x', 0) + ε; counted separately under `complete` only
};

/// Random features φ of `tokens` rows per head, `features` each.
OperationCount random_features(std::string name, const AttentionShape& shape, std::int64_t tokens,
                               CostConvention convention, std::int64_t features,
                               FeatureKind kind = FeatureKind::positive);

/// Appends the components "values", "normaliser" and "division" of (φ(Q)·Σ φ(k) vᵀ) / (φ(Q)·Σ φ(k))
/// with `f` features per head.
void append_linear_attention(std::vector<OperationCount>& counts, const AttentionShape& shape,
                             CostConvention convention, Count f);

/// Throws Error(usage) unless the numbers of keys and queries are equal.
void check_shared(const char* mechanism, const AttentionShape& shape);

/// Throws Error(usage) naming the parameter unless it is 1 or more.
void check_positive(const char* parameter, std::int64_t value);

}  // namespace attnscope::costs
