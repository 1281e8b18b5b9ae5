// Products of a matrix with sixteen vectors at once, as fast as its entries come from memory: BLAS
// would copy them first, which takes longer than so narrow a product.
#pragma once

#include <cstdint>

namespace attnscope {

inline constexpr std::int64_t kVectors = 16;

/// Entries of a [rows, columns] in float32, whose rows are `stride` apart.
struct FloatRows {
  const float* entries;
  std::int64_t rows, columns, stride;
};

/// y = a x; x [columns, 16], y [rows, 16]. Sums are in float32, 256 terms at a time.
void times_vectors(const FloatRows& a, const float* x, float* y);

/// sum += aᵀ y; y [rows, 16], sum [columns, 16].
void add_transposed_times_vectors(const FloatRows& a, const float* y, float* sum);

}  // namespace attnscope
