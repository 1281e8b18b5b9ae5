// Linear attention: φ(Q)(φ(K)ᵀV) / (φ(Q) Σφ(K)) with φ(x) = 1 + elu(x) (Katharopoulos et al. 2020,
// Eq. 4 to 7). The cost is linear in the number of tokens.
#include <cmath>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

/// ln(1 + elu(x)), which is x below 0 and ln(1 + x) above.
Matrix logarithm_of_features(const ConstStridedMatrixMap& rows) {
  return rows.unaryExpr([](float x) { return x < 0 ? x : std::log1p(x); });
}

// The largest feature of each query, and that of all keys of a head, cancel in the quotient.
// Dividing by them keeps the features of very negative rows from all vanishing.
Matrix query_features(const ConstStridedMatrixMap& queries) {
  Matrix features = logarithm_of_features(queries);
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    features.row(i).array() -= features.row(i).maxCoeff<Eigen::PropagateNaN>();
  }
  return features.array().exp();
}

Matrix key_features(const ConstStridedMatrixMap& keys) {
  Matrix features = logarithm_of_features(keys);
  features.array() -= features.maxCoeff<Eigen::PropagateNaN>();
  return features.array().exp();
}

// A causal layer must not divide by the largest key of all: later keys would change earlier
// results. In double, the features of very negative rows do not vanish.
using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

DoubleMatrix causal_features(const ConstStridedMatrixMap& rows) {
  return logarithm_of_features(rows).cast<double>().array().exp();
}

/// Causal attention by the running sums Σφ(k)vᵀ and Σφ(k) (Katharopoulos et al. 2020, Eq. 9 to 12).
void attend_causally(const AttentionInput& input, Tensor& output) {
  const std::int64_t width = input.values.cols() / input.heads;
  tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
    const DoubleMatrix keys = causal_features(head_columns(input.keys, input.heads, head));
    const DoubleMatrix queries = causal_features(head_columns(input.queries, input.heads, head));
    const ConstStridedMatrixMap values = head_columns(input.values, input.heads, head);
    DoubleMatrix products = DoubleMatrix::Zero(keys.cols(), width);
    Eigen::RowVectorXd total = Eigen::RowVectorXd::Zero(keys.cols());
    for (Eigen::Index i = 0; i < keys.rows(); ++i) {
      products.noalias() += keys.row(i).transpose() * values.row(i).cast<double>();
      total += keys.row(i);
      output.matrix().row(i).segment(head * width, width) =
          (queries.row(i) * products / queries.row(i).dot(total)).cast<float>();
    }
  });
}

void map_causally(const AttentionInput& input, Tensor& map) {
  tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
    const DoubleMatrix keys = causal_features(head_columns(input.keys, input.heads, head));
    const DoubleMatrix queries = causal_features(head_columns(input.queries, input.heads, head));
    for (Eigen::Index i = 0; i < keys.rows(); ++i) {
      const Eigen::RowVectorXd row = queries.row(i) * keys.topRows(i + 1).transpose();
      map.slice(head).row(i).head(i + 1) = (row / row.sum()).cast<float>();
    }
  });
}

class LinearAttention final : public Mechanism {
 public:
  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    check_shapes(input);
    const std::int64_t width = input.values.cols() / input.heads;
    Tensor output({input.queries.rows(), input.values.cols()});
    if (input.keys.rows() == 0 || output.size() == 0 || input.keys.cols() == 0) return output;
    if (input.causal) {
      attend_causally(input, output);
      return output;
    }
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix keys = key_features(head_columns(input.keys, input.heads, head));
      const Matrix queries = query_features(head_columns(input.queries, input.heads, head));
      const Matrix transposed = keys.transpose();
      Matrix products(keys.cols(), width);
      multiply(strided(transposed), head_columns(input.values, input.heads, head), 1.0F,
               {products.data(), products.rows(), width, Eigen::OuterStride<>(width)});
      StridedMatrixMap out(output.data() + head * width, queries.rows(), width,
                           Eigen::OuterStride<>(input.values.cols()));
      multiply(strided(queries), strided(products), 1.0F, out);
      const Eigen::VectorXd key_sum = keys.cast<double>().colwise().sum();
      for (Eigen::Index i = 0; i < queries.rows(); ++i) {
        const double total = queries.row(i).cast<double>().dot(key_sum);
        out.row(i) *= static_cast<float>(1.0 / total);
      }
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    check_shapes(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0 || input.keys.cols() == 0) return map;
    if (input.causal) {
      map_causally(input, map);
      return map;
    }
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix keys = key_features(head_columns(input.keys, input.heads, head));
      const Matrix queries = query_features(head_columns(input.queries, input.heads, head));
      MatrixMap weights = map.slice(head);
      multiply_transposed(
          strided(queries), strided(keys), 1.0F,
          {weights.data(), weights.rows(), weights.cols(), Eigen::OuterStride<>(weights.cols())});
      for (Eigen::Index i = 0; i < weights.rows(); ++i) {
        weights.row(i) *= static_cast<float>(1.0 / weights.row(i).cast<double>().sum());
      }
    });
    return map;
  }

  /// Factors: φ(Q) divided by the row sums of the map, and φ(K).
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    check_shapes(input);
    if (input.causal) return std::nullopt;
    const std::int64_t width = input.keys.cols() / input.heads;
    if (width >= std::min(input.queries.rows(), input.keys.rows())) return std::nullopt;
    MapFactors factors{Tensor({input.heads, input.queries.rows(), width}),
                       Tensor({input.heads, input.keys.rows(), width})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix keys = key_features(head_columns(input.keys, input.heads, head));
      Matrix queries = query_features(head_columns(input.queries, input.heads, head));
      const Eigen::VectorXd key_sum = keys.cast<double>().colwise().sum();
      for (Eigen::Index i = 0; i < queries.rows(); ++i) {
        queries.row(i) *= static_cast<float>(1.0 / queries.row(i).cast<double>().dot(key_sum));
      }
      factors.left.slice(head) = queries;
      factors.right.slice(head) = keys;
    });
    return factors;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min({shape.queries, shape.keys, shape.head_width})};
  }
};

}  // namespace

MechanismEntry linear_entry() {
  return {.name = "linear",
          .title = "Linear attention",
          .source = "Katharopoulos et al. 2020, Eq. 7",
          .formula = "φ(q)·φ(k) with φ = 1 + elu",
          .rank = "d; N if causal",
          .complexity = {"ND²", "ND + D²", "DAFT, Table 1"},
          .counts = [](const AttentionShape& shape, CostConvention convention,
                       const TypedValues&) { return costs::linear(shape, convention); },
          .projections = separate_projections,
          .make = [](const TypedValues&) -> std::unique_ptr<Mechanism> {
            return std::make_unique<LinearAttention>();
          },
          .causal = true};
}

}  // namespace attnscope
