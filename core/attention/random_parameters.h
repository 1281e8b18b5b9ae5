// Random parameters of mechanisms: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <random>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Standard normal numbers, one stream for each seed, layer and head (or part).
class NormalNumbers {
 public:
  NormalNumbers(std::int64_t seed, std::int64_t layer, std::int64_t part);
  /// The stream of one row (token) of a part.
  NormalNumbers(std::int64_t seed, std::int64_t layer, std::int64_t part, std::int64_t row);
  explicit NormalNumbers(std::uint32_t seed) : generator_(seed) {}
  double operator()();
  /// Independent ones.
  [[nodiscard]] MatrixD matrix(std::int64_t rows, std::int64_t columns);

 private:
  [[nodiscard]] double uniform();
  std::mt19937 generator_;
};

/// Normal numbers [rows, columns], each row the beginning of a stream of its own: a token's numbers
/// are the same whatever the number of tokens, in either direction.
[[nodiscard]] MatrixD rows_of_streams(std::int64_t seed, std::int64_t layer, std::int64_t part,
                                      std::int64_t rows, std::int64_t columns);

/// Rows [count, d] of which each block of d is orthogonal, each as long as a vector of d standard
/// normal numbers: marginally normal, of less variance in sums (Choromanski et al. 2020, Section
/// 2.4). The orthogonal matrices are uniform, of Haar's measure (Mezzadri 2007, Section 5).
[[nodiscard]] MatrixD orthogonal_rows(NormalNumbers& numbers, std::int64_t count, std::int64_t d);

/// `parameters` (may be null) at `name`, or null. Throws Error(usage) unless its shape is
/// [heads, …of_head] or, shared by the heads, […of_head].
[[nodiscard]] const Tensor* find_parameter(const NamedTensors* parameters, const char* name,
                                           std::int64_t heads, const Shape& of_head);

/// Head `head`'s share of what find_parameter found: rows × columns.
[[nodiscard]] ConstMatrixMap of_head(const Tensor& parameter, std::int64_t head, std::int64_t rows,
                                     std::int64_t columns);

/// The description of the parameter "seed".
[[nodiscard]] ParameterDescription seed_parameter(const char* of_what);

}  // namespace attnscope
