#include "core/attention/token_areas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

/// Tokens [first, end) of part `index` of `parts`, which overlap like those of AdaptiveAvgPool.
std::pair<std::int64_t, std::int64_t> pooled_part(std::int64_t index, std::int64_t parts,
                                                  std::int64_t tokens) {
  return {index * tokens / parts, ((index + 1) * tokens + parts - 1) / parts};
}

/// Calls act(segment, first row, number of rows) for `count` segments of `rows` rows.
template <class Act>
void each_segment(std::int64_t rows, std::int64_t count, const Act& act) {
  const std::int64_t length = rows / count, shorter = (length + 1) * count - rows;
  for (std::int64_t l = 0; l < count; ++l) {
    const std::int64_t first = l * length + std::max<std::int64_t>(0, l - shorter);
    act(l, first, l < shorter ? length : length + 1);
  }
}

}  // namespace

TokenAreas::TokenAreas(const TokenLayout* layout, std::int64_t tokens, std::int64_t count,
                       const std::string& mechanism, const std::string& setting)
    : columns(tokens), across(count) {
  if (layout == nullptr || !layout->is_grid_of(tokens)) return;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)) + 1e-6);
  if (root * root != count) {
    throw Error(ErrorKind::usage, setting + " on a grid of patches form a square")
        .about(mechanism + " " + setting)
        .expected("a square number")
        .found(std::to_string(count))
        .remedy("set " + setting + "=" + std::to_string(root * root));
  }
  prefix = layout->prefix;
  rows = layout->rows;
  columns = layout->columns;
  down = across = root;
}

template <class Act>
std::int64_t TokenAreas::each_row(std::int64_t area, const Act& act) const {
  const auto [top, bottom] = pooled_part(area / across, down, rows);
  const auto [left, right] = pooled_part(area % across, across, columns);
  for (std::int64_t y = top; y < bottom; ++y) act(prefix + y * columns + left, right - left);
  return (bottom - top) * (right - left);
}

MatrixD TokenAreas::means(const MatrixD& rows_of_tokens) const {
  MatrixD means = MatrixD::Zero(count(), rows_of_tokens.cols());
  for (std::int64_t area = 0; area < count(); ++area) {
    const std::int64_t tokens = each_row(area, [&](std::int64_t first, std::int64_t number) {
      means.row(area) += rows_of_tokens.middleRows(first, number).colwise().sum();
    });
    means.row(area) /= static_cast<double>(tokens);
  }
  return means;
}

void TokenAreas::add_gradients(const MatrixD& d_means, StridedMatrixMap d_rows) const {
  for (std::int64_t area = 0; area < count(); ++area) {
    const std::int64_t tokens = each_row(area, [](std::int64_t, std::int64_t) {});
    const Eigen::RowVectorXf share =
        (d_means.row(area) / static_cast<double>(tokens)).cast<float>();
    each_row(area, [&](std::int64_t first, std::int64_t number) {
      d_rows.middleRows(first, number).rowwise() += share;
    });
  }
}

MatrixD segment_means(const MatrixD& rows, std::int64_t count) {
  MatrixD means(count, rows.cols());
  each_segment(rows.rows(), count, [&](std::int64_t l, std::int64_t first, std::int64_t length) {
    means.row(l) = rows.middleRows(first, length).colwise().mean();
  });
  return means;
}

void add_segment_gradients(const MatrixD& d_means, StridedMatrixMap d_rows) {
  const std::int64_t count = d_means.rows();
  each_segment(d_rows.rows(), count, [&](std::int64_t l, std::int64_t first, std::int64_t length) {
    const Eigen::RowVectorXf share = (d_means.row(l) / static_cast<double>(length)).cast<float>();
    d_rows.middleRows(first, length).rowwise() += share;
  });
}

}  // namespace attnscope
