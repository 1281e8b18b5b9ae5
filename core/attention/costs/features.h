// What the mechanisms with feature maps share.
#pragma once

#include <string>

#include "core/attention/costs/cost.h"

namespace attnscope::costs {

/// φ of `tokens` rows a head into `features` positive random features.
OperationCount random_features(std::string name, const AttentionShape& shape, std::int64_t tokens,
                               CostConvention convention, std::int64_t features);

/// Throws Error(usage) unless there are as many keys as queries.
void check_shared(const char* mechanism, const AttentionShape& shape);

/// Throws Error(usage) naming the parameter unless it is 1 or more.
void check_positive(const char* parameter, std::int64_t value);

}  // namespace attnscope::costs
