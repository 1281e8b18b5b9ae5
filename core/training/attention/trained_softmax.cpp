// Attention whose weights are functions of the scores S = Q Kᵀ / √d, with its gradient: softmax
// (Vaswani et al. 2017, Eq. 1), the same with a sink (softmax_sink.cpp), the functions of
// core/attention/score_weights.cpp, and decays with the distance (forgetting.cpp, retention of
// recurrent_maps.cpp).
#include <algorithm>
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

/// W_ij = exp(S_ij) / (exp(b) + Σ_l exp(S_il)); the gradient is that of softmax, since the sink's
/// own logit is constant.
class TrainedSink final : public TrainedSoftmax {
 public:
  TrainedSink(bool causal, double sink) : TrainedSoftmax(causal), sink_(static_cast<float>(sink)) {}

 private:
  void weigh(StridedMatrixMap scores, const Block&) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const float greatest = std::max(scores.row(row).maxCoeff(), sink_);
      exponentiate(scores.row(row).data(), scores.cols(), greatest);
      scores.row(row) /= scores.row(row).sum() + std::exp(sink_ - greatest);
    }
  }

  float sink_;  ///< b
};

/// W_ij = σ(S_ij + b − ln n_i) for n_i keys that query i sees; dS = W ⊙ (1 − W) ⊙ dW.
class TrainedSigmoid final : public TrainedSoftmax {
 public:
  TrainedSigmoid(bool causal, double bias) : TrainedSoftmax(causal), bias_(bias) {}

 private:
  void weigh(StridedMatrixMap scores, const Block& block) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const double count = static_cast<double>(block.seen_by(row));
      scores.row(row).array() += static_cast<float>(bias_ - std::log(count));
      float* const first = scores.row(row).data();
      sigmoid(first, scores.cols(), first);
    }
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const Block&) const override {
    gradients.array() *= weights.array() * (1 - weights.array());
  }

  double bias_;
};

/// W_ij = max(S_ij, 0) / n_i.
class TrainedRelu final : public TrainedSoftmax {
  using TrainedSoftmax::TrainedSoftmax;

  void weigh(StridedMatrixMap scores, const Block& block) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const float share = 1.0F / static_cast<float>(block.seen_by(row));
      scores.row(row) = scores.row(row).unaryExpr([share](float x) { return relu(x) * share; });
    }
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const Block& block) const override {
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      const float share = 1.0F / static_cast<float>(block.seen_by(row));
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
  void weigh(StridedMatrixMap scores, const Block& block) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const std::int64_t keys = block.seen_by(row);
      scores.row(row).head(keys) *= scale_of(keys);  // 0 · −∞ is NaN
    }
    TrainedSoftmax::weigh(scores, block);
  }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const Block& block) const override {
    TrainedSoftmax::weight_gradients(weights, gradients, block);
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      gradients.row(row) *= scale_of(block.seen_by(row));
    }
  }

  double factor_, offset_;
};

/// W_ij = max(S_ij / p − τ_i, 0)^p, rows sum to 1. With V = ∂W/∂(S − pτ), that is W^((p − 1) / p):
/// dS = V ⊙ (dW − Σ_j V dW / Σ_j V).
template <int kPower>
class TrainedEntmax final : public TrainedSoftmax {
  using TrainedSoftmax::TrainedSoftmax;

  void weigh(StridedMatrixMap scores, const Block&) const override { entmax_rows(scores, kPower); }
  void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                        const Block&) const override {
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      const auto slope = weights.row(row).unaryExpr([](float weight) {
        return kPower == 1 ? (weight > 0 ? 1.0F : 0.0F) : std::sqrt(weight);
      });
      const float mean = slope.dot(gradients.row(row)) / slope.sum();
      gradients.row(row).array() = slope.array() * (gradients.row(row).array() - mean);
    }
  }
};

/// W_i = softmax_{j ≤ i}(S_ij − r (i − j)): forgetting attention whose tokens all have the gate
/// e^−r. Causal in every layer.
class TrainedForgetting final : public TrainedSoftmax {
 public:
  explicit TrainedForgetting(double rate) : TrainedSoftmax(true), rate_(rate) {}

 private:
  void weigh(StridedMatrixMap scores, const Block& block) const override {
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const std::int64_t seen = block.seen_by(row);
      scores.row(row).head(seen) -=
          Eigen::RowVectorXd::LinSpaced(seen, rate_ * static_cast<double>(seen - 1), 0)
              .cast<float>();
    }
    TrainedSoftmax::weigh(scores, block);
  }

  double rate_;
};

/// W_ij = γ^|i−j| S_ij of the keys that query i sees, γ = 1 − 2^(−e−h) in head h.
class TrainedRetention final : public TrainedSoftmax {
 public:
  TrainedRetention(bool causal, double exponent) : TrainedSoftmax(causal), exponent_(exponent) {}

 private:
  void weigh(StridedMatrixMap scores, const Block& block) const override { decay(scores, block); }
  void weight_gradients(const ConstStridedMatrixMap&, StridedMatrixMap gradients,
                        const Block& block) const override {
    decay(gradients, block);
  }

  /// Multiplies a block by the decays, which are 0 for keys that are not visible.
  void decay(StridedMatrixMap numbers, const Block& block) const {
    const double rate = std::log1p(-std::exp2(-exponent_ - static_cast<double>(block.head)));
    const std::int64_t distances = std::max(block.first + block.queries, block.keys);
    const Eigen::RowVectorXf powers =
        (rate * Eigen::RowVectorXd::LinSpaced(distances, 0, static_cast<double>(distances - 1)))
            .array()
            .exp()
            .cast<float>();
    for (std::int64_t row = 0; row < numbers.rows(); ++row) {
      const std::int64_t query = block.first + row, later = block.keys - query - 1;
      auto decayed = numbers.row(row).array();
      decayed.head(query + 1) *= powers.head(query + 1).reverse().array();
      if (block.causal) {
        decayed.tail(later).setZero();
      } else {
        decayed.tail(later) *= powers.segment(1, later).array();
      }
    }
  }

  double exponent_;  ///< e
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

std::unique_ptr<const TrainedAttention> make_trained_sink(const TrainedAttentionForm& form) {
  const TypedValues values(form.mechanism.parameters);
  return std::make_unique<TrainedSink>(form.causal, values.number("sink"));
}

std::unique_ptr<const TrainedAttention> make_trained_forgetting(const TrainedAttentionForm& form) {
  const TypedValues values(form.mechanism.parameters);
  return std::make_unique<TrainedForgetting>(values.number("rate"));
}

std::unique_ptr<const TrainedAttention> make_trained_retention(const TrainedAttentionForm& form) {
  const TypedValues values(form.mechanism.parameters);
  return std::make_unique<TrainedRetention>(form.causal, values.number("exponent"));
}

}  // namespace attnscope
