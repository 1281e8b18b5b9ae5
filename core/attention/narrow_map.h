// Mechanisms whose map is a product of narrow matrices, W = left · rightᵀ, with or without a
// convolution T of the values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Factors of one head's map, row scaling included.
struct NarrowFactors {
  Matrix left;   ///< [N, f]
  Matrix right;  ///< [M, f]
};

/// ε of the denominators of narrow_quotient.
inline constexpr double kQuotientOffset = 1e-6;

/// The factors with weights left_i·right_j / (query_i·Σ_l key_l + ε M), ε = 10⁻⁶: linear attention
/// as its later authors compute it, with one row of each matrix per token.
[[nodiscard]] NarrowFactors narrow_quotient(const Eigen::Ref<const MatrixD>& left,
                                            const Eigen::Ref<const MatrixD>& right,
                                            const Eigen::Ref<const MatrixD>& queries,
                                            const Eigen::Ref<const MatrixD>& keys);

/// Adds the `+ 10⁻⁶ M` of each query in narrow_quotient to the component "normaliser", which
/// costs::append_linear_attention appends. Only the complete convention counts it.
void count_offset(std::vector<OperationCount>& counts, const AttentionShape& shape,
                  CostConvention convention);

/// The factors of a head. Called from several threads at once.
using NarrowHeads = std::function<NarrowFactors(std::int64_t head)>;

struct NarrowProperties {
  std::string_view name;  ///< name of the mechanism
  /// Factors of all heads of an input whose shapes fit and that is not causal. Throws Error(usage).
  /// The input outlives the result.
  std::function<NarrowHeads(const AttentionInput&)> factorise;
  /// f, which bounds the rank of a map.
  std::function<std::int64_t(const AttentionShape&)> columns;
  bool rows_sum_to_one = false;
  bool non_negative = false;
  bool term = false;  ///< T is added where the layer has its kernels (values_convolution.h)
};

/// The mechanism with these factors. It computes left · (rightᵀ V), and refuses causal layers.
[[nodiscard]] std::unique_ptr<Mechanism> make_narrow(NarrowProperties properties);

}  // namespace attnscope
