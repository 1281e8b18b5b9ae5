#include "core/model/parts/convolution.h"

#include <algorithm>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/tensor/blas.h"

namespace attnscope {

namespace {

constexpr std::int64_t kCells = 64;  // output cells per block, for a GEMM that fits the caches

}  // namespace

Convolution::Convolution(const Tensor& kernel, std::vector<float> bias, std::int64_t stride,
                         std::int64_t padding)
    : bias_(std::move(bias)),
      kernel_(kernel.extent(2)),
      stride_(stride),
      padding_(padding),
      channels_(kernel.extent(1)) {
  const std::int64_t outputs = kernel.extent(0), taps = kernel_ * kernel_;
  weight_ = Tensor({outputs, taps * channels_});
  for (std::int64_t out = 0; out < outputs; ++out) {
    const ConstMatrixMap from(kernel.data() + out * channels_ * taps, channels_, taps);
    MatrixMap(weight_.data() + out * taps * channels_, taps, channels_) = from.transpose();
  }
}

GridExtents Convolution::output_grid(const GridExtents& grid) const {
  return {(grid.rows + 2 * padding_ - kernel_) / stride_ + 1,
          (grid.columns + 2 * padding_ - kernel_) / stride_ + 1};
}

Tensor Convolution::operator()(const Tensor& tokens, const GridExtents& grid) const {
  const GridExtents result = output_grid(grid);
  const std::int64_t width = kernel_ * kernel_ * channels_, outputs = this->outputs();
  Tensor output({result.tokens(), outputs});
  const std::int64_t blocks = (result.tokens() + kCells - 1) / kCells;
  tbb::parallel_for(std::int64_t{0}, blocks, [&](std::int64_t block) {
    const std::int64_t first = block * kCells;
    const std::int64_t cells = std::min(kCells, result.tokens() - first);
    Matrix unfolded = Matrix::Zero(cells, width);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const std::int64_t top = (first + cell) / result.columns * stride_ - padding_;
      const std::int64_t left = (first + cell) % result.columns * stride_ - padding_;
      for (std::int64_t tap = 0; tap < kernel_ * kernel_; ++tap) {
        const std::int64_t row = top + tap / kernel_, column = left + tap % kernel_;
        if (row < 0 || row >= grid.rows || column < 0 || column >= grid.columns) continue;
        const float* const from = tokens.data() + (row * grid.columns + column) * channels_;
        std::copy(from, from + channels_, unfolded.data() + cell * width + tap * channels_);
      }
    }
    StridedMatrixMap out(output.data() + first * outputs, cells, outputs,
                         Eigen::OuterStride<>(outputs));
    multiply_transposed({unfolded.data(), cells, width, Eigen::OuterStride<>(width)},
                        {weight_.data(), outputs, width, Eigen::OuterStride<>(width)}, 1.0F, out);
    if (!bias_.empty()) {
      out.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(bias_.data(), outputs);
    }
  });
  return output;
}

DepthwiseConvolution::DepthwiseConvolution(const Tensor& kernel, std::vector<float> bias,
                                           std::int64_t stride)
    : bias_(std::move(bias)), stride_(stride) {
  const std::int64_t channels = kernel.extent(0);
  weight_ = ConstMatrixMap(kernel.data(), channels, 9).transpose();
}

Tensor DepthwiseConvolution::operator()(const Tensor& tokens, const GridExtents& grid) const {
  const std::int64_t channels = weight_.cols();
  const GridExtents result = output_grid(grid);
  Tensor output({result.tokens(), channels});
  tbb::parallel_for(std::int64_t{0}, result.rows, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < result.columns; ++column) {
      auto out = output.matrix().row(row * result.columns + column);
      if (!bias_.empty()) out = Eigen::Map<const Eigen::RowVectorXf>(bias_.data(), channels);
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        const std::int64_t y = row * stride_ + tap / 3 - 1, x = column * stride_ + tap % 3 - 1;
        if (y < 0 || y >= grid.rows || x < 0 || x >= grid.columns) continue;
        out.array() += tokens.matrix().row(y * grid.columns + x).array() * weight_.row(tap).array();
      }
    }
  });
  return output;
}

Tensor pool_adaptively(const Tensor& tokens, const GridExtents& grid, std::int64_t side) {
  const std::int64_t channels = tokens.extent(1);
  Tensor pooled({side * side, channels});
  for (std::int64_t cell = 0; cell < side * side; ++cell) {
    const std::int64_t row = cell / side, column = cell % side;
    const std::int64_t top = row * grid.rows / side;
    const std::int64_t bottom = ((row + 1) * grid.rows + side - 1) / side;
    const std::int64_t left = column * grid.columns / side;
    const std::int64_t right = ((column + 1) * grid.columns + side - 1) / side;
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(channels);
    for (std::int64_t y = top; y < bottom; ++y) {
      for (std::int64_t x = left; x < right; ++x) {
        sum += tokens.matrix().row(y * grid.columns + x).cast<double>();
      }
    }
    sum /= static_cast<double>((bottom - top) * (right - left));
    pooled.matrix().row(cell) = sum.cast<float>();
  }
  return pooled;
}

}  // namespace attnscope
