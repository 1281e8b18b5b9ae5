#include "core/training/attention/feature_attention.h"

#include <algorithm>

#include "core/tensor/blas.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

// Matrix products: float ones use BLAS, double ones Eigen.

void product(const Matrix& a, const Matrix& b, Matrix& out) {
  multiply(rows_of(a), rows_of(b), 1.0F, rows_of(out));
}
void product(const MatrixD& a, const MatrixD& b, MatrixD& out) { out.noalias() = a * b; }

/// out = a bᵀ.
void product_transposed(const Matrix& a, const Matrix& b, Matrix& out) {
  multiply_transposed(rows_of(a), rows_of(b), 1.0F, rows_of(out));
}
void product_transposed(const MatrixD& a, const MatrixD& b, MatrixD& out) {
  out.noalias() = a * b.transpose();
}

/// out += aᵀ b.
void add_product(const Matrix& a, const Matrix& b, Matrix& out) {
  add_transposed_product(rows_of(a), rows_of(b), 1.0F, rows_of(out));
}
void add_product(const MatrixD& a, const MatrixD& b, MatrixD& out) {
  out.noalias() += a.transpose() * b;
}

}  // namespace

/// The sums S [F, dv] and z [F] over the tokens that were added.
template <class Scalar>
struct FeatureAttention<Scalar>::Sums {
  Sums(Eigen::Index features, Eigen::Index width)
      : products(Rows::Zero(features, width)), total(Row::Zero(features)) {}

  /// Adds one left side [F] and right side [dv], weighted by `factor` in z.
  template <class Left, class Right>
  void add(const Left& left, const Right& right, Scalar factor) {
    products.noalias() += left.transpose() * right;
    total += factor * left;
  }
  /// Adds all rows at once, with factors [n, 1] in z.
  void add_all(const Rows& left, const Rows& right, const Rows& factors) {
    add_product(left, right, products);
    total.noalias() += factors.transpose() * left;
  }

  Rows products;
  Row total;
};

template <class Scalar>
struct FeatureAttention<Scalar>::Quotient {
  Scalar divisor;
  bool varies;  ///< the divisor changes with the sum of the weights
};

template <class Scalar>
auto FeatureAttention<Scalar>::quotient(Scalar sum, Eigen::Index keys) const -> Quotient {
  if (divisor_.one) return {1, false};
  const auto least = static_cast<Scalar>(divisor_.least),
             added = static_cast<Scalar>(divisor_.per_key * static_cast<double>(keys));
  return {std::max(sum, least) + added, !(sum < least)};
}

template <class Scalar>
void FeatureAttention<Scalar>::forward_head(const HeadTensors& head, StridedMatrixMap output,
                                            AttentionRoom&) const {
  const Features phi = features(head);
  const Rows values = head.values.template cast<Scalar>();
  const Eigen::Index tokens = values.rows();
  Sums sums(phi.keys.cols(), values.cols());
  Rows above(tokens, values.cols());
  if (!causal_) {
    sums.add_all(phi.keys, values, Rows::Ones(tokens, 1));
    product(phi.queries, sums.products, above);
  }
  for (Eigen::Index i = 0; i < tokens; ++i) {
    if (causal_) {
      sums.add(phi.keys.row(i), values.row(i), 1);
      above.row(i).noalias() = phi.queries.row(i) * sums.products;
    }
    const Quotient below = quotient(phi.queries.row(i).dot(sums.total), causal_ ? i + 1 : tokens);
    output.row(i) = (above.row(i) / below.divisor).template cast<float>();
  }
}

template <class Scalar>
void FeatureAttention<Scalar>::backward_head(const HeadTensors& head,
                                             const ConstStridedMatrixMap& d_output,
                                             HeadGradients gradients, AttentionRoom&) const {
  const Features phi = features(head);
  const Rows values = head.values.template cast<Scalar>();
  const Eigen::Index tokens = values.rows(), count = phi.keys.cols(), width = values.cols();
  Features d_phi{Rows(tokens, count), Rows(tokens, count)};
  // The numerators φ(q_i)·S, [N, dv], their gradients, and those of the denominators, [N, 1].
  Rows above(tokens, width), d_above(tokens, width), d_below(tokens, 1), d_values(tokens, width);
  Sums sums(count, width);
  if (!causal_) {
    sums.add_all(phi.keys, values, Rows::Ones(tokens, 1));
    product(phi.queries, sums.products, above);
  }
  for (Eigen::Index i = 0; i < tokens; ++i) {
    if (causal_) {
      sums.add(phi.keys.row(i), values.row(i), 1);
      above.row(i).noalias() = phi.queries.row(i) * sums.products;
    }
    const Quotient below = quotient(phi.queries.row(i).dot(sums.total), causal_ ? i + 1 : tokens);
    d_above.row(i) = d_output.row(i).template cast<Scalar>() / below.divisor;
    d_below(i, 0) = below.varies ? -d_above.row(i).dot(above.row(i)) / below.divisor : Scalar{0};
    if (!causal_) continue;
    d_phi.queries.row(i).noalias() = d_above.row(i) * sums.products.transpose();
    d_phi.queries.row(i) += d_below(i, 0) * sums.total;
  }
  // Gradients of S and z: sums over the queries from j on, or over all.
  Sums d_sums(count, width);
  if (!causal_) {
    product_transposed(d_above, sums.products, d_phi.queries);
    d_phi.queries.noalias() += d_below * sums.total;
    d_sums.add_all(phi.queries, d_above, d_below);
    product(phi.keys, d_sums.products, d_values);
    product_transposed(values, d_sums.products, d_phi.keys);
    d_phi.keys.rowwise() += d_sums.total;
  }
  for (Eigen::Index j = tokens - 1; causal_ && j >= 0; --j) {
    d_sums.add(phi.queries.row(j), d_above.row(j), d_below(j, 0));
    d_values.row(j).noalias() = phi.keys.row(j) * d_sums.products;
    d_phi.keys.row(j).noalias() = values.row(j) * d_sums.products.transpose();
    d_phi.keys.row(j) += d_sums.total;
  }
  gradients.values = d_values.template cast<float>();
  features_backward(head, phi, d_phi, gradients);
}

template class FeatureAttention<float>;
template class FeatureAttention<double>;

}  // namespace attnscope
