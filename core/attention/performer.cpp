// Performer: φ(Q)(φ(K)ᵀV) / (φ(Q) Σφ(K)) with random features (Choromanski et al. 2020). FAVOR+:
// φ_f(x) = exp(ω_f·x' − ‖x'‖²/2), x' = x/d^¼, whose mean over random ω is the softmax kernel (Lemma
// 1); or ReLU(ω_f·x') + 0.001 (Section 4.2; DAFT, Section 5.2). The cost is linear in the number of
// tokens.
//
// Parameter "features" [F, d] or [H, F, d]: the directions ω. Models without it use orthogonal
// random ω (Section 2.4), different in each layer.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

constexpr float kReluFloor = 1e-3F;

enum class Kernel { softmax, relu };
constexpr EnumName<Kernel> kernel_names[] = {{Kernel::softmax, "softmax"}, {Kernel::relu, "relu"}};

std::vector<ParameterDescription> performer_parameters() {
  return {
      setting::choice("kernel", names_of(kernel_names), "softmax",
                      "softmax: positive features of the softmax kernel (FAVOR+); relu: ReLU "
                      "features, as DAFT compares with"),
      setting::whole("features", 256, {1, 65536}, "F, random features of a query and of a key"),
      seed_parameter("the random features"),
  };
}

/// ln φ of one head, or φ itself for ReLU features, which may be 0 and are never large.
struct Features {
  Matrix queries, keys;  ///< [N, F], [M, F]
  bool logarithms = true;
};

/// φ as factors. The greatest key of each feature and the greatest product of each query cancel in
/// the quotient; they are divided out so that no row of queries vanishes.
struct ScaledFeatures {
  Matrix queries, keys;
};

ScaledFeatures scaled(Features features) {
  if (features.logarithms) {
    for (Eigen::Index f = 0; f < features.keys.cols(); ++f) {
      const float greatest = features.keys.col(f).maxCoeff<Eigen::PropagateNaN>();
      features.keys.col(f).array() -= greatest;
      features.queries.col(f).array() += greatest;
    }
    for (Eigen::Index i = 0; i < features.queries.rows(); ++i) {
      features.queries.row(i).array() -= features.queries.row(i).maxCoeff<Eigen::PropagateNaN>();
    }
    features.keys = features.keys.array().exp();
    features.queries = features.queries.array().exp();
  }
  return {std::move(features.queries), std::move(features.keys)};
}

/// Features token by token: keys and queries relative to the greatest key of each feature so far.
class CausalFeatures {
 public:
  explicit CausalFeatures(const Features& features)
      : features_(features),
        greatest_(Eigen::VectorXf::Constant(
            features.keys.cols(),
            features.logarithms ? -std::numeric_limits<float>::infinity() : 0)),
        key(features.keys.cols()),
        query(features.keys.cols()) {}

  /// Takes token i. `shrink(f, factor)` must multiply the running sums of feature f by `factor`.
  template <class Shrink>
  void push(Eigen::Index i, const Shrink& shrink) {
    key = features_.keys.row(i);
    query = features_.queries.row(i);
    if (!features_.logarithms) return;
    for (Eigen::Index f = 0; f < key.size(); ++f) {
      if (!(key(f) <= greatest_(f))) {  // true for NaN too
        shrink(f, std::exp(greatest_(f) - key(f)));
        greatest_(f) = key(f);
      }
    }
    key = (key - greatest_).array().exp();
    query += greatest_;
    query = (query.array() - query.maxCoeff<Eigen::PropagateNaN>()).exp();
  }

 private:
  const Features& features_;
  Eigen::VectorXf greatest_;

 public:
  Eigen::VectorXf key, query;  ///< scaled features of the newest token
};

