// Linear attention with the features of core/attention/feature_maps.cpp, with its gradient: focused
// (Han et al. 2023), InLine (Han et al. 2024, Eq. 5) and SimA (Koohpayegani & Pirsiavash 2022).
#include <algorithm>
#include <cmath>

#include "core/attention/narrow_map.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/feature_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

constexpr double kFocusedOffset = 1e-6;  // ε of the features
constexpr double kLeastChannelNorm = 1e-12;

/// φ(x) = ‖u‖ u^p / ‖u^p‖ over all channels of a token, u = (max(x, 0) + ε) / softplus(scale).
class TrainedFocused final : public TrainedAttention {
 public:
  explicit TrainedFocused(const TrainedAttentionForm& form)
      : scale_(own_parameter(form, "scale", Initialisation::zeros)),
        power_(TypedValues(form.mechanism.parameters).number("power")) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override { return {scale_}; }

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const override {
    const Matrix queries = features(all.queries, all.own[0]), keys = features(all.keys, all.own[0]);
    products_.forward({rows_of(queries), rows_of(keys), all.values, all.heads}, output, room);
  }

  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const override {
    const Matrix queries = features(all.queries, all.own[0]), keys = features(all.keys, all.own[0]);
    Matrix d_queries(queries.rows(), queries.cols()), d_keys(keys.rows(), keys.cols());
    products_.backward({rows_of(queries), rows_of(keys), all.values, all.heads}, d_output,
                       {rows_of(d_queries), rows_of(d_keys), gradients.values}, room);
    features_backward(all.queries, d_queries, all.own[0], gradients.queries, gradients.own[0]);
    features_backward(all.keys, d_keys, all.own[0], gradients.keys, gradients.own[0]);
  }

 private:
  using Row = Eigen::ArrayXd;

  /// u of a token, and its shares u / max u, whose powers stay within range.
  struct Channels {
    Row u, shares, powers;
    double largest;
    /// The factor of the powers in φ.
    [[nodiscard]] double ratio() const { return u.matrix().norm() / powers.matrix().norm(); }
  };

  static Row softplus(const float* scale, Eigen::Index channels) {
    const Row x = Eigen::Map<const Eigen::ArrayXf>(scale, channels).cast<double>();
    return x.max(0.0) + (-x.abs()).exp().log1p();
  }

  [[nodiscard]] Channels channels_of(const ConstStridedMatrixMap& rows, Eigen::Index token,
                                     const Row& divisors) const {
    Channels made;
    made.u =
        (rows.row(token).transpose().array().max(0.0F).cast<double>() + kFocusedOffset) / divisors;
    made.largest = made.u.maxCoeff();
    made.shares = made.u / made.largest;
    made.powers = made.shares.pow(power_);
    return made;
  }

  [[nodiscard]] Matrix features(const ConstStridedMatrixMap& rows, const float* scale) const {
    const Row divisors = softplus(scale, rows.cols());
    Matrix made(rows.rows(), rows.cols());
    for (Eigen::Index token = 0; token < rows.rows(); ++token) {
      const Channels channels = channels_of(rows, token, divisors);
      made.row(token) = (channels.powers * channels.ratio()).matrix().transpose().cast<float>();
    }
    return made;
  }

  /// Sets the gradient of the rows and adds to that of `scale`. With the direction n = u^p / ‖u^p‖
  /// and the gradient g of φ = ‖u‖ n, dn = ‖u‖ g, and a change along n has no effect on n.
  void features_backward(const ConstStridedMatrixMap& rows, const Matrix& d_features,
                         const float* scale, StridedMatrixMap d_rows, float* d_scale) const {
    const Row divisors = softplus(scale, rows.cols());
    Row d_divisors = Row::Zero(rows.cols());
    for (Eigen::Index token = 0; token < rows.rows(); ++token) {
      const Channels channels = channels_of(rows, token, divisors);
      const Row d_phi = d_features.row(token).transpose().array().cast<double>();
      const Row direction = channels.powers / channels.powers.matrix().norm();
      const double length = channels.u.matrix().norm(), along = (d_phi * direction).sum();
      const Row d_u = channels.u * (along / length) +
                      (d_phi - direction * along) * channels.powers / channels.shares *
                          (channels.ratio() * power_ / channels.largest);
      d_divisors -= d_u * channels.u / divisors;
      d_rows.row(token) =
          (rows.row(token).array() > 0)
              .select((d_u / divisors).matrix().transpose().cast<float>().array(), 0.0F);
    }
    // The derivative of softplus is σ.
    for (Eigen::Index c = 0; c < rows.cols(); ++c) {
      d_scale[c] +=
          static_cast<float>(d_divisors(c) / (1 + std::exp(-static_cast<double>(scale[c]))));
    }
  }

