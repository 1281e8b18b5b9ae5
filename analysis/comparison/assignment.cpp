#include "analysis/comparison/assignment.h"

#include <limits>

namespace attnscope {

namespace {

constexpr std::size_t kUnassigned = static_cast<std::size_t>(-1);

/// The row assigned to each column; requires rows() <= cols().
std::vector<std::size_t> rows_of_columns(const MatrixD& costs) {
  const auto rows = static_cast<std::size_t>(costs.rows());
  const auto columns = static_cast<std::size_t>(costs.cols());
  const auto cost = [&](std::size_t row, std::size_t column) {
    return costs(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column));
  };
  // Dual prices: cost − row price − column price ≥ 0, and = 0 for every assigned pair.
  std::vector<double> row_price(rows), column_price(columns);
  std::vector<std::size_t> row_of(columns, kUnassigned);
  for (std::size_t free_row = 0; free_row < rows; ++free_row) {
    // The cheapest alternating path from the free row to a free column, by Dijkstra's algorithm.
    std::vector<double> distance(columns, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> before(columns, kUnassigned);  // previous column of the path
    std::vector<bool> done(columns);
    std::size_t row = free_row, column = kUnassigned;
    double reached = 0;
    for (;;) {
      std::size_t next = kUnassigned;
      for (std::size_t c = 0; c < columns; ++c) {
        if (done[c]) continue;
        const double along = reached + cost(row, c) - row_price[row] - column_price[c];
        if (along < distance[c]) {
          distance[c] = along;
          before[c] = column;
        }
        if (next == kUnassigned || distance[c] < distance[next]) next = c;
      }
      column = next;
      reached = distance[column];
      done[column] = true;
      if (row_of[column] == kUnassigned) break;
      row = row_of[column];
    }
    row_price[free_row] += reached;
    for (std::size_t c = 0; c < columns; ++c) {
      if (!done[c] || c == column) continue;
      row_price[row_of[c]] += reached - distance[c];
      column_price[c] -= reached - distance[c];
    }
    for (std::size_t c = column; c != kUnassigned;) {
      const std::size_t previous = before[c];
      row_of[c] = previous == kUnassigned ? free_row : row_of[previous];
      c = previous;
    }
  }
  return row_of;
}

}  // namespace

std::vector<std::int64_t> least_assignment(const MatrixD& costs) {
  std::vector<std::int64_t> column_of(static_cast<std::size_t>(costs.rows()), -1);
  if (costs.rows() <= costs.cols()) {
    const std::vector<std::size_t> row_of = rows_of_columns(costs);
    for (std::size_t column = 0; column < row_of.size(); ++column) {
      if (row_of[column] != kUnassigned)
        column_of[row_of[column]] = static_cast<std::int64_t>(column);
    }
  } else {
    const MatrixD turned = costs.transpose();
    const std::vector<std::size_t> row_of = rows_of_columns(turned);
    for (std::size_t row = 0; row < row_of.size(); ++row) {
      if (row_of[row] != kUnassigned) column_of[row] = static_cast<std::int64_t>(row_of[row]);
    }
  }
  return column_of;
}

}  // namespace attnscope
