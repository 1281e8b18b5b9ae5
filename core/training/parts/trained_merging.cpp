#include "core/training/parts/trained_merging.h"

namespace attnscope {

TrainedMerging::TrainedMerging(ParameterTable& table, const std::string& name,
                               const GridExtents& grid, std::int64_t channels, std::int64_t width,
                               double eps)
    : grid_(grid),
      channels_(channels),
      norm_(table, name + ".norm", 4 * channels, eps),
      reduction_(table, {.name = name + ".reduction", .inputs = 4 * channels, .outputs = width}) {}

template <class Act>
void TrainedMerging::each_part(Eigen::Index coarse_rows, const Act& act) const {
  const std::int64_t columns = grid_.columns / 2, cells = grid_.tokens() / 4;
  for (Eigen::Index cell = 0; cell < coarse_rows; ++cell) {
    const std::int64_t first = cell / cells * grid_.tokens(), place = cell % cells;
    for (std::int64_t part = 0; part < 4; ++part) {
      const std::int64_t row = 2 * (place / columns) + part % 2;
      const std::int64_t column = 2 * (place % columns) + part / 2;
      act(cell, part * channels_, first + row * grid_.columns + column);
    }
  }
}

void TrainedMerging::forward(const float* values, Matrix& x, Memory& memory) const {
  memory.four.resize(x.rows() / 4, 4 * channels_);
  each_part(memory.four.rows(), [&](Eigen::Index cell, std::int64_t channel, std::int64_t token) {
    memory.four.row(cell).segment(channel, channels_) = x.row(token);
  });
  norm_.forward(values, memory.four, memory.normed, memory.norm);
  reduction_.forward(values, memory.normed, x, memory.layer);
}

void TrainedMerging::backward(const float* values, float* gradients, Matrix& dx,
                              Memory& memory) const {
  reduction_.backward(values, gradients, memory.normed, dx, memory.layer, &memory.d_normed);
  memory.d_four.setZero(memory.four.rows(), memory.four.cols());
  norm_.backward(values, gradients, memory.four, memory.d_normed, memory.norm, memory.d_four);
  dx.resize(4 * memory.d_four.rows(), channels_);
  each_part(memory.d_four.rows(), [&](Eigen::Index cell, std::int64_t channel, std::int64_t token) {
    dx.row(token) = memory.d_four.row(cell).segment(channel, channels_);
  });
}

}  // namespace attnscope