  OwnParameter scale_;  ///< [C], whose softplus divides queries and keys
  double power_;        ///< p
  FeatureProducts products_{{.per_key = kQuotientOffset}};
};

/// The features [s q_i / M, 1 / M] and [k_j − k̄, 1], s = 1/√d.
class TrainedInLine final : public FeatureAttention<float> {
 public:
  TrainedInLine() : FeatureAttention(false, {.one = true}) {}

 private:
  static float share(const HeadTensors& head) {
    return 1.0F / static_cast<float>(head.keys.rows());
  }
  static float scaled_share(const HeadTensors& head) {
    return share(head) / std::sqrt(static_cast<float>(head.keys.cols()));
  }
  static Eigen::RowVectorXf means(const ConstStridedMatrixMap& rows) {
    return rows.cast<double>().colwise().mean().cast<float>();
  }

  [[nodiscard]] Features features(const HeadTensors& head) const override {
    const Eigen::Index d = head.keys.cols();
    Features made{Matrix(head.queries.rows(), d + 1), Matrix(head.keys.rows(), d + 1)};
    made.queries.leftCols(d) = scaled_share(head) * head.queries;
    made.queries.col(d).setConstant(share(head));
    made.keys.leftCols(d) = head.keys.rowwise() - means(head.keys);
    made.keys.col(d).setOnes();
    return made;
  }

  void features_backward(const HeadTensors& head, const Features&, const Features& d_features,
                         HeadGradients gradients) const override {
    const Eigen::Index d = head.keys.cols();
    gradients.queries = scaled_share(head) * d_features.queries.leftCols(d);
    gradients.keys = d_features.keys.leftCols(d);
    gradients.keys.rowwise() -= means(seen(gradients.keys));
  }
};

/// Each channel of queries and of keys over its norm n = Σ_i |x_i|: dx = (dφ − sign(x) Σ_i φ dφ) /
/// n.
class TrainedSimA final : public FeatureAttention<float> {
 public:
  TrainedSimA() : FeatureAttention(false, {.one = true}) {}

 private:
  static Eigen::RowVectorXd norms(const ConstStridedMatrixMap& rows) {
    return rows.cast<double>().cwiseAbs().colwise().sum();
  }

  static Matrix over_norms(const ConstStridedMatrixMap& rows) {
    const Eigen::RowVectorXd divisors = norms(rows).cwiseMax(kLeastChannelNorm);
    return (rows.cast<double>().array().rowwise() / divisors.array()).cast<float>();
  }

  static void backward_over_norms(const ConstStridedMatrixMap& rows, const Matrix& features,
                                  const Matrix& d_features, StridedMatrixMap d_rows) {
    const Eigen::RowVectorXd sums = norms(rows);
    for (Eigen::Index c = 0; c < rows.cols(); ++c) {
      const bool varies = !(sums[c] < kLeastChannelNorm);
      const auto along =
          varies ? features.col(c).cast<double>().dot(d_features.col(c).cast<double>()) : 0.0;
      d_rows.col(c) =
          ((d_features.col(c).cast<double>() - along * rows.col(c).cwiseSign().cast<double>()) /
           std::max(sums[c], kLeastChannelNorm))
              .cast<float>();
    }
  }

  [[nodiscard]] Features features(const HeadTensors& head) const override {
    return {over_norms(head.queries), over_norms(head.keys)};
  }

  void features_backward(const HeadTensors& head, const Features& features,
                         const Features& d_features, HeadGradients gradients) const override {
    backward_over_norms(head.queries, features.queries, d_features.queries, gradients.queries);
    backward_over_norms(head.keys, features.keys, d_features.keys, gradients.keys);
  }
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_focused(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedFocused>(form);
}

std::unique_ptr<const TrainedAttention> make_trained_inline(const TrainedAttentionForm&) {
  return std::make_unique<TrainedInLine>();
}

std::unique_ptr<const TrainedAttention> make_trained_sima(const TrainedAttentionForm&) {
  return std::make_unique<TrainedSimA>();
}

}  // namespace attnscope
