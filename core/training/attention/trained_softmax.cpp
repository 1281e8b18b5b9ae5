// Attention whose weights are functions of the scores S = Q Kᵀ / √d, with its gradient: softmax
// (Vaswani et al. 2017, Eq. 1) and the functions of core/attention/score_weights.cpp.
#include <cmath>

#include "core/attention/kernels/entmax_rows.h"
#include "core/attention/kernels/exponentials.h"
#include "core/parameters/typed_values.h"
#include "core/tensor/blas.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

class TrainedSoftmax : public ScoreAttention {
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

/// W_ij = σ(S_ij + b − ln n_i) for n_i keys that query i sees; dS = W ⊙ (1 − W) ⊙ dW.
class TrainedSigmoid final : public TrainedSoftmax {
 public:
  TrainedSigmoid(bool causal, double bias) : TrainedSoftmax(causal), bias_(bias) {}

 private:
  void weigh(StridedMatrixMap scores, const SeenKeys& seen) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const double count = static_cast<double>(seen.of(row));
      scores.row(row).array() += static_cast<float>(bias_ - std::log(count));
      float* const first = scores.row(row).data();
      sigmoid(first, scores.cols(), first);
    }
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const SeenKeys&) const override {
    gradients.array() *= weights.array() * (1 - weights.array());
  }

  double bias_;
};

/// W_ij = max(S_ij, 0) / n_i.
class TrainedRelu final : public TrainedSoftmax {
  using TrainedSoftmax::TrainedSoftmax;

  void weigh(StridedMatrixMap scores, const SeenKeys& seen) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const float share = 1.0F / static_cast<float>(seen.of(row));
      scores.row(row) = scores.row(row).unaryExpr([share](float x) { return relu(x) * share; });
    }
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const SeenKeys& seen) const override {
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      const float share = 1.0F / static_cast<float>(seen.of(row));
      gradients.row(row).array() *= (weights.row(row).array() > 0).cast<float>() * share;
    }
  }
};

/// W_i = softmax((f ln n_i + b) S_i).
class TrainedScalableSoftmax final : public TrainedSoftmax {
 public:
  TrainedScalableSoftmax(bool causal, double factor, double offset)
      : TrainedSoftmax(causal), factor_(factor), offset_(offset) {}

 private:
  [[nodiscard]] float scale_of(std::int64_t keys) const {
    return static_cast<float>(factor_ * std::log(static_cast<double>(keys)) + offset_);
  }
  void weigh(StridedMatrixMap scores, const SeenKeys& seen) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const std::int64_t keys = seen.of(row);
      scores.row(row).head(keys) *= scale_of(keys);  // 0 · −∞ is NaN
    }
    TrainedSoftmax::weigh(scores, seen);
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const SeenKeys& seen) const override {
    TrainedSoftmax::weight_gradients(weights, gradients, seen);
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      gradients.row(row) *= scale_of(seen.of(row));
    }
  }

  double factor_, offset_;
};

/// W_ij = max(S_ij / p − τ_i, 0)^p, rows sum to 1. With V = ∂W/∂(S − pτ), that is W^((p − 1) / p):
/// dS = V ⊙ (dW − Σ_j V dW / Σ_j V).
template <int kPower>
class TrainedEntmax final : public TrainedSoftmax {
  using TrainedSoftmax::TrainedSoftmax;

  void weigh(StridedMatrixMap scores, const SeenKeys&) const override {
    entmax_rows(scores, kPower);
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const SeenKeys&) const override {
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      const auto slope = weights.row(row).unaryExpr([](float weight) {
        return kPower == 1 ? (weight > 0 ? 1.0F : 0.0F) : std::sqrt(weight);
      });
      const float mean = slope.dot(gradients.row(row)) / slope.sum();
      gradients.row(row).array() = slope.array() * (gradients.row(row).array() - mean);
    }
  }
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_softmax(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedSoftmax>(form.causal);
}

std::unique_ptr<const TrainedAttention> make_trained_sigmoid(const TrainedAttentionForm& form) {
  const TypedValues values(form.mechanism.parameters);
  return std::make_unique<TrainedSigmoid>(form.causal, values.number("bias"));
}

std::unique_ptr<const TrainedAttention> make_trained_relu(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedRelu>(form.causal);
}

std::unique_ptr<const TrainedAttention> make_trained_ssmax(const TrainedAttentionForm& form) {
  const TypedValues values(form.mechanism.parameters);
  return std::make_unique<TrainedScalableSoftmax>(form.causal, values.number("factor"),
                                                  values.number("offset"));
}

std::unique_ptr<const TrainedAttention> make_trained_sparsemax(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedEntmax<1>>(form.causal);
}

std::unique_ptr<const TrainedAttention> make_trained_entmax(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedEntmax<2>>(form.causal);
}

}  // namespace attnscope
