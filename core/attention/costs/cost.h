// Types for counting the operations of a mechanism. The rules are in core/attention/costs/costs.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

/// Accounting convention of a count.
enum class CostConvention {
  adder,      ///< Adder paper: only products and distances of matrices count
  ecoformer,  ///< EcoFormer's code: also scaling, normalisers and divisions
  complete    ///< every operation, including those that the papers omit
};

/// Operations of one component for one input through one layer. Exact counts.
struct OperationCount {
  std::string component = {};  ///< "scores", "softmax", "values", …
  std::int64_t multiplications = 0;
  std::int64_t additions = 0;  ///< additions, subtractions and comparisons
  std::int64_t shifts = 0;
  std::int64_t divisions = 0;     ///< `complete` only
  std::int64_t exponentials = 0;  ///< exp, log, erf, tanh; `complete` only
  std::int64_t bytes_moved = 0;   ///< memory traffic, read and written once; `complete` only
};

/// Dimensions of one attention layer.
struct AttentionShape {
  std::int64_t queries = 0;      ///< N
  std::int64_t keys = 0;         ///< M; equals N for self-attention
  std::int64_t heads = 1;        ///< H
  std::int64_t head_width = 0;   ///< d, width of queries and keys per head
  std::int64_t value_width = 0;  ///< width of values per head
};

}  // namespace attnscope
