#include "core/model/parts/decomposed_bias.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tbb/parallel_for.h>

#include "core/tensor/blas.h"

namespace attnscope {

namespace {

/// Products of each query with the vectors of all key rows and key columns.
struct AxisProducts {
  Tensor rows;     ///< [H, N, grid.rows]
  Tensor columns;  ///< [H, N, grid.columns]
};

/// The vectors [cells, d] for a query in cell `cell`, with offsets cell, cell − 1, …, from a table
/// of offsets [2·cells − 1, d].
Matrix offsets_of(const Tensor& table, std::int64_t cell, std::int64_t cells) {
  Matrix met(cells, table.extent(1));
  for (std::int64_t key = 0; key < cells; ++key) {
    met.row(key) = table.matrix().row(cell - key + cells - 1);
  }
  return met;
}

ConstStridedMatrixMap whole(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
}

/// Fills the products of one head's queries.
void fill_products(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                   std::int64_t heads, std::int64_t head, const GridExtents& grid,
                   AxisProducts& products) {
  const std::int64_t d = queries.cols() / heads, tokens = grid.tokens();
  const float* const first = queries.data() + head * d;
  for (std::int64_t y = 0; y < grid.rows; ++y) {
    const Matrix met = offsets_of(rows, y, grid.rows);
    multiply_transposed({first + y * grid.columns * queries.cols(), grid.columns, d,
                         Eigen::OuterStride<>(queries.cols())},
                        whole(met), 1.0F,
                        {products.rows.data() + (head * tokens + y * grid.columns) * grid.rows,
                         grid.columns, grid.rows, Eigen::OuterStride<>(grid.rows)});
  }
  for (std::int64_t x = 0; x < grid.columns; ++x) {
    const Matrix met = offsets_of(columns, x, grid.columns);
    multiply_transposed({first + x * queries.cols(), grid.rows, d,
                         Eigen::OuterStride<>(grid.columns * queries.cols())},
                        whole(met), 1.0F,
                        {products.columns.data() + (head * tokens + x) * grid.columns, grid.rows,
                         grid.columns, Eigen::OuterStride<>(grid.columns * grid.columns)});
  }
}

}  // namespace

Tensor resample_offsets(const Tensor& table, std::int64_t side) {
  const std::int64_t stored = table.extent(0), wanted = 2 * side - 1;
  if (stored == wanted) return table;
  Tensor result({wanted, table.extent(1)});
  const double step = static_cast<double>(stored) / static_cast<double>(wanted);
  for (std::int64_t i = 0; i < wanted; ++i) {
    const double place = std::max((static_cast<double>(i) + 0.5) * step - 0.5, 0.0);
    const std::int64_t before = std::min(static_cast<std::int64_t>(place), stored - 1);
    const std::int64_t after = std::min(before + 1, stored - 1);
    const auto share = static_cast<float>(place - static_cast<double>(before));
    result.matrix().row(i) =
        (1 - share) * table.matrix().row(before) + share * table.matrix().row(after);
  }
  return result;
}

void add_decomposed(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                    std::int64_t heads, const GridExtents& grid, ScoreTerms& terms) {
  const std::int64_t tokens = grid.tokens();
  const auto products = std::make_shared<AxisProducts>();
  products->rows = Tensor({heads, tokens, grid.rows});
  products->columns = Tensor({heads, tokens, grid.columns});
  tbb::parallel_for(std::int64_t{0}, heads, [&](std::int64_t head) {
    fill_products(rows, columns, queries, heads, head, grid, *products);
  });
  terms.add_bias = [products, grid](std::int64_t head, std::int64_t query,
                                    std::span<float> scores) {
    const std::int64_t row = head * grid.tokens() + query;
    const float* const of_rows = std::as_const(products->rows).data() + row * grid.rows;
    const float* const of_columns = std::as_const(products->columns).data() + row * grid.columns;
    for (std::int64_t y = 0; y < grid.rows; ++y) {
      float* const line = scores.data() + y * grid.columns;
      for (std::int64_t x = 0; x < grid.columns; ++x) line[x] += of_rows[y] + of_columns[x];
    }
  };
  terms.names += (terms.names.empty() ? "" : ", ") + std::string("vectors of relative positions");
}

}  // namespace attnscope
