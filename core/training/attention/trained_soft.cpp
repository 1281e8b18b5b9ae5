// SOFT with its gradient (Lu et al. 2021): κ(Q, G) Z κ(G, K), κ(a, b) = exp(−½ s ‖a − b‖²), with
// the landmarks G, means of areas of the queries, and Z ≈ κ(G, G)⁻¹ by Newton's iteration
// (core/attention/pooled_maps.cpp). The gradient runs back through the iteration. The authors'
// layer has K = Q and may convolve its landmarks; this one has keys of its own, and does not.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/attention/landmark_weights.h"
#include "core/attention/token_areas.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/landmark_product.h"
#include "core/training/attention/trained_heads.h"

namespace attnscope {

namespace {

/// Adds the gradients of a and b, given the weights of both and the gradient of the weights.
void add_gaussian_gradients(const MatrixD& a, const MatrixD& b, const MatrixD& weights,
                            const MatrixD& d_weights, MatrixD& d_a, MatrixD& d_b) {
  const MatrixD d_exponents = weights.cwiseProduct(d_weights);
  const Eigen::VectorXd of_a = d_exponents.rowwise().sum(), of_b = d_exponents.colwise().sum();
  d_a += d_exponents * b - of_a.asDiagonal() * a;
  d_b += d_exponents.transpose() * a - of_b.asDiagonal() * b;
}

/// Newton's iteration Z ← 2 Z − Z P′ Z from Z = 1.8 P′ / c², with P′ = P + 0.01 I and the largest
/// sum c of a row of P.
class NewtonInverse {
 public:
  NewtonInverse(MatrixD weights, std::int64_t iterations) : weights_(std::move(weights)) {
    largest_ = weights_.rowwise().sum().maxCoeff(&row_);
    weights_.diagonal().array() += 0.01;
    steps_.push_back(1.8 / (largest_ * largest_) * weights_);
    for (std::int64_t i = 0; i < iterations; ++i) {
      const MatrixD& z = steps_.back();
      steps_.push_back(2 * z - z * (weights_ * z));
    }
  }

  [[nodiscard]] const MatrixD& inverse() const { return steps_.back(); }

  /// The gradient of P, given that of Z.
  [[nodiscard]] MatrixD backward(MatrixD d_inverse) const {
    MatrixD d_weights = MatrixD::Zero(weights_.rows(), weights_.cols());
    for (std::size_t i = steps_.size() - 1; i-- > 0;) {
      const MatrixD& z = steps_[i];
      const MatrixD passed = d_inverse * z.transpose(), left = z.transpose() * d_inverse;
      d_weights -= z.transpose() * passed;
      d_inverse = 2 * d_inverse - passed * weights_.transpose() - weights_.transpose() * left;
    }
    const double factor = 1.8 / (largest_ * largest_);
    d_weights += factor * d_inverse;
    d_weights.row(row_).array() -= 2 * factor / largest_ * d_inverse.cwiseProduct(weights_).sum();
    return d_weights;
  }

 private:
  MatrixD weights_;  ///< P′
  double largest_;   ///< c
  Eigen::Index row_ = 0;
  std::vector<MatrixD> steps_;  ///< Z before each iteration, and after the last
};

class TrainedSoft final : public TrainedHeads {
 public:
  explicit TrainedSoft(const TrainedAttentionForm& form) : layout_(form.layout) {
    const TypedValues values(form.mechanism.parameters);
    landmarks_ = values.whole("landmarks");
    iterations_ = values.whole("iterations");
    if (form.shape.queries > 0) (void)areas_of(form.shape.queries);
  }

 private:
  /// Queries and keys times √s, landmarks, and the map of a head.
  struct Parts {
    MatrixD queries, keys, landmarks;
    NewtonInverse newton;
    LandmarkMap map;
  };

  [[nodiscard]] TokenAreas areas_of(std::int64_t tokens) const {
    return {&layout_, tokens, landmarks_, "soft", "landmarks"};
  }

  [[nodiscard]] static double root_of_scale(const HeadTensors& head) {
    return 1 / std::sqrt(std::sqrt(static_cast<double>(head.keys.cols())));
  }

  [[nodiscard]] Parts parts_of(const HeadTensors& head) const {
    const MatrixD queries = root_of_scale(head) * head.queries.cast<double>();
    const MatrixD keys = root_of_scale(head) * head.keys.cast<double>();
    const MatrixD landmarks = areas_of(queries.rows()).means(queries);
    const NewtonInverse newton(gaussian_weights(landmarks, landmarks), iterations_);
    return {queries,
            keys,
            landmarks,
            newton,
            {gaussian_weights(queries, landmarks), newton.inverse(),
             gaussian_weights(landmarks, keys)}};
  }

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom&) const override {
    output = parts_of(head).map.times(head.values.cast<double>()).cast<float>();
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom&) const override {
    const Parts parts = parts_of(head);
    const LandmarkGradients passed(parts.map, head.values.cast<double>(), d_output.cast<double>());
    MatrixD d_queries = MatrixD::Zero(parts.queries.rows(), parts.queries.cols()),
            d_keys = MatrixD::Zero(parts.keys.rows(), parts.keys.cols()),
            d_landmarks = MatrixD::Zero(parts.landmarks.rows(), parts.landmarks.cols());
    add_gaussian_gradients(parts.queries, parts.landmarks, parts.map.left, passed.left, d_queries,
                           d_landmarks);
    add_gaussian_gradients(parts.landmarks, parts.keys, parts.map.right, passed.right, d_landmarks,
                           d_keys);
    add_gaussian_gradients(parts.landmarks, parts.landmarks,
                           gaussian_weights(parts.landmarks, parts.landmarks),
                           parts.newton.backward(passed.inverse), d_landmarks, d_landmarks);
    const double root = root_of_scale(head);
    gradients.queries = (root * d_queries).cast<float>();
    gradients.keys = (root * d_keys).cast<float>();
    gradients.values = passed.values.cast<float>();
    areas_of(d_queries.rows()).add_gradients(root * d_landmarks, gradients.queries);
  }

  TokenLayout layout_;
  std::int64_t landmarks_;   ///< k
  std::int64_t iterations_;  ///< number of Newton's iterations
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_soft(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedSoft>(form);
}

}  // namespace attnscope
