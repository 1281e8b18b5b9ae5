// Talking heads with their gradient (Shazeer et al. 2020, Section 3; CaiT's biases). The own
// parameters are proj_l and proj_w [H, H], initially I, and their biases.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/attention/kernels/softmax_rows.h"
#include "core/tensor/blas.h"
#include "core/training/attention/trained_heads.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

// Queries per block. The backward pass holds five matrices of a block for all heads.
constexpr std::int64_t kTalkingQueries = 16;

/// L = P_l S + b_l and W = P_w softmax(L) + b_w, across the heads, for scores S = Q Kᵀ/√d.
/// Invisible keys have weight 0. Dropout applies to W, as in CaiT.
class TrainedTalkingHeads final : public TrainedAttention {
 public:
  explicit TrainedTalkingHeads(const TrainedAttentionForm& form) : form_(form) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    return {own_parameter(form_, "proj_l", Initialisation::identity),
            own_parameter(form_, "proj_l_bias", Initialisation::zeros),
            own_parameter(form_, "proj_w", Initialisation::identity),
            own_parameter(form_, "proj_w_bias", Initialisation::zeros)};
  }

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom&) const override {
    for (std::int64_t first = 0; first < output.rows(); first += kTalkingQueries) {
      const Block block(*this, all, first);
      for (std::int64_t head = 0; head < all.heads; ++head) {
        StridedMatrixMap rows = some_rows(output, first, block.count);
        const ConstStridedMatrixMap values = share_of_head(all.values, all.heads, head);
        multiply(block.of_head(block.mixed, head), some_rows(values, 0, block.keys), 1.0F,
                 columns_of(rows, head * values.cols(), values.cols()));
      }
    }
  }

  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom&) const override {
    gradients.keys.setZero();
    gradients.values.setZero();
    const std::int64_t heads = all.heads;
    for (std::int64_t first = 0; first < d_output.rows(); first += kTalkingQueries) {
      const Block block(*this, all, first);
      Matrix d_mixed(heads, block.cells()), d_logits(heads, block.cells());
      for (std::int64_t head = 0; head < heads; ++head) {
        const ConstStridedMatrixMap values = share_of_head(all.values, heads, head);
        const ConstStridedMatrixMap d_rows =
            some_rows(share_of_head(d_output, heads, head), first, block.count);
        multiply_transposed(d_rows, some_rows(values, 0, block.keys), 1.0F,
                            block.of_head(d_mixed, head));
        StridedMatrixMap d_values = share_of_head(gradients.values, heads, head);
        add_transposed_product(block.of_head(block.mixed, head), d_rows, 1.0F,
                               some_rows(d_values, 0, block.keys));
        hide(block, d_mixed, head, 0);
        drop_weights(all.dropout, head, first, all.keys.rows(), block.of_head(d_mixed, head));
      }
      // Backward of W = P_w softmax(L) + b_w.
      multiply_transposed(seen(rows_of(d_mixed)), rows_of(block.weights), 1.0F,
                          rows_of(gradients.own[2], heads, heads), true);
      add_sums(d_mixed, gradients.own[3]);
      d_logits.setZero();
      add_transposed_product(rows_of(all.own[2], heads, heads), seen(rows_of(d_mixed)), 1.0F,
                             rows_of(d_logits));
      for (std::int64_t head = 0; head < heads; ++head) {
        const ConstStridedMatrixMap weights = block.of_head(block.weights, head);
        StridedMatrixMap d_rows = block.of_head(d_logits, head);
        for (std::int64_t row = 0; row < block.count; ++row) {
          const float mean = weights.row(row).dot(d_rows.row(row));
          d_rows.row(row).array() = weights.row(row).array() * (d_rows.row(row).array() - mean);
        }
      }
      // Backward of L = P_l S + b_l.
      multiply_transposed(seen(rows_of(d_logits)), rows_of(block.scores), 1.0F,
                          rows_of(gradients.own[0], heads, heads), true);
      add_sums(d_logits, gradients.own[1]);
      Matrix& d_scores = d_mixed;
      d_scores.setZero();
      add_transposed_product(rows_of(all.own[0], heads, heads), seen(rows_of(d_logits)), 1.0F,
                             rows_of(d_scores));
      for (std::int64_t head = 0; head < heads; ++head) {
        const ConstStridedMatrixMap keys = share_of_head(all.keys, heads, head);
        const ConstStridedMatrixMap d_rows = block.of_head(std::as_const(d_scores), head);
        StridedMatrixMap d_queries = share_of_head(gradients.queries, heads, head);
        StridedMatrixMap d_keys = share_of_head(gradients.keys, heads, head);
        multiply(d_rows, some_rows(keys, 0, block.keys), scale(all),
                 some_rows(d_queries, first, block.count));
        add_transposed_product(
            d_rows, some_rows(share_of_head(all.queries, heads, head), first, block.count),
            scale(all), some_rows(d_keys, 0, block.keys));
      }
    }
  }

 private:
  static float scale(const AttentionTensors& all) {
    return 1.0F / std::sqrt(static_cast<float>(all.queries.cols() / all.heads));
  }

  /// Queries [first, first + count) of all heads with their visible keys: [H, count · keys].
  struct Block {
    Block(const TrainedTalkingHeads& owner, const AttentionTensors& all, std::int64_t from)
        : first(from),
          count(std::min(kTalkingQueries, all.queries.rows() - from)),
          keys(owner.form_.causal ? from + count : all.keys.rows()),
          causal(owner.form_.causal),
          scores(all.heads, cells()),
          weights(all.heads, cells()),
          mixed(all.heads, cells()) {
      const std::int64_t heads = all.heads;
      for (std::int64_t head = 0; head < heads; ++head) {
        multiply_transposed(some_rows(share_of_head(all.queries, heads, head), first, count),
                            some_rows(share_of_head(all.keys, heads, head), 0, keys), scale(all),
                            of_head(scores, head));
      }
      multiply(rows_of(all.own[0], heads, heads), rows_of(std::as_const(scores)), 1.0F,
               rows_of(weights));
      for (std::int64_t head = 0; head < heads; ++head) {
        weights.row(head).array() += all.own[1][head];
        hide(*this, weights, head, -std::numeric_limits<float>::infinity());
        softmax_rows(of_head(weights, head));
      }
      multiply(rows_of(all.own[2], heads, heads), rows_of(std::as_const(weights)), 1.0F,
               rows_of(mixed));
      for (std::int64_t head = 0; head < heads; ++head) {
        mixed.row(head).array() += all.own[3][head];
        hide(*this, mixed, head, 0);
        drop_weights(all.dropout, head, first, all.keys.rows(), of_head(mixed, head));
      }
    }

    [[nodiscard]] std::int64_t cells() const { return count * keys; }
    /// One head's rows, [count, keys].
    [[nodiscard]] ConstStridedMatrixMap of_head(const Matrix& all, std::int64_t head) const {
      return rows_of(all.row(head).data(), count, keys);
    }
    [[nodiscard]] StridedMatrixMap of_head(Matrix& all, std::int64_t head) const {
      return rows_of(all.row(head).data(), count, keys);
    }

    std::int64_t first, count, keys;
    bool causal;
    Matrix scores, weights, mixed;  ///< S, softmax(L), W
  };

  /// Sets the cells of invisible keys to `value`.
  static void hide(const Block& block, Matrix& all, std::int64_t head, float value) {
    StridedMatrixMap rows = block.of_head(all, head);
    for (std::int64_t row = 0; block.causal && row < block.count; ++row) {
      rows.row(row).tail(block.keys - block.first - row - 1).setConstant(value);
    }
  }

  static void add_sums(const Matrix& all, float* sums) {
    for (Eigen::Index head = 0; head < all.rows(); ++head) sums[head] += all.row(head).sum();
  }

  TrainedAttentionForm form_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_talking_heads(
    const TrainedAttentionForm& form) {
  return std::make_unique<TrainedTalkingHeads>(form);
}

}  // namespace attnscope
