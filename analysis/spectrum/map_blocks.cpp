#include "analysis/spectrum/map_blocks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace attnscope {

namespace {

/// Union-find over rows and columns, rows first, that nonzero entries join.
class Joined {
 public:
  explicit Joined(Eigen::Index count) : parents_(static_cast<std::size_t>(count)), groups_(count) {
    std::iota(parents_.begin(), parents_.end(), Eigen::Index{0});
  }

  void join(Eigen::Index a, Eigen::Index b) {
    a = group_of(a);
    b = group_of(b);
    if (a == b) return;
    parent(std::max(a, b)) = std::min(a, b);
    --groups_;
  }
  [[nodiscard]] Eigen::Index group_of(Eigen::Index one) {
    while (parent(one) != one) one = parent(one) = parent(parent(one));
    return one;
  }
  [[nodiscard]] bool all_one() const { return groups_ == 1; }

 private:
  Eigen::Index& parent(Eigen::Index one) { return parents_[static_cast<std::size_t>(one)]; }

  std::vector<Eigen::Index> parents_;
  Eigen::Index groups_;
};

}  // namespace

std::vector<DiagonalBlock> blocks_of(const MatrixD& map) {
  Joined joined(map.rows() + map.cols());
  const auto join = [&](Eigen::Index row, Eigen::Index column) {
    if (map(row, column) != 0) joined.join(row, map.rows() + column);
  };
  // The first row and column are sufficient for a dense map.
  for (Eigen::Index column = 0; column < map.cols(); ++column) join(0, column);
  for (Eigen::Index row = 1; row < map.rows() && map.cols() > 0; ++row) join(row, 0);
  for (Eigen::Index row = 1; row < map.rows() && !joined.all_one(); ++row) {
    for (Eigen::Index column = 1; column < map.cols(); ++column) join(row, column);
  }
  std::map<Eigen::Index, DiagonalBlock> blocks;
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    blocks[joined.group_of(row)].rows.push_back(row);
  }
  for (Eigen::Index column = 0; column < map.cols(); ++column) {
    blocks[joined.group_of(map.rows() + column)].columns.push_back(column);
  }
  std::vector<DiagonalBlock> list;
  list.reserve(blocks.size());
  for (auto& [first, block] : blocks) list.push_back(std::move(block));
  return list;
}

SingularValues singular_values_by_blocks(MatrixD& map, SpectrumAccuracy accuracy) {
  const std::vector<DiagonalBlock> blocks = blocks_of(map);
  if (blocks.size() == 1) return singular_values(map, accuracy);
  SingularValues all;
  for (const DiagonalBlock& block : blocks) {
    if (block.rows.empty() || block.columns.empty()) continue;
    MatrixD part = map(block.rows, block.columns);
    SingularValues values = singular_values(part, accuracy);
    if (!values.converged) return values;
    all.values.insert(all.values.end(), values.values.begin(), values.values.end());
  }
  all.values.resize(static_cast<std::size_t>(std::min(map.rows(), map.cols())), 0.0);
  std::sort(all.values.begin(), all.values.end(), std::greater<>());
  return all;
}

}  // namespace attnscope
