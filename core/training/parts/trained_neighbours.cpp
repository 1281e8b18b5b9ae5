#include "core/training/parts/trained_neighbours.h"

#include <algorithm>

namespace attnscope {

namespace {

/// The kernel [D, 9] with a column for each of its cells.
using KernelMap = Eigen::Map<Matrix>;
using ConstKernel = Eigen::Map<const Matrix>;
using ChannelMap = Eigen::Map<Eigen::RowVectorXf>;
using ConstChannels = Eigen::Map<const Eigen::RowVectorXf>;

}  // namespace

TrainedNeighbours::TrainedNeighbours(ParameterTable& table, const std::string& name,
                                     const GridExtents& grid, std::int64_t width)
    : grid_(grid), width_(width) {
  weight_ = table.add(name + ".weight", {width, 1, 3, 3}, Beginning::xavier);
  bias_ = table.add(name + ".bias", {width}, Beginning::zeros);
}

template <class Act>
void TrainedNeighbours::each_pair(Eigen::Index rows, const Act& act) const {
  for (Eigen::Index token = 0; token < rows; ++token) {
    const std::int64_t cell = token % grid_.tokens();
    const std::int64_t row = cell / grid_.columns, column = cell % grid_.columns;
    for (std::int64_t down = std::max<std::int64_t>(-row, -1);
         down <= std::min<std::int64_t>(grid_.rows - 1 - row, 1); ++down) {
      for (std::int64_t right = std::max<std::int64_t>(-column, -1);
           right <= std::min<std::int64_t>(grid_.columns - 1 - column, 1); ++right) {
        act(token, token + down * grid_.columns + right, (down + 1) * 3 + right + 1);
      }
    }
  }
}

void TrainedNeighbours::forward(const float* values, Matrix& x, Matrix& before) const {
  before = x;
  const Matrix kernel = ConstKernel(weight_.in(values), width_, 9).transpose();
  x.rowwise() += ConstChannels(bias_.in(values), width_);
  each_pair(x.rows(), [&](Eigen::Index token, Eigen::Index neighbour, std::int64_t place) {
    x.row(token).array() += kernel.row(place).array() * before.row(neighbour).array();
  });
}

void TrainedNeighbours::backward(const float* values, float* gradients, const Matrix& before,
                                 Matrix& dx, Matrix& room) const {
  const Matrix kernel = ConstKernel(weight_.in(values), width_, 9).transpose();
  Matrix d_kernel = Matrix::Zero(9, width_);
  ChannelMap(bias_.in(gradients), width_) += dx.colwise().sum();
  room = dx;
  each_pair(dx.rows(), [&](Eigen::Index token, Eigen::Index neighbour, std::int64_t place) {
    d_kernel.row(place).array() += dx.row(token).array() * before.row(neighbour).array();
    room.row(neighbour).array() += kernel.row(place).array() * dx.row(token).array();
  });
  KernelMap(weight_.in(gradients), width_, 9) += d_kernel.transpose();
  dx.swap(room);
}

}  // namespace attnscope
