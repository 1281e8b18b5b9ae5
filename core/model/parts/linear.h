// Linear layers, multiplicative or adder, and LayerNorm.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/attention/kernels/l1_distance.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// y = (x − mean) / √(variance + eps) ⊙ weight + bias over each row; of rms without the mean.
struct LayerNorm {
  std::vector<float> weight, bias;  ///< [D]
  double eps = 1e-6;
  bool rms = false;

  /// In place over the rows of `x` [N, D].
  void apply(MatrixMap x) const;
};

/// y = x Wᵀ + b, or y = LayerNorm(−Σ|x − W| + b) (Adder, Eq. 4, 5): adder outputs are large and
/// negative, so a LayerNorm that scales them belongs to the layer.
class Linear {
 public:
  Linear() = default;
  /// weight [out, in]; bias [out] or empty. Adder layers take `norm` [out] if the file has one.
  Linear(Tensor weight, std::vector<float> bias, Arithmetic arithmetic = Arithmetic::multiplicative,
         std::optional<LayerNorm> norm = std::nullopt);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t outputs() const { return outputs_; }
  [[nodiscard]] bool has_bias() const { return !bias_.empty(); }

  /// [N, in] → [N, out]. Rows run in parallel; the result does not depend on the thread count.
  [[nodiscard]] Tensor operator()(ConstMatrixMap x) const;

 private:
  std::int64_t inputs_ = 0, outputs_ = 0;
  Tensor weight_;      // multiplicative
  PackedRows packed_;  // adder
  std::vector<float> bias_;
  std::optional<LayerNorm> norm_;
};

/// In place. GELU is x Φ(x) by erf; gelu_tanh its tanh approximation.
void apply_activation(Activation activation, std::span<float> values);
void apply_activation(HeadActivation activation, std::span<float> values);

}  // namespace attnscope
