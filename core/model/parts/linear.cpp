#include "core/model/parts/linear.h"

#include <algorithm>
#include <utility>

#include "core/attention/kernels/l1_distance.h"
#include "core/model/parts/blocks_of_work.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Block sizes depend only on the shape, so that the result does not depend on the thread count.
// Each block packs its part of the weight and of x separately.
constexpr std::int64_t kRowsAtOnce = 256;
constexpr std::int64_t kPiece = 128;
constexpr std::int64_t kParts = 4;            // minimum number of parts for sharing between threads
constexpr std::int64_t kLeastWork = 1 << 20;  // minimum multiplications per task

ConstStridedMatrixMap rows_at(const float* data, std::int64_t rows, std::int64_t columns) {
  return {data, rows, columns, Eigen::OuterStride<>(columns)};
}

}  // namespace

Linear::Linear(WeightMatrix weight, std::vector<float> bias, Arithmetic arithmetic,
               std::optional<LayerNorm> norm)
    : inputs_(weight.columns()),
      outputs_(weight.rows()),
      bias_(std::move(bias)),
      norm_(std::move(norm)) {
  if (arithmetic == Arithmetic::multiplicative) {
    weight_ = std::move(weight);
    return;
  }
  std::vector<float> room;
  packed_ = PackedRows(rows_at(weight.read(0, outputs_, room), outputs_, inputs_));
}

Linear Linear::part(std::int64_t first, std::int64_t count) const {
  std::vector<float> room;
  const float* const from = weight_.read(first, count, room);
  Tensor weight = Tensor::unfilled({count, inputs_});
  std::copy_n(from, weight.size(), weight.data());
  weight_.release_pages();
  std::vector<float> bias;
  if (has_bias()) bias.assign(bias_.begin() + first, bias_.begin() + first + count);
  return {std::move(weight), std::move(bias)};
}

Linear Linear::rows(const std::vector<std::int64_t>& outputs) const {
  std::vector<float> bias;
  for (const std::int64_t row : outputs) {
    if (has_bias()) bias.push_back(bias_[static_cast<std::size_t>(row)]);
  }
  return {weight_.with_rows(outputs), std::move(bias)};
}

/// Multiplies blocks of rows of x; if these are few, the weight is split as well.
void Linear::multiply(ConstMatrixMap x, Tensor& y) const {
  std::vector<float> room;
  const float* const weight = weight_.read(0, outputs_, room);
  const std::int64_t rows = std::min(x.rows(), kRowsAtOnce);
  const std::int64_t least = kLeastWork / std::max<std::int64_t>(rows * inputs_, 1) + 1;
  const std::int64_t part = x.rows() >= kParts * kRowsAtOnce
                                ? outputs_
                                : std::max((outputs_ + kParts - 1) / kParts, least);
  for_blocks(x.rows(), kRowsAtOnce, [&](std::int64_t first, std::int64_t count) {
    for_blocks(outputs_, part, [&](std::int64_t output, std::int64_t outputs) {
      StridedMatrixMap out(y.data() + first * outputs_ + output, count, outputs,
                           Eigen::OuterStride<>(outputs_));
      multiply_transposed(rows_at(x.data() + first * inputs_, count, inputs_),
                          rows_at(weight + output * inputs_, outputs, inputs_), 1.0F, out);
    });
  });
}

/// Multiplies all of x with blocks of weight rows, each converted to float32 once.
void Linear::multiply_in_pieces(ConstMatrixMap x, Tensor& y) const {
  for_blocks(outputs_, kPiece, [&](std::int64_t first, std::int64_t count) {
    std::vector<float> room;
    const float* const weight = weight_.read(first, count, room);
    StridedMatrixMap out(y.data() + first, x.rows(), count, Eigen::OuterStride<>(outputs_));
    multiply_transposed(rows_at(x.data(), x.rows(), inputs_), rows_at(weight, count, inputs_), 1.0F,
                        out);
  });
  weight_.release_pages();
}

/// Multiplies one row with quantised rows as they are stored. A text that grows by a token reads
/// them again soon, so their pages are kept.
void Linear::multiply_row(const float* x, Tensor& y) const {
  for_blocks(outputs_, kPiece, [&](std::int64_t first, std::int64_t count) {
    weight_.multiply_row(first, count, x, y.data() + first);
  });
  weight_.check_file();
}

Tensor Linear::operator()(ConstMatrixMap x) const {
  if (weight_.empty()) {
    Tensor y = adder_linear(rows_at(x.data(), x.rows(), x.cols()), packed_, bias_);
    if (norm_) norm_->apply(y.matrix());
    return y;
  }
  Tensor y = Tensor::unfilled({x.rows(), outputs_});
  if (weight_.in_memory()) {
    multiply(x, y);
  } else if (x.rows() == 1 && weight_.is_quantised()) {
    multiply_row(x.data(), y);
  } else {
    multiply_in_pieces(x, y);
  }
  if (!bias_.empty()) {
    y.matrix().rowwise() += Eigen::Map<const Eigen::RowVectorXf>(bias_.data(), outputs_);
  }
  return y;
}

}  // namespace attnscope
