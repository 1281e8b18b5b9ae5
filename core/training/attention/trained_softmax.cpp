// Softmax attention with its gradient (Vaswani et al. 2017, Eq. 1).
#include <cmath>

#include "core/tensor/blas.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// S = Q Kᵀ / √d.
class TrainedSoftmax final : public ScoreAttention {
 public:
  explicit TrainedSoftmax(bool causal) : ScoreAttention(causal, false) {}

 private:
  [[nodiscard]] Prepared prepare(const HeadTensors& head) const override {
    (void)head;
    return {};
  }

  static float scale(const HeadTensors& head) {
    return 1.0F / std::sqrt(static_cast<float>(head.queries.cols()));
  }

  static ConstStridedMatrixMap first_keys(const HeadTensors& head, std::int64_t count) {
    return some_rows(head.keys, 0, count);
  }

  void score(const Queries& queries, const HeadTensors& head, const Prepared&,
             StridedMatrixMap scores) const override {
    multiply_transposed(queries.rows, first_keys(head, scores.cols()), scale(head), scores);
  }

  void score_gradients(const Queries& queries, const HeadTensors& head, const Prepared&,
                       StridedMatrixMap d_scores, StridedMatrixMap d_queries,
                       HeadGradients gradients, AttentionRoom&) const override {
    multiply(seen(d_scores), first_keys(head, d_scores.cols()), scale(head), d_queries);
    add_transposed_product(seen(d_scores), queries.rows, scale(head),
                           some_rows(gradients.keys, 0, d_scores.cols()));
  }
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_softmax(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedSoftmax>(form.causal);
}

}  // namespace attnscope
