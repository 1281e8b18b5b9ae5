// Linear layers with multiplicative or adder arithmetic.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/attention/kernels/l1_distance.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/weight_matrix.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Read-only view of the rows of a tensor, the input type of layers.
[[nodiscard]] inline ConstMatrixMap seen(const Tensor& tensor) { return tensor.matrix(); }

/// y = x Wᵀ + b, or y = LayerNorm(−Σ|x − W| + b) (Adder, Eq. 4, 5). Adder outputs are large and
/// negative, so a LayerNorm that scales them belongs to the layer. A copy shares the weight.
class Linear {
 public:
  Linear() = default;
  /// The weight is [out, in]; bias is [out] or empty. Adder layers take `norm` [out] if the file
  /// has one. A weight that is still in its file is converted to float32 when the layer runs.
  Linear(WeightMatrix weight, std::vector<float> bias,
         Arithmetic arithmetic = Arithmetic::multiplicative,
         std::optional<LayerNorm> norm = std::nullopt);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t outputs() const { return outputs_; }
  [[nodiscard]] bool has_bias() const { return !bias_.empty(); }
  [[nodiscard]] bool is_multiplicative() const { return packed_.rows() == 0; }

  /// The layer restricted to `count` outputs from `first` on, with its weight in memory. Only for
  /// multiplicative layers. Throws like WeightMatrix::read.
  [[nodiscard]] Linear part(std::int64_t first, std::int64_t count) const;

  /// The layer restricted to the given outputs; its weight stays in the file if it is there. Only
  /// for multiplicative layers.
  [[nodiscard]] Linear rows(const std::vector<std::int64_t>& outputs) const;

  /// Maps [N, in] to [N, out]. Rows run in parallel; the result does not depend on the thread
  /// count.
  [[nodiscard]] Tensor operator()(ConstMatrixMap x) const;

 private:
  std::int64_t inputs_ = 0, outputs_ = 0;
  void multiply(ConstMatrixMap x, Tensor& y) const;
  void multiply_in_pieces(ConstMatrixMap x, Tensor& y) const;
  void multiply_row(const float* x, Tensor& y) const;

  WeightMatrix weight_;  // multiplicative
  PackedRows packed_;    // adder
  std::vector<float> bias_;
  std::optional<LayerNorm> norm_;
};

}  // namespace attnscope
