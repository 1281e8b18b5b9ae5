// The linear attentions of core/attention/rotary_maps.cpp with their gradient: RALA (Fan et al.
// 2025) and MLLA (Han et al. 2024).
#include <cmath>

#include "core/attention/narrow_map.h"
#include "core/attention/rotary_features.h"
#include "core/training/attention/feature_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// The columns of head `head` in [N, heads · d].
template <class Rows>
auto of_rotary_head(Rows& rows, std::int64_t head, std::int64_t heads) {
  return rows.middleCols(head * (rows.cols() / heads), rows.cols() / heads);
}

/// The products of the features R φ(q_i) / n_i and R u_j with n_i = φ(q_i)·Σ_j u_j + ε M and
/// u_j = κ_j φ(k_j), φ = 1 + elu. RALA has κ = M softmax_j(q̄·φ(k_j) / √d) with the mean q̄ of
/// φ(q), and turns each head; MLLA has κ = 1, and turns all channels.
class TrainedRotary final : public TrainedAttention {
 public:
  explicit TrainedRotary(const TrainedAttentionForm& form)
      : layout_(form.layout), augmented_(form.mechanism.name == "rala") {}

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const override {
    const Features made = features_of(all);
    products_.forward(tensors(made, all), output, room);
  }

  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const override {
    const Features made = features_of(all);
    Matrix left(made.left.rows(), made.left.cols()), right(made.right.rows(), made.right.cols());
    products_.backward(tensors(made, all), d_output,
                       {rows_of(left), rows_of(right), gradients.values}, room);
    // Gradients of R φ(q) / n, then of φ(q); and of R u, then of u, then of φ(k).
    MatrixD d_queries = left.cast<double>(), d_keys = right.cast<double>();
    MatrixD d_divisors(d_queries.rows(), all.heads);
    for (std::int64_t head = 0; head < all.heads; ++head) {
      auto passed = of_rotary_head(d_queries, head, all.heads);
      const Eigen::ArrayXd divisors = made.divisors.col(head).array();
      const auto weights = of_rotary_head(made.left, head, all.heads).cast<double>();
      d_divisors.col(head) = -passed.cwiseProduct(weights).rowwise().sum().array() / divisors;
      passed.array().colwise() /= divisors;
    }
    turn(all, d_queries, -1);
    turn(all, d_keys, -1);
    for (std::int64_t head = 0; head < all.heads; ++head) {
      auto d_query = of_rotary_head(d_queries, head, all.heads),
           d_key = of_rotary_head(d_keys, head, all.heads);
      const auto queries = of_rotary_head(made.queries, head, all.heads);
      const Eigen::RowVectorXd key_sum =
          made.key_weights.col(head).transpose() * of_rotary_head(made.keys, head, all.heads);
      const Eigen::RowVectorXd d_key_sum = d_divisors.col(head).transpose() * queries;
      d_query += d_divisors.col(head) * key_sum;
      d_key.rowwise() += d_key_sum;
      if (augmented_) weights_backward(made, head, all.heads, d_query, d_key);
    }
    // The derivative of 1 + elu is itself where it is below 1.
    gradients.queries = (d_queries.array() * made.queries.array().min(1)).matrix().cast<float>();
    gradients.keys = (d_keys.array() * made.keys.array().min(1)).matrix().cast<float>();
  }

 private:
  struct Features {
    MatrixD queries, keys;     ///< φ(q) and φ(k)
    MatrixD key_weights = {};  ///< κ, [M, H]
    MatrixD divisors = {};     ///< n, [N, H]
    Matrix left = {}, right = {};
  };

  void turn(const AttentionTensors& all, MatrixD& rows, double direction) const {
    const std::int64_t channels = rows.cols();
    const TokenTurns turns =
        augmented_ ? rala_turns(&layout_, rows.rows(), all.heads, channels / all.heads)
                   : mlla_turns(&layout_, rows.rows(), channels);
    for (Eigen::Index token = 0; token < rows.rows(); ++token) turns.turn(token, rows, direction);
  }

  [[nodiscard]] Features features_of(const AttentionTensors& all) const {
    Features made{.queries = elu_features(all.queries), .keys = elu_features(all.keys)};
    made.key_weights = MatrixD::Ones(made.keys.rows(), all.heads);
    made.divisors.resize(made.queries.rows(), all.heads);
    MatrixD left = made.queries, right = made.keys;
    for (std::int64_t head = 0; head < all.heads; ++head) {
      const auto queries = of_rotary_head(made.queries, head, all.heads);
      auto keys = of_rotary_head(right, head, all.heads);
      if (augmented_) {
        made.key_weights.col(head) = rala_key_weights(queries, keys);
        keys.array().colwise() *= made.key_weights.col(head).array();
      }
      made.divisors.col(head) = queries * keys.colwise().sum().transpose();
    }
    made.divisors.array() += kQuotientOffset * static_cast<double>(right.rows());
    turn(all, left, 1);
    turn(all, right, 1);
    for (std::int64_t head = 0; head < all.heads; ++head) {
      of_rotary_head(left, head, all.heads).array().colwise() /= made.divisors.col(head).array();
    }
    made.left = left.cast<float>();
    made.right = right.cast<float>();
    return made;
  }

  static AttentionTensors tensors(const Features& made, const AttentionTensors& all) {
    return {rows_of(made.left), rows_of(made.right), all.values, all.heads};
  }

  /// Turns the gradient of u into that of φ(k), and adds that of the mean of φ(q).
  template <class Part>
  static void weights_backward(const Features& made, std::int64_t head, std::int64_t heads,
                               Part& d_query, Part& d_key) {
    const auto queries = of_rotary_head(made.queries, head, heads),
               keys = of_rotary_head(made.keys, head, heads);
    const Eigen::ArrayXd weights = made.key_weights.col(head).array();
    const Eigen::ArrayXd d_weights = d_key.cwiseProduct(keys).rowwise().sum().array();
    const double scale = 1 / std::sqrt(static_cast<double>(keys.cols()));
    const Eigen::VectorXd d_scores = scale * weights * (d_weights - (weights * d_weights).mean());
    d_key.array().colwise() *= weights;
    const Eigen::RowVectorXd mean = queries.colwise().mean(), d_mean = d_scores.transpose() * keys;
    d_key += d_scores * mean;
    d_query.rowwise() += d_mean / static_cast<double>(queries.rows());
  }

  TokenLayout layout_;
  bool augmented_;  ///< RALA
  FeatureProducts products_{{.one = true}};
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_rotary(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedRotary>(form);
}

}  // namespace attnscope
