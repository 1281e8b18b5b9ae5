#include <string>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/attention/kernels/l1_distance.h"
#include "core/error.h"

namespace attnscope {

Tensor adder_linear(const ConstStridedMatrixMap& x, const PackedRows& weights,
                    std::span<const float> bias) {
  if (x.cols() != weights.columns()) {
    throw Error(ErrorKind::usage, "an adder layer's input does not fit its weights")
        .expected(std::to_string(weights.columns()) + " columns")
        .found(std::to_string(x.cols()));
  }
  const std::int64_t width = weights.rows();
  if (!bias.empty() && static_cast<std::int64_t>(bias.size()) != width) {
    throw Error(ErrorKind::usage, "an adder layer's bias does not fit its weights")
        .expected(std::to_string(width) + " values")
        .found(std::to_string(bias.size()));
  }
  Tensor y({x.rows(), width});
  constexpr std::int64_t kRows = 64;
  const std::int64_t blocks = (x.rows() + kRows - 1) / kRows;
  tbb::parallel_for(std::int64_t{0}, blocks, [&](std::int64_t block) {
    const std::int64_t first = block * kRows;
    const std::int64_t rows = std::min(kRows, x.rows() - first);
    StridedMatrixMap out(y.data() + first * width, rows, width, Eigen::OuterStride<>(width));
    l1_distances(ConstStridedMatrixMap(x.data() + first * x.outerStride(), rows, x.cols(),
                                       Eigen::OuterStride<>(x.outerStride())),
                 weights, -1.0F, out);
    if (!bias.empty()) {
      out.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(bias.data(), width);
    }
  });
  return y;
}

}  // namespace attnscope
