#include "core/training/attention/score_attention.h"

#include <algorithm>
#include <limits>

#include "core/attention/kernels/softmax_rows.h"
#include "core/tensor/blas.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

// Number of weights in one block of the map: with their gradients they fit a core's cache.
constexpr std::int64_t kWeights = 40960;

/// Number of queries in one block of a map with `keys` keys.
std::int64_t queries_of_block(std::int64_t keys) {
  return std::clamp<std::int64_t>(kWeights / keys, 16, 256);
}

StridedMatrixMap rows_in(std::vector<float>& room, std::int64_t rows, std::int64_t columns) {
  const auto size = static_cast<std::size_t>(rows * columns);
  if (room.size() < size) room.resize(size);
  return rows_of(room.data(), rows, columns);
}

}  // namespace

ScoreAttention::Block ScoreAttention::block_at(const HeadTensors& head, std::int64_t first) const {
  const std::int64_t count =
      std::min(queries_of_block(head.keys.rows()), head.queries.rows() - first);
  return {head.head, first, count, causal_ ? first + count : head.keys.rows(), causal_};
}

ScoreAttention::Block ScoreAttention::block_after(const HeadTensors& head,
                                                  const Block& block) const {
  return block_at(head, block.first + block.queries);
}

void ScoreAttention::weigh(StridedMatrixMap scores, const Block&) const { softmax_rows(scores); }

void ScoreAttention::weight_gradients(const ConstStridedMatrixMap& weights,
                                      StridedMatrixMap gradients, const Block&) const {
  // Backward of softmax: dS = W ⊙ (dW − Σ_j W dW).
  for (std::int64_t row = 0; row < weights.rows(); ++row) {
    const float mean = weights.row(row).dot(gradients.row(row));
    gradients.row(row).array() = weights.row(row).array() * (gradients.row(row).array() - mean);
  }
}

StridedMatrixMap ScoreAttention::weights_of(const Block& block, const HeadTensors& head,
                                            const Prepared& prepared,
                                            std::vector<float>& room) const {
  StridedMatrixMap weights = rows_in(room, block.queries, head.keys.rows());
  score({block.first, some_rows(head.queries, block.first, block.queries)}, head, prepared,
        weights);
  StridedMatrixMap visible(weights.data(), block.queries, block.keys,
                           Eigen::OuterStride<>(weights.outerStride()));
  for (std::int64_t row = 0; causal_ && row < block.queries; ++row) {
    visible.row(row)
        .tail(block.keys - block.seen_by(row))
        .setConstant(-std::numeric_limits<float>::infinity());
  }
  weigh(visible, block);
  return visible;
}

/// The weights that the values are multiplied by: a copy in `room` if some are left out.
StridedMatrixMap ScoreAttention::after_dropout(const Block& block, const HeadTensors& head,
                                               const StridedMatrixMap& weights,
                                               std::vector<float>& room) {
  if (!head.dropout) return weights;
  StridedMatrixMap dropped = rows_in(room, block.queries, block.keys);
  dropped = weights;
  drop_weights(head.dropout, head.head, block.first, head.keys.rows(), dropped);
  return dropped;
}

void ScoreAttention::forward_head(const HeadTensors& head, StridedMatrixMap output,
                                  AttentionRoom& room) const {
  const Prepared prepared = prepare(head);
  for (Block block = block_at(head, 0); block.queries > 0; block = block_after(head, block)) {
    const std::int64_t first = block.first;
    const StridedMatrixMap weights = weights_of(block, head, prepared, room.weights);
    drop_weights(head.dropout, head.head, first, head.keys.rows(), weights);
    multiply(seen(weights), some_rows(head.values, 0, block.keys), 1.0F,
             some_rows(output, first, block.queries));
  }
  if (identity_) output += head.values;
}

void ScoreAttention::backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                                   HeadGradients gradients, AttentionRoom& room) const {
  const Prepared prepared = prepare(head);
  const float scale = gradient_scale(head);
  gradients.keys.setZero();
  if (identity_) {
    gradients.values = d_output;
  } else {
    gradients.values.setZero();
  }
  for (Block block = block_at(head, 0); block.queries > 0; block = block_after(head, block)) {
    const std::int64_t first = block.first;
    const StridedMatrixMap weights = weights_of(block, head, prepared, room.weights);
    const ConstStridedMatrixMap d_rows = some_rows(d_output, first, block.queries);
    StridedMatrixMap d_scores = rows_in(room.gradients, block.queries, block.keys);
    multiply_transposed(d_rows, some_rows(head.values, 0, block.keys), 1.0F, d_scores);
    drop_weights(head.dropout, head.head, first, head.keys.rows(), d_scores);
    add_transposed_product(seen(after_dropout(block, head, weights, room.dropped)), d_rows, 1.0F,
                           some_rows(gradients.values, 0, block.keys));
    weight_gradients(seen(weights), d_scores, block);
    if (scale != 1) d_scores *= scale;
    score_gradients({first, some_rows(head.queries, first, block.queries)}, head, prepared,
                    d_scores, some_rows(gradients.queries, first, block.queries), gradients, room);
  }
}

}  // namespace attnscope
