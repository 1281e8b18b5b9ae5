// Attention whose heads are independent of each other, with its gradient.
#pragma once

#include "core/training/attention/trained_attention.h"

namespace attnscope {

/// One head's queries and keys [N, d] and values [N, dv].
struct HeadTensors {
  ConstStridedMatrixMap queries, keys, values;
  std::span<const float* const> own = {};  ///< own parameters of the layer, for all heads
  std::int64_t head = 0;                   ///< index of the head
  WeightDropout dropout = {};              ///< that of the layer, for all heads
};

/// Destinations of the gradients of HeadTensors.
struct HeadGradients {
  StridedMatrixMap queries, keys, values;
  std::span<float* const> own = {};  ///< accumulated
};

/// Processes one head after another. Derived classes implement a single head.
class TrainedHeads : public TrainedAttention {
 public:
  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const final;
  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const final;

 protected:
  virtual void forward_head(const HeadTensors& head, StridedMatrixMap output,
                            AttentionRoom& room) const = 0;
  virtual void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                             HeadGradients gradients, AttentionRoom& room) const = 0;
};

/// Columns [first, first + count) of rows that may be strided.
[[nodiscard]] inline ConstStridedMatrixMap columns_of(const ConstStridedMatrixMap& rows,
                                                      std::int64_t first, std::int64_t count) {
  return {rows.data() + first, rows.rows(), count, Eigen::OuterStride<>(rows.outerStride())};
}
[[nodiscard]] inline StridedMatrixMap columns_of(StridedMatrixMap& rows, std::int64_t first,
                                                 std::int64_t count) {
  return {rows.data() + first, rows.rows(), count, Eigen::OuterStride<>(rows.outerStride())};
}

/// The columns of head `head` in [N, heads · width].
template <class Rows>
[[nodiscard]] auto share_of_head(Rows& rows, std::int64_t heads, std::int64_t head) {
  const std::int64_t width = rows.cols() / heads;
  return columns_of(rows, head * width, width);
}

/// Rows [first, first + count) of `rows`.
[[nodiscard]] inline ConstStridedMatrixMap some_rows(const ConstStridedMatrixMap& rows,
                                                     std::int64_t first, std::int64_t count) {
  const Eigen::Index stride = rows.outerStride();
  return {rows.data() + first * stride, count, rows.cols(), Eigen::OuterStride<>(stride)};
}
[[nodiscard]] inline StridedMatrixMap some_rows(StridedMatrixMap& rows, std::int64_t first,
                                                std::int64_t count) {
  const Eigen::Index stride = rows.outerStride();
  return {rows.data() + first * stride, count, rows.cols(), Eigen::OuterStride<>(stride)};
}

}  // namespace attnscope
