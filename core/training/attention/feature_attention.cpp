#include "core/training/attention/feature_attention.h"

#include <algorithm>

namespace attnscope {

/// S [F, dv] and z [F], of the tokens that were added.
template <class Scalar>
struct FeatureAttention<Scalar>::Sums {
  Sums(Eigen::Index features, Eigen::Index width)
      : products(Rows::Zero(features, width)), total(Row::Zero(features)) {}

  /// Of a left side [n, F] and a right one [n, dv], with factors [n] of what is in z.
  template <class Left, class Right, class Factors>
  void add(const Left& left, const Right& right, const Factors& factors) {
    products.noalias() += left.transpose() * right;
    total.noalias() += factors.transpose() * left;
  }

  Rows products;
  Row total;
};

template <class Scalar>
void FeatureAttention<Scalar>::forward_head(const HeadTensors& head, StridedMatrixMap output,
                                            AttentionRoom&) const {
  const Features phi = features(head);
  const Rows values = head.values.template cast<Scalar>();
  const Eigen::Index tokens = values.rows();
  const Rows ones = Rows::Ones(tokens, 1);
  Sums sums(phi.keys.cols(), values.cols());
  if (!causal_) {
    sums.add(phi.keys, values, ones);
    const Rows above = phi.queries * sums.products;
    for (Eigen::Index i = 0; i < tokens; ++i) {
      const Scalar below = std::max(phi.queries.row(i).dot(sums.total), least_);
      output.row(i) = (above.row(i) / below).template cast<float>();
    }
    return;
  }
  for (Eigen::Index i = 0; i < tokens; ++i) {
    sums.add(phi.keys.row(i), values.row(i), ones.row(i));
    const Scalar below = std::max(phi.queries.row(i).dot(sums.total), least_);
    output.row(i) = (phi.queries.row(i) * sums.products / below).template cast<float>();
  }
}

template <class Scalar>
void FeatureAttention<Scalar>::backward_head(const HeadTensors& head,
                                             const ConstStridedMatrixMap& d_output,
                                             HeadGradients gradients, AttentionRoom&) const {
  const Features phi = features(head);
  const Rows values = head.values.template cast<Scalar>();
  const Eigen::Index tokens = values.rows(), count = phi.keys.cols(), width = values.cols();
  const Rows ones = Rows::Ones(tokens, 1);
  Features d_phi{Rows(tokens, count), Rows(tokens, count)};
  // Of the numerators φ(q_i)·S, [N, dv], and of the denominators, [N, 1].
  Rows d_above(tokens, width), d_below(tokens, 1);
  Sums sums(count, width);
  if (!causal_) sums.add(phi.keys, values, ones);
  for (Eigen::Index i = 0; i < tokens; ++i) {
    if (causal_) sums.add(phi.keys.row(i), values.row(i), ones.row(i));
    const Scalar below = phi.queries.row(i).dot(sums.total);
    const Row output = phi.queries.row(i) * sums.products / std::max(below, least_);
    d_above.row(i) = d_output.row(i).template cast<Scalar>() / std::max(below, least_);
    d_below(i, 0) = below < least_ ? Scalar{0} : -d_above.row(i).dot(output);
    d_phi.queries.row(i).noalias() = d_above.row(i) * sums.products.transpose();
    d_phi.queries.row(i) += d_below(i, 0) * sums.total;
  }
  // Of S and z: by the queries from j on, or all of them.
  Sums d_sums(count, width);
  if (!causal_) d_sums.add(phi.queries, d_above, d_below);
  for (Eigen::Index j = tokens - 1; j >= 0; --j) {
    if (causal_) d_sums.add(phi.queries.row(j), d_above.row(j), d_below.row(j));
    gradients.values.row(j) = (phi.keys.row(j) * d_sums.products).template cast<float>();
    d_phi.keys.row(j).noalias() = values.row(j) * d_sums.products.transpose();
    d_phi.keys.row(j) += d_sums.total;
  }
  features_backward(head, phi, d_phi, gradients);
}

template class FeatureAttention<float>;
template class FeatureAttention<double>;

}  // namespace attnscope
