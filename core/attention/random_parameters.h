// Random parameters of mechanisms, the same numbers on every machine.
#pragma once

#include <cstdint>
#include <random>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Standard normal numbers, one stream per seed, layer and head (or part).
class NormalNumbers {
 public:
  NormalNumbers(std::int64_t seed, std::int64_t layer, std::int64_t part);
  /// The stream of one row (token) of a part.
  NormalNumbers(std::int64_t seed, std::int64_t layer, std::int64_t part, std::int64_t row);
  explicit NormalNumbers(std::uint32_t seed) : generator_(seed) {}
  double operator()();
  /// Independent standard normal numbers [rows, columns].
  [[nodiscard]] MatrixD matrix(std::int64_t rows, std::int64_t columns);

 private:
  [[nodiscard]] double uniform();
  std::mt19937 generator_;
};

/// Normal numbers [rows, columns]. Each row is the beginning of its own stream: a token's numbers
/// do not depend on the number of rows or columns.
[[nodiscard]] MatrixD rows_of_streams(std::int64_t seed, std::int64_t layer, std::int64_t part,
                                      std::int64_t rows, std::int64_t columns);

/// Rows [count, d] that are orthogonal within each block of d, with the lengths of vectors of d
/// standard normal numbers: marginally normal, with less variance in sums (Choromanski et al. 2020,
/// Section 2.4). The orthogonal matrices follow the Haar measure (Mezzadri 2007, Section 5).
[[nodiscard]] MatrixD orthogonal_rows(NormalNumbers& numbers, std::int64_t count, std::int64_t d);

/// `parameters` (may be null) at `name`, or null. Throws Error(usage) unless its shape is
/// [heads, …of_head] or, shared by the heads, […of_head].
[[nodiscard]] const Tensor* find_parameter(const NamedTensors* parameters, const char* name,
                                           std::int64_t heads, const Shape& of_head);

/// Head `head`'s share [rows, columns] of a tensor that find_parameter found.
[[nodiscard]] ConstMatrixMap of_head(const Tensor& parameter, std::int64_t head, std::int64_t rows,
                                     std::int64_t columns);

/// The description of the parameter "seed".
[[nodiscard]] ParameterDescription seed_parameter(const char* of_what);

}  // namespace attnscope
