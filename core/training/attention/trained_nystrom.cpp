// Nyströmformer with its gradient (Xiong et al. 2021): softmax(s Q K̃ᵀ) Z softmax(s Q̃ Kᵀ) with the
// means Q̃ and K̃ of segments of the tokens, and Z ≈ P⁺, P = softmax(s Q̃ K̃ᵀ), by the iteration of
// core/attention/pooled_maps.cpp. The gradient runs back through the iteration.
#include <algorithm>
#include <cmath>

#include "core/attention/landmark_weights.h"
#include "core/attention/token_areas.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/landmark_product.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// softmax(scale · a bᵀ) with its gradient.
struct SoftmaxOfProducts {
  SoftmaxOfProducts(const MatrixD& a, const MatrixD& b, double scale)
      : weights(softmax_weights(a, b, scale)) {}

  /// Adds the gradients of a and b, given that of the weights.
  void add_gradients(const MatrixD& a, const MatrixD& b, double scale, const MatrixD& d_weights,
                     MatrixD& d_a, MatrixD& d_b) const {
    MatrixD d_scores = weights.cwiseProduct(d_weights);
    const Eigen::VectorXd sums = d_scores.rowwise().sum();
    d_scores -= sums.asDiagonal() * weights;
    d_a += scale * (d_scores * b);
    d_b += scale * (d_scores.transpose() * a);
  }

  MatrixD weights;
};

/// Z ← ¼ Z (13 − P Z (15 − P Z (7 − P Z))) from Z = Pᵀ / c.
class IteratedInverse {
 public:
  IteratedInverse(const MatrixD& weights, double divisor, std::int64_t iterations)
      : weights_(weights), divisor_(divisor), steps_{weights.transpose() / divisor} {
    for (std::int64_t i = 0; i < iterations; ++i) {
      const Step step(weights_, steps_.back());
      steps_.push_back(0.25 * (steps_.back() * step.outer));
    }
  }

  [[nodiscard]] const MatrixD& inverse() const { return steps_.back(); }

  /// Sets d_weights to the gradient of P, given that of Z, but for c. Returns the gradient of c.
  double backward(MatrixD d_inverse, MatrixD& d_weights) const {
    d_weights = MatrixD::Zero(weights_.rows(), weights_.cols());
    for (std::size_t i = steps_.size() - 1; i-- > 0;) {
      const MatrixD& z = steps_[i];
      const Step step(weights_, z);
      const MatrixD d_outer = 0.25 * (z.transpose() * d_inverse);
      const MatrixD d_middle = -step.product.transpose() * d_outer;
      const MatrixD d_product = step.product.transpose() * d_middle -
                                d_outer * step.middle.transpose() -
                                d_middle * step.inner.transpose();
      d_weights += d_product * z.transpose();
      d_inverse = 0.25 * (d_inverse * step.outer.transpose()) + weights_.transpose() * d_product;
    }
    d_weights += d_inverse.transpose() / divisor_;
    return -d_inverse.cwiseProduct(weights_.transpose()).sum() / (divisor_ * divisor_);
  }

 private:
  /// The parentheses of one iteration, from the inner one.
  struct Step {
    Step(const MatrixD& weights, const MatrixD& z)
        : product(weights * z),
          inner(from(7, product)),
          middle(from(15, product * inner)),
          outer(from(13, product * middle)) {}

    /// `number` · I − m.
    static MatrixD from(double number, const MatrixD& m) {
      return number * MatrixD::Identity(m.rows(), m.cols()) - m;
    }

    MatrixD product, inner, middle, outer;
  };

  MatrixD weights_;             ///< P
  double divisor_;              ///< c
  std::vector<MatrixD> steps_;  ///< Z before each iteration, and after the last
};

