// Additive attention with its gradient (Wu et al. 2021, Eq. 3; Fastformer-LM, Eq. 4 to 8): each
// token's importance is its key's product with the first token's query, as in models without
// importance vectors of their own.
#include <cmath>

#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/trained_attention.h"

namespace attnscope {

namespace {

/// o_i = Σ_j e_j v_j / Σ_j e_j with e_j = exp(q_0 · k_j / √d), over all j or over j ≤ i. Sums are
/// in double: prefixes are right where importances differ by less than e⁷⁰⁰.
class TrainedAdditive final : public TrainedAttention {
 public:
  explicit TrainedAdditive(bool causal) : causal_(causal) {}

  void forward(const HeadTensors& head, StridedMatrixMap output, AttentionRoom&) const override {
    const Eigen::VectorXd importance = importance_of(head);
    Pool pool(head);
    if (!causal_) pool.add_all(head, importance);
    for (Eigen::Index i = 0; i < output.rows(); ++i) {
      if (causal_) pool.add(head, importance, i);
      output.row(i) = (pool.above / pool.below).cast<float>();
    }
  }

  void backward(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                HeadGradients gradients, AttentionRoom&) const override {
    const Eigen::VectorXd importance = importance_of(head);
    const Eigen::Index tokens = head.keys.rows();
    MatrixD d_above(tokens, head.values.cols());
    Eigen::VectorXd d_below(tokens);
    Pool pool(head);
    if (!causal_) pool.add_all(head, importance);
    for (Eigen::Index i = 0; i < tokens; ++i) {
      if (causal_) pool.add(head, importance, i);
      d_above.row(i) = d_output.row(i).cast<double>() / pool.below;
      d_below[i] = -d_above.row(i).dot(pool.above) / pool.below;
    }
    // What token j is part of: the queries from j on, or all of them.
    RowD sum = RowD::Zero(head.values.cols()), first = RowD::Zero(head.keys.cols());
    double total = 0;
    if (!causal_) {
      sum = d_above.colwise().sum();
      total = d_below.sum();
    }
    const double scale = 1 / std::sqrt(static_cast<double>(head.keys.cols()));
    for (Eigen::Index j = tokens - 1; j >= 0; --j) {
      if (causal_) {
        sum += d_above.row(j);
        total += d_below[j];
      }
      gradients.values.row(j) = (importance[j] * sum).cast<float>();
      const double d_logit =
          scale * importance[j] * (head.values.row(j).cast<double>().dot(sum) + total);
      gradients.keys.row(j) = (d_logit * head.queries.row(0).cast<double>()).cast<float>();
      first += d_logit * head.keys.row(j).cast<double>();
    }
    gradients.queries.setZero();
    gradients.queries.row(0) = first.cast<float>();
  }

 private:
  using RowD = Eigen::RowVectorXd;

  /// e_j, the greatest of which is 1.
  static Eigen::VectorXd importance_of(const HeadTensors& head) {
    const double scale = 1 / std::sqrt(static_cast<double>(head.keys.cols()));
    const Eigen::VectorXd logits =
        scale * (head.keys.cast<double>() * head.queries.row(0).cast<double>().transpose());
    return (logits.array() - logits.maxCoeff()).exp();
  }

  /// Σ e_j v_j and Σ e_j of the tokens that were added.
  struct Pool {
    explicit Pool(const HeadTensors& head) : above(RowD::Zero(head.values.cols())) {}
    void add(const HeadTensors& head, const Eigen::VectorXd& importance, Eigen::Index j) {
      above += importance[j] * head.values.row(j).cast<double>();
      below += importance[j];
    }
    void add_all(const HeadTensors& head, const Eigen::VectorXd& importance) {
      for (Eigen::Index j = 0; j < importance.size(); ++j) add(head, importance, j);
    }
    RowD above;
    double below = 0;
  };

  bool causal_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_additive(const TrainedAttentionForm& form) {
  const TypedValues read(form.mechanism.parameters);
  if (read.whole("window") > 0) {
    throw Error(ErrorKind::unsupported, "additive attention within windows has no gradient yet")
        .about("window")
        .expected("0")
        .found(std::to_string(read.whole("window")));
  }
  return std::make_unique<TrainedAdditive>(form.causal || read.flag("causal"));
}

}  // namespace attnscope
