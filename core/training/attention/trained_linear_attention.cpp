// Linear attention with its gradient (Katharopoulos et al. 2020, Eq. 7), φ = 1 + elu.
#include <cmath>

#include "core/tensor/blas.h"
#include "core/training/attention/trained_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// 1 + elu: x + 1 above 0, exp x below; and its derivative, 1 or exp x.
struct Features {
  Matrix values, slopes;

  explicit Features(const ConstStridedMatrixMap& rows)
      : values(rows.rows(), rows.cols()), slopes(rows.rows(), rows.cols()) {
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
      for (Eigen::Index column = 0; column < rows.cols(); ++column) {
        const float x = rows(row, column), below = x < 0 ? std::exp(x) : 1.0F;
        values(row, column) = x < 0 ? below : x + 1;
        slopes(row, column) = below;
      }
    }
  }
};

/// o_i = φ(q_i)·S / φ(q_i)·z with S = Σ_j φ(k_j) v_jᵀ and z = Σ_j φ(k_j), over the j that i sees.
class TrainedLinearAttention final : public TrainedAttention {
 public:
  explicit TrainedLinearAttention(bool causal) : causal_(causal) {}

  void forward(const HeadTensors& head, StridedMatrixMap output, AttentionRoom&) const override {
    const Features queries(head.queries), keys(head.keys);
    Matrix sum = Matrix::Zero(head.keys.cols(), head.values.cols());
    Eigen::RowVectorXf total = Eigen::RowVectorXf::Zero(head.keys.cols());
    if (!causal_) add_all(keys, head, sum, total);
    for (Eigen::Index i = 0; i < queries.values.rows(); ++i) {
      if (causal_) add_one(keys, head, i, sum, total);
      output.row(i).noalias() = queries.values.row(i) * sum;
      output.row(i) /= queries.values.row(i).dot(total);
    }
  }

  void backward(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                HeadGradients gradients, AttentionRoom&) const override {
    const Features queries(head.queries), keys(head.keys);
    const Eigen::Index tokens = queries.values.rows(), width = head.keys.cols();
    Matrix sum = Matrix::Zero(width, head.values.cols());
    Eigen::RowVectorXf total = Eigen::RowVectorXf::Zero(width);
    if (!causal_) add_all(keys, head, sum, total);
    // Of the numerators φ(q_i)·S, [N, dv], and of the denominators.
    Matrix d_above(tokens, head.values.cols());
    Vector d_below(tokens);
    for (Eigen::Index i = 0; i < tokens; ++i) {
      if (causal_) add_one(keys, head, i, sum, total);
      const float below = queries.values.row(i).dot(total);
      const Eigen::RowVectorXf output = queries.values.row(i) * sum / below;
      d_above.row(i) = d_output.row(i) / below;
      d_below[i] = -d_output.row(i).dot(output) / below;
      gradients.queries.row(i) = (d_above.row(i) * sum.transpose() + d_below[i] * total)
                                     .cwiseProduct(queries.slopes.row(i));
    }
    sum.setZero();
    total.setZero();
    const auto add_query = [&](Eigen::Index i) {
      sum.noalias() += queries.values.row(i).transpose() * d_above.row(i);
      total += d_below[i] * queries.values.row(i);
    };
    for (Eigen::Index i = 0; !causal_ && i < tokens; ++i) add_query(i);
    for (Eigen::Index j = tokens - 1; j >= 0; --j) {
      if (causal_) add_query(j);
      gradients.values.row(j).noalias() = keys.values.row(j) * sum;
      gradients.keys.row(j) =
          (head.values.row(j) * sum.transpose() + total).cwiseProduct(keys.slopes.row(j));
    }
  }

 private:
  static void add_one(const Features& keys, const HeadTensors& head, Eigen::Index j, Matrix& sum,
                      Eigen::RowVectorXf& total) {
    sum.noalias() += keys.values.row(j).transpose() * head.values.row(j);
    total += keys.values.row(j);
  }

  static void add_all(const Features& keys, const HeadTensors& head, Matrix& sum,
                      Eigen::RowVectorXf& total) {
    add_transposed_product(rows_of(keys.values), head.values, 1.0F, rows_of(sum));
    total = keys.values.colwise().sum();
  }

  bool causal_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_linear(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedLinearAttention>(form.causal);
}

}  // namespace attnscope