class TrainedNystrom final : public TrainedAttention {
 public:
  explicit TrainedNystrom(const TrainedAttentionForm& form)
      : softmax_(make_trained_softmax({.mechanism = {"softmax", {}}})) {
    const TypedValues values(form.mechanism.parameters);
    landmarks_ = values.whole("landmarks");
    iterations_ = values.whole("iterations");
    by_head_ = values.is("divisor", "head");
  }

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const override {
    if (is_softmax(all)) return softmax_->forward(all, output, room);
    const std::vector<Head> heads = heads_of(all);
    const std::vector<Divisor> divisors = divisors_of(heads);
    for (std::int64_t head = 0; head < all.heads; ++head) {
      const auto i = static_cast<std::size_t>(head);
      const MatrixD values = share_of_head(all.values, all.heads, head).cast<double>();
      share_of_head(output, all.heads, head) =
          map_of(heads[i], inverse_of(heads[i], divisors[i])).times(values).cast<float>();
    }
  }

  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const override {
    if (is_softmax(all)) return softmax_->backward(all, d_output, gradients, room);
    const std::vector<Head> heads = heads_of(all);
    const std::vector<Divisor> divisors = divisors_of(heads);
    std::vector<LandmarkGradients> passed;
    std::vector<MatrixD> d_inner(heads.size());
    std::vector<double> d_divisors;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto head = static_cast<std::int64_t>(i);
      const IteratedInverse inverse = inverse_of(heads[i], divisors[i]);
      passed.emplace_back(map_of(heads[i], inverse),
                          share_of_head(all.values, all.heads, head).cast<double>(),
                          share_of_head(d_output, all.heads, head).cast<double>());
      d_divisors.push_back(inverse.backward(passed.back().inverse, d_inner[i]));
      share_of_head(gradients.values, all.heads, head) = passed.back().values.cast<float>();
    }
    for (std::size_t i = 0; i < heads.size(); ++i) {
      d_inner[divisors[i].head].col(divisors[i].column).array() += d_divisors[i];
    }
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto head = static_cast<std::int64_t>(i);
      scores_backward(heads[i], passed[i], d_inner[i],
                      share_of_head(gradients.queries, all.heads, head),
                      share_of_head(gradients.keys, all.heads, head));
    }
  }

 private:
  struct Head {
    MatrixD queries, keys, query_landmarks, key_landmarks;
    double scale;                          ///< s
    SoftmaxOfProducts left, inner, right;  ///< the outer softmaxes, and P between them
  };

  /// c of a head, the sum of a column of a head's P.
  struct Divisor {
    double value = 0;
    std::size_t head = 0;
    Eigen::Index column = 0;
  };

  [[nodiscard]] bool is_softmax(const AttentionTensors& all) const {
    return landmarks_ >= std::min(all.queries.rows(), all.keys.rows());
  }

  [[nodiscard]] std::vector<Head> heads_of(const AttentionTensors& all) const {
    std::vector<Head> heads;
    for (std::int64_t head = 0; head < all.heads; ++head) {
      const MatrixD queries = share_of_head(all.queries, all.heads, head).cast<double>();
      const MatrixD keys = share_of_head(all.keys, all.heads, head).cast<double>();
      const MatrixD of_queries = segment_means(queries, landmarks_);
      const MatrixD of_keys = segment_means(keys, landmarks_);
      const double scale = 1 / std::sqrt(static_cast<double>(keys.cols()));
      heads.push_back({queries, keys, of_queries, of_keys, scale,
                       SoftmaxOfProducts(queries, of_keys, scale),
                       SoftmaxOfProducts(of_queries, of_keys, scale),
                       SoftmaxOfProducts(of_queries, keys, scale)});
    }
    return heads;
  }

  /// The divisor of every head: the largest of the layer, or each head's own.
  [[nodiscard]] std::vector<Divisor> divisors_of(const std::vector<Head>& heads) const {
    std::vector<Divisor> divisors;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      Divisor own{.head = i};
      own.value = heads[i].inner.weights.colwise().sum().maxCoeff(&own.column);
      divisors.push_back(own);
    }
    if (!by_head_) {
      const Divisor largest = *std::ranges::max_element(divisors, {}, &Divisor::value);
      std::ranges::fill(divisors, largest);
    }
    return divisors;
  }

  [[nodiscard]] IteratedInverse inverse_of(const Head& head, const Divisor& divisor) const {
    return {head.inner.weights, divisor.value, iterations_};
  }

  static LandmarkMap map_of(const Head& head, const IteratedInverse& inverse) {
    return {head.left.weights, inverse.inverse(), head.right.weights};
  }

  static void scores_backward(const Head& head, const LandmarkGradients& passed,
                              const MatrixD& d_inner, StridedMatrixMap d_queries,
                              StridedMatrixMap d_keys) {
    MatrixD of_queries = MatrixD::Zero(head.queries.rows(), head.queries.cols()),
            of_keys = MatrixD::Zero(head.keys.rows(), head.keys.cols()),
            of_query_landmarks = MatrixD::Zero(d_inner.rows(), head.queries.cols()),
            of_key_landmarks = MatrixD::Zero(d_inner.cols(), head.keys.cols());
    head.left.add_gradients(head.queries, head.key_landmarks, head.scale, passed.left, of_queries,
                            of_key_landmarks);
    head.inner.add_gradients(head.query_landmarks, head.key_landmarks, head.scale, d_inner,
                             of_query_landmarks, of_key_landmarks);
    head.right.add_gradients(head.query_landmarks, head.keys, head.scale, passed.right,
                             of_query_landmarks, of_keys);
    d_queries = of_queries.cast<float>();
    d_keys = of_keys.cast<float>();
    add_segment_gradients(of_query_landmarks, d_queries);
    add_segment_gradients(of_key_landmarks, d_keys);
  }

  std::int64_t landmarks_, iterations_;
  bool by_head_;  ///< c is that of the head
  std::unique_ptr<const TrainedAttention> softmax_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_nystrom(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedNystrom>(form);
}

}  // namespace attnscope
