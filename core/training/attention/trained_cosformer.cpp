// cosFormer with its gradient (Qin et al. 2022, Section 3).
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/feature_attention.h"

namespace attnscope {

namespace {

// Lower bound of the sum of a row's weights, for rows without a positive channel.
constexpr double kLeastTrainedSum = 1e-6;

/// φ(x) of the token at i: relu(x) cos(π/2 · i/M) and relu(x) sin(π/2 · i/M).
class TrainedCosFormer final : public FeatureAttention<double> {
 public:
  /// `span` is M; 0 means the number of tokens.
  TrainedCosFormer(bool causal, std::int64_t span)
      : FeatureAttention(causal, {.least = kLeastTrainedSum}), span_(span) {}

 private:
  [[nodiscard]] double angle(Eigen::Index i, Eigen::Index tokens) const {
    const auto span = static_cast<double>(span_ > 0 ? span_ : tokens);
    return std::numbers::pi / 2 * static_cast<double>(i) / span;
  }

  [[nodiscard]] MatrixD phi(const ConstStridedMatrixMap& rows) const {
    const Eigen::Index d = rows.cols();
    MatrixD both(rows.rows(), 2 * d);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const auto positive = rows.row(i).cwiseMax(0).cast<double>();
      both.row(i).head(d) = std::cos(angle(i, rows.rows())) * positive;
      both.row(i).tail(d) = std::sin(angle(i, rows.rows())) * positive;
    }
    return both;
  }

  void phi_backward(const ConstStridedMatrixMap& rows, const MatrixD& d_both,
                    StridedMatrixMap d_rows) const {
    const Eigen::Index d = rows.cols();
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const Eigen::RowVectorXd sum = std::cos(angle(i, rows.rows())) * d_both.row(i).head(d) +
                                     std::sin(angle(i, rows.rows())) * d_both.row(i).tail(d);
      d_rows.row(i) = (rows.row(i).array() > 0).select(sum.cast<float>(), 0.0F);
    }
  }

  [[nodiscard]] Features features(const HeadTensors& head) const override {
    return {phi(head.queries), phi(head.keys)};
  }

  void features_backward(const HeadTensors& head, const Features&, const Features& d_features,
                         HeadGradients gradients) const override {
    phi_backward(head.queries, d_features.queries, gradients.queries);
    phi_backward(head.keys, d_features.keys, gradients.keys);
  }

  std::int64_t span_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_cosformer(const TrainedAttentionForm& form) {
  constexpr std::int64_t kUsualText = 1024;  // default of the mechanism
  const std::int64_t chosen = TypedValues(form.mechanism.parameters).whole("span");
  const std::int64_t span = chosen == 0 && form.causal ? kUsualText : chosen;
  if (span > 0 && span < form.shape.queries) {
    throw Error(ErrorKind::usage, "the cosine turns negative beyond M tokens")
        .about("cosformer span")
        .expected(std::to_string(form.shape.queries) + " or more")
        .found(std::to_string(span))
        .remedy("set span=" + std::to_string(form.shape.queries));
  }
  return std::make_unique<TrainedCosFormer>(form.causal, span);
}

}  // namespace attnscope
