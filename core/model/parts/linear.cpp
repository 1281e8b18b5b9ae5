#include "core/model/parts/linear.h"

#include <cmath>
#include <numbers>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/attention/kernels/adder_linear.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Fixed blocks, so that the result does not depend on how many threads share them.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kElements = 1 << 14;

void for_blocks(std::int64_t count, std::int64_t block, const auto& work) {
  tbb::parallel_for(std::int64_t{0}, (count + block - 1) / block, [&](std::int64_t index) {
    const std::int64_t first = index * block;
    work(first, std::min(block, count - first));
  });
}

void for_each(std::span<float> values, const auto& function) {
  for_blocks(std::ssize(values), kElements, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      float& value = values[static_cast<std::size_t>(i)];
      value = function(value);
    }
  });
}

float gelu(float x) { return 0.5F * x * (1.0F + std::erf(x * (std::numbers::sqrt2_v<float> / 2))); }

float gelu_tanh(float x) {
  constexpr float scale = 0.7978845608F;  // √(2/π)
  return 0.5F * x * (1.0F + std::tanh(scale * (x + 0.044715F * x * x * x)));
}

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

float relu(float x) { return x < 0 ? 0.0F : x; }  // NaN stays NaN

}  // namespace

void LayerNorm::apply(MatrixMap x) const {
  const std::int64_t width = x.cols();
  for_blocks(x.rows(), kRows, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
      float* const values = x.data() + row * width;
      double sum = 0;
      for (std::int64_t i = 0; !rms && i < width; ++i) sum += values[i];
      const double mean = sum / static_cast<double>(width);
      double squares = 0;
      for (std::int64_t i = 0; i < width; ++i) squares += (values[i] - mean) * (values[i] - mean);
      const double scale = 1.0 / std::sqrt(squares / static_cast<double>(width) + eps);
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(i);
        values[i] = static_cast<float>((values[i] - mean) * scale) * weight[at] + bias[at];
      }
    }
  });
}

Linear::Linear(Tensor weight, std::vector<float> bias, Arithmetic arithmetic,
               std::optional<LayerNorm> norm)
    : inputs_(weight.extent(1)),
      outputs_(weight.extent(0)),
      bias_(std::move(bias)),
      norm_(std::move(norm)) {
  if (arithmetic == Arithmetic::multiplicative) {
    weight_ = std::move(weight);
    return;
  }
  packed_ = PackedRows(
      ConstStridedMatrixMap(weight.data(), outputs_, inputs_, Eigen::OuterStride<>(inputs_)));
}

Tensor Linear::operator()(ConstMatrixMap x) const {
  const auto rows_of = [](const float* data, std::int64_t first, std::int64_t rows,
                          std::int64_t columns) {
    return ConstStridedMatrixMap(data + first * columns, rows, columns,
                                 Eigen::OuterStride<>(columns));
  };
  if (weight_.empty()) {
    Tensor y = adder_linear(rows_of(x.data(), 0, x.rows(), x.cols()), packed_, bias_);
    if (norm_) norm_->apply(y.matrix());
    return y;
  }
  Tensor y({x.rows(), outputs_});
  for_blocks(x.rows(), kRows, [&](std::int64_t first, std::int64_t count) {
    StridedMatrixMap out(y.data() + first * outputs_, count, outputs_,
                         Eigen::OuterStride<>(outputs_));
    multiply_transposed(rows_of(x.data(), first, count, inputs_),
                        rows_of(weight_.data(), 0, outputs_, inputs_), 1.0F, out);
    if (!bias_.empty()) {
      out.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(bias_.data(), outputs_);
    }
  });
  return y;
}

void apply_activation(Activation activation, std::span<float> values) {
  switch (activation) {
    case Activation::gelu:
      return for_each(values, gelu);
    case Activation::gelu_tanh:
      return for_each(values, gelu_tanh);
    case Activation::relu:
      return for_each(values, relu);
    case Activation::quick_gelu:
      return for_each(values, [](float x) { return x * sigmoid(1.702F * x); });
    case Activation::silu:
      return for_each(values, [](float x) { return x * sigmoid(x); });
    case Activation::relu2:
      return for_each(values, [](float x) { return relu(x) * relu(x); });
  }
}

void apply_activation(HeadActivation activation, std::span<float> values) {
  switch (activation) {
    case HeadActivation::none:
      return;
    case HeadActivation::tanh:
      return for_each(values, [](float x) { return std::tanh(x); });
    case HeadActivation::gelu:
      return for_each(values, gelu);
    case HeadActivation::relu:
      return for_each(values, relu);
  }
}

}  // namespace attnscope
