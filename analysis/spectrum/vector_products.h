// Products of a matrix with sixteen vectors at the speed of reading its entries: BLAS copies them
// first, which takes longer than such a narrow product.
#pragma once

#include <cstdint>

namespace attnscope {

inline constexpr std::int64_t kVectors = 16;

/// Float32 matrix a [rows, columns] whose rows are `stride` entries apart.
struct FloatRows {
  const float* entries;
  std::int64_t rows, columns, stride;
};

/// y = a x; x [columns, 16], y [rows, 16]. Sums are in float32, 256 terms at a time.
void times_vectors(const FloatRows& a, const float* x, float* y);

/// sum += aᵀ y; y [rows, 16], sum [columns, 16].
void add_transposed_times_vectors(const FloatRows& a, const float* y, float* sum);

}  // namespace attnscope
