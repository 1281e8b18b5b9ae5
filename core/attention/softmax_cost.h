// What a softmax over scores and its product with the values cost, for every mechanism built on
// one.
#pragma once

#include "core/attention/cost.h"

namespace attnscope {

/// Bytes of queries and keys read once and scores written once, float32.
[[nodiscard]] std::int64_t score_bytes(const AttentionShape& shape);

/// The softmax itself: free by the Adder paper's accounting, H·N·M multiplications by EcoFormer's.
[[nodiscard]] OperationCount softmax_cost(const AttentionShape& shape, CostConvention convention);

/// Map times values: H·N·M·dv multiplications and additions by every accounting.
[[nodiscard]] OperationCount value_cost(const AttentionShape& shape, CostConvention convention);

}  // namespace attnscope
