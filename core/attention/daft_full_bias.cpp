#include "core/attention/daft_full_bias.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/kernels/panel_product.h"
#include "core/error.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

void refuse_other(const AttentionInput& input, const char* name, const char* remedy) {
  if (!daft_parameter(input, name)) return;
  throw Error(ErrorKind::usage, "the tensor contradicts the setting factors")
      .about(name)
      .remedy(std::string("set ") + remedy);
}

}  // namespace

FullBias::FullBias(const AttentionInput& input, std::int64_t factors)
    : causal_(input.causal),
      any_length_(causal_ || (input.layout && input.layout->is_text())),
      queries_(input.queries.rows()),
      keys_(input.keys.rows()) {
  if (factors > 0) {
    left_ = daft_parameter(input, "pe0");
    right_ = daft_parameter(input, "pe1");
    if (!left_ != !right_) {
      throw Error(ErrorKind::usage, "one factor of the position biases is missing")
          .about(left_ ? "pe1" : "pe0");
    }
    if (!left_) {
      refuse_other(input, "w", "factors=0");
      return;
    }
    check(*left_, "pe0", queries_, factors);
    check(*right_, "pe1", keys_, factors);
    return;
  }
  free_ = daft_parameter(input, "w");
  mask_ = daft_parameter(input, "local_mask");
  if (free_) {
    check(*free_, "w", queries_, keys_, true);
  } else {
    refuse_other(input, "pe0", "factors=n, the columns of pe0");
  }
  if (mask_) check(*mask_, "local_mask", queries_, keys_, true);
}

void FullBias::fill(std::int64_t, std::int64_t first, StridedMatrixMap block) const {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  fill_columns(first, block);
  for (std::int64_t row = 0; causal_ && row < block.rows(); ++row) {
    block.row(row).tail(keys_ - first - row - 1).setConstant(kNever);
  }
}

void FullBias::fill_columns(std::int64_t first, StridedMatrixMap block) const {
  if (left_) {
    const std::int64_t n = left_->extent(1);
    multiply_transposed({left_->data() + first * n, block.rows(), n, Eigen::OuterStride<>(n)},
                        {right_->data(), block.cols(), n, Eigen::OuterStride<>(n)}, 1.0F, block);
    return;
  }
  block.setZero();
  if (!free_) return;
  block = free_->matrix().block(first, 0, block.rows(), block.cols());
  if (mask_) {
    block.array() *= mask_->matrix().block(first, 0, block.rows(), block.cols()).array();
  }
}

Matrix FullBias::right_panels() const {
  if (!right_) return {};
  const std::int64_t n = right_->extent(1), panels = (keys_ + kPanelColumns - 1) / kPanelColumns;
  Matrix all(panels * n, kPanelColumns);
  tbb::parallel_for(std::int64_t{0}, panels, [&](std::int64_t panel) {
    const std::int64_t first = panel * kPanelColumns,
                       count = std::min(kPanelColumns, keys_ - first);
    auto one = all.middleRows(panel * n, n);
    one.leftCols(count) = right_->matrix().middleRows(first, count).transpose();
    one.rightCols(kPanelColumns - count).setZero();
  });
  return all;
}

void FullBias::fill_rows(const Matrix& right_panels, std::int64_t first,
                         StridedMatrixMap block) const {
  assert(block.cols() == keys_);
  if (!left_) return fill_columns(first, block);
  const std::int64_t n = left_->extent(1);
  for (std::int64_t panel = 0; panel * kPanelColumns < keys_; ++panel) {
    multiply_panel(left_->data() + first * n, block.rows(), n,
                   right_panels.data() + panel * n * kPanelColumns, n,
                   block.data() + panel * kPanelColumns, block.outerStride());
  }
}

void FullBias::check(const Tensor& tensor, const char* name, std::int64_t rows,
                     std::int64_t columns, bool columns_are_tokens) const {
  // Biases learned for the longest texts also serve shorter ones.
  const auto fits = [this](std::int64_t found, std::int64_t expected, bool tokens) {
    return found == expected || (tokens && any_length_ && found > expected);
  };
  if (tensor.rank() == 2 && fits(tensor.extent(0), rows, true) &&
      fits(tensor.extent(1), columns, columns_are_tokens)) {
    return;
  }
  throw Error(ErrorKind::usage, "the position biases do not fit the tokens")
      .about(name)
      .expected(to_string(Shape{rows, columns}))
      .found(to_string(tensor.shape()));
}

}  // namespace attnscope
