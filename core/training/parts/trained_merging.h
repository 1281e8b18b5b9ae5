// Merges 2 × 2 neighbouring tokens for a coarser grid, with its gradient.
#pragma once

#include <string>

#include "core/architecture/pyramid_grid.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// Computes reduction(norm([x(0,0), x(1,0), x(0,1), x(1,1)])) for each 2 × 2 cells, like
/// PatchMerging.
class TrainedMerging {
 public:
  struct Memory {
    Matrix four, normed, d_normed, d_four;
    TrainedNorm::Memory norm;
    TrainedLinear::Memory layer;
  };

  /// The grid must have even sides. Adds `name`.norm [4·C] and `name`.reduction [D, 4·C].
  TrainedMerging(ParameterTable& table, const std::string& name, const GridExtents& grid,
                 std::int64_t channels, std::int64_t width, double eps);

  /// Replaces x [sequences · grid, C] by [sequences · grid / 4, D].
  void forward(const float* values, Matrix& x, Memory& memory) const;
  /// Replaces dx, the gradient of forward's output, by that of its input.
  void backward(const float* values, float* gradients, Matrix& dx, Memory& memory) const;

 private:
  /// Calls act(coarse row, first channel, fine row) for the four cells of each coarse cell.
  template <class Act>
  void each_part(Eigen::Index coarse_rows, const Act& act) const;

  GridExtents grid_;
  std::int64_t channels_;
  TrainedNorm norm_;
  TrainedLinear reduction_;
};

}  // namespace attnscope