class Performer final : public Mechanism {
 public:
  Performer(Kernel kernel, std::int64_t features, std::int64_t seed)
      : relu_(kernel == Kernel::relu), features_(features), seed_(seed) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    check_shapes(input);
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || input.keys.rows() == 0 || input.keys.cols() == 0) return output;
    const std::int64_t width = input.values.cols() / input.heads;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const ConstStridedMatrixMap values = head_columns(input.values, input.heads, head);
      const StridedMatrixMap out(output.data() + head * width, input.queries.rows(), width,
                                 Eigen::OuterStride<>(input.values.cols()));
      if (input.causal) {
        forward_causal(features_of(input, head), values, out);
      } else {
        forward_whole(scaled(features_of(input, head)), values, out);
      }
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    check_shapes(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0 || input.keys.cols() == 0) return map;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      MatrixMap weights = map.slice(head);
      if (input.causal) {
        causal_weights(features_of(input, head), weights);
      } else {
        const ScaledFeatures phi = scaled(features_of(input, head));
        multiply_transposed(
            strided(phi.queries), strided(phi.keys), 1.0F,
            {weights.data(), weights.rows(), weights.cols(), Eigen::OuterStride<>(weights.cols())});
      }
      for (Eigen::Index i = 0; i < weights.rows(); ++i) {
        weights.row(i) *= static_cast<float>(1.0 / weights.row(i).cast<double>().sum());
      }
    });
    return map;
  }

  /// Factors: φ(Q) divided by the row sums of the map, and φ(K).
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    check_shapes(input);
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    if (input.causal || features_ >= std::min(n, m) || input.keys.cols() == 0) return std::nullopt;
    MapFactors factors{Tensor({input.heads, n, features_}), Tensor({input.heads, m, features_})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      ScaledFeatures phi = scaled(features_of(input, head));
      const Eigen::VectorXd key_sum = phi.keys.cast<double>().colwise().sum();
      for (Eigen::Index i = 0; i < n; ++i) {
        const double total = phi.queries.row(i).cast<double>().dot(key_sum);
        phi.queries.row(i) *= static_cast<float>(1.0 / total);
      }
      factors.left.slice(head) = phi.queries;
      factors.right.slice(head) = phi.keys;
    });
    return factors;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min({shape.queries, shape.keys, features_})};
  }

 private:
  /// The directions ω [F, d] of one head.
  [[nodiscard]] Matrix directions(const AttentionInput& input, std::int64_t head) const {
    const std::int64_t d = input.keys.cols() / input.heads;
    const Tensor* const given =
        find_parameter(input.parameters, "features", input.heads, {features_, d});
    if (given != nullptr) return of_head(*given, head, features_, d);
    NormalNumbers numbers(seed_, input.layer, head);
    return orthogonal_rows(numbers, features_, d).cast<float>();
  }

  [[nodiscard]] Features features_of(const AttentionInput& input, std::int64_t head) const {
    const Matrix omega = directions(input, head);
    const auto scale = static_cast<float>(std::sqrt(input.score_scale()));
    const auto project = [&](const ConstStridedMatrixMap& rows) {
      Matrix projected(rows.rows(), features_);
      multiply_transposed(
          rows, strided(omega), scale,
          {projected.data(), projected.rows(), features_, Eigen::OuterStride<>(features_)});
      return projected;
    };
    const ConstStridedMatrixMap keys = head_columns(input.keys, input.heads, head);
    Features features{project(head_columns(input.queries, input.heads, head)), project(keys),
                      !relu_};
    if (relu_) {
      features.queries = features.queries.unaryExpr(&relu).array() + kReluFloor;
      features.keys = features.keys.unaryExpr(&relu).array() + kReluFloor;
      return features;
    }
    // The query's own ‖q'‖²/2 cancels in the quotient.
    for (Eigen::Index j = 0; j < keys.rows(); ++j) {
      const double length = static_cast<double>(scale) * keys.row(j).cast<double>().norm();
      features.keys.row(j).array() -= static_cast<float>(0.5 * length * length);
    }
    return features;
  }

  static void forward_whole(const ScaledFeatures& phi, const ConstStridedMatrixMap& values,
                            StridedMatrixMap out) {
    const Matrix transposed = phi.keys.transpose();
    Matrix products(transposed.rows(), values.cols());
    multiply(
        strided(transposed), values, 1.0F,
        {products.data(), products.rows(), values.cols(), Eigen::OuterStride<>(values.cols())});
    multiply(strided(phi.queries), strided(products), 1.0F, out);
    const Eigen::VectorXd key_sum = phi.keys.cast<double>().colwise().sum();
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
      out.row(i) *= static_cast<float>(1.0 / phi.queries.row(i).cast<double>().dot(key_sum));
    }
  }

  /// Causal attention by the running sums Σ_{j≤i} φ(k_j) v_jᵀ and Σ_{j≤i} φ(k_j) (Section 3, Eq.
  /// 11's prefix sums).
  static void forward_causal(const Features& features, const ConstStridedMatrixMap& values,
                             StridedMatrixMap out) {
    CausalFeatures state(features);
    MatrixD products = MatrixD::Zero(features.keys.cols(), values.cols());
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(features.keys.cols());
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
      state.push(i, [&](Eigen::Index f, float factor) {
        products.row(f) *= static_cast<double>(factor);
        sums(f) *= static_cast<double>(factor);
      });
      const Eigen::VectorXd key = state.key.cast<double>(), query = state.query.cast<double>();
      products.noalias() += key * values.row(i).cast<double>();
      sums += key;
      out.row(i) = ((query.transpose() * products) / query.dot(sums)).cast<float>();
    }
  }

  /// Weights φ(q_i)·φ(k_j) for j ≤ i, each row in its own scale.
  static void causal_weights(const Features& features, MatrixMap weights) {
    CausalFeatures state(features);
    Matrix keys(features.keys.rows(), features.keys.cols());
    for (Eigen::Index i = 0; i < weights.rows(); ++i) {
      state.push(i, [&](Eigen::Index f, float factor) { keys.col(f).head(i) *= factor; });
      keys.row(i) = state.key;
      weights.row(i).head(i + 1) = keys.topRows(i + 1) * state.query;
    }
  }

  bool relu_;
  std::int64_t features_;
  std::int64_t seed_;
};

}  // namespace

MechanismEntry performer_entry() {
  return {
      .name = "performer",
      .title = "Performer",
      .source = "Choromanski et al. 2020, Lemma 1",
      .formula = "random features of softmax, or ReLU",
      .rank = "F; N if causal",
      .complexity = {"ND² log D", "ND log D + D² log D", "DAFT, Table 1"},
      .parameters = performer_parameters(),
      .accounting = {setting::flag("released", false, "counts as EcoFormer's released hook does")},
      .tensors = {{"features", "[F, d] or [H, F, d], the ω",
                   [](const AttentionShape& s, const TypedValues& values) {
                     return std::optional(Shape{values.whole("features"), s.head_width});
                   },
                   0}},
      .counts =
          [](const AttentionShape& shape, CostConvention convention, const TypedValues& values) {
            return costs::performer(shape, convention, values.whole("features"),
                                    values.flag("released"), values.is("kernel", "relu"));
          },
      .projections = separate_projections,
      .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
        return std::make_unique<Performer>(values.choice("kernel", kernel_names),
                                           values.whole("features"), values.whole("seed"));
      },
      .causal = true,
      .scaled = true};
}

}  // namespace attnscope
