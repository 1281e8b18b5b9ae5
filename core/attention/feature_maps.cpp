// Linear attention with other features than 1 + elu (linear.cpp), over all tokens. d is the width
// of a head, C that of all heads, M the number of keys, s = 1/√d, ε = 10⁻⁶.
//
//   focused  A_ij = φ(q_i)·φ(k_j) / (Σ_l φ(q_i)·φ(k_l) + ε M)                    (Han et al. 2023)
//            with φ(x) = ‖u‖ u^p / ‖u^p‖, u = (max(x, 0) + ε) / softplus(scale)
//   inline   A_ij = (s q_i·k_j − mean_l s q_i·k_l + 1) / M                (Han et al. 2024, Eq. 5)
//   sima     A_ij = Σ_c q_ic k_jc / (‖q_·c‖₁ ‖k_·c‖₁)            (Koohpayegani & Pirsiavash 2022)
//
// The norms of `focused` are those of all C channels, before they are split into heads, as in the
// authors' code; "scale" [C] is 0 without a tensor, as at the initialisation, and
// "positional_encoding" [M, C] is added to the keys. Rows sum to 1 but for ε. InLine's features are
// x itself, as in the authors' DeiT, and s is 1/√d, as in their code; its rows sum to 1, and
// weights may be negative. SimA's norms are sums over all tokens, of each channel.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/narrow_map.h"
#include "core/attention/score_blocks.h"
#include "core/attention/values_convolution.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kOffset = 1e-6;  // ε

/// The layer's tensor `name` as [rows, columns], whatever dimensions of 1 it has; null if missing.
/// Throws Error(usage) for another shape.
const Tensor* tensor_of_layer(const AttentionInput& input, std::string_view name, std::int64_t rows,
                              std::int64_t columns) {
  if (input.parameters == nullptr) return nullptr;
  const auto found = input.parameters->find(name);
  if (found == input.parameters->end()) return nullptr;
  const Tensor& tensor = found->second;
  if (tensor.size() != rows * columns || tensor.shape().empty() ||
      tensor.shape().back() != columns) {
    throw Error(ErrorKind::usage, "a learned tensor of the mechanism has the wrong shape")
        .about(std::string(name))
        .expected(to_string(rows == 1 ? Shape{columns} : Shape{rows, columns}))
        .found(to_string(tensor.shape()));
  }
  return &tensor;
}

/// u of every row, then φ(u), over all channels.
MatrixD focused_features(const ConstMatrixMap& rows, const Tensor* encoding, const Tensor* scale,
                         double power) {
  Eigen::ArrayXd divisors = Eigen::ArrayXd::Constant(rows.cols(), std::log(2.0));
  for (Eigen::Index c = 0; scale != nullptr && c < rows.cols(); ++c) {
    const auto x = static_cast<double>(scale->data()[c]);
    divisors(c) = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  MatrixD features(rows.rows(), rows.cols());
  if (features.size() == 0) return features;
  tbb::parallel_for(Eigen::Index{0}, rows.rows(), [&](Eigen::Index i) {
    for (Eigen::Index c = 0; c < rows.cols(); ++c) {
      const float added = encoding != nullptr ? encoding->data()[i * rows.cols() + c] : 0.0F;
      features(i, c) = (static_cast<double>(relu(rows(i, c) + added)) + kOffset) / divisors(c);
    }
    const double length = features.row(i).norm();
    // Powers of shares of the largest channel stay within range.
    features.row(i) = (features.row(i) / features.row(i).maxCoeff()).array().pow(power);
    features.row(i) *= length / features.row(i).norm();
  });
  return features;
}

NarrowHeads focused_heads(const AttentionInput& input, double power) {
  const std::int64_t channels = input.keys.cols(), d = channels / input.heads;
  const Tensor* const scale = tensor_of_layer(input, "scale", 1, channels);
  const Tensor* const encoding =
      tensor_of_layer(input, "positional_encoding", input.keys.rows(), channels);
  const auto queries =
      std::make_shared<const MatrixD>(focused_features(input.queries, nullptr, scale, power));
  const auto keys =
      std::make_shared<const MatrixD>(focused_features(input.keys, encoding, scale, power));
  return [queries, keys, d](std::int64_t head) {
    const auto q = queries->middleCols(head * d, d), k = keys->middleCols(head * d, d);
    return narrow_quotient(q, k, q, k);
  };
}

/// The factors [s q_i / M, 1 / M] and [k_j − k̄, 1].
NarrowHeads inline_heads(const AttentionInput& input) {
  return [&input](std::int64_t head) {
    const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
    const MatrixD keys = head_columns(input.keys, input.heads, head).cast<double>();
    const Eigen::Index d = keys.cols(), m = keys.rows();
    const double share = 1 / static_cast<double>(m);
    NarrowFactors factors{Matrix(queries.rows(), d + 1), Matrix(m, d + 1)};
    factors.left.leftCols(d) =
        (queries.cast<double>() * (input.score_scale() * share)).cast<float>();
    factors.left.rightCols<1>().setConstant(static_cast<float>(share));
    factors.right.leftCols(d) =
        (keys.rowwise() - Eigen::RowVectorXd(keys.colwise().mean())).cast<float>();
    factors.right.rightCols<1>().setOnes();
    return factors;
  };
}

/// Each column over the sum of its absolute values, or over PyTorch's least divisor.
Matrix columns_over_norms(const ConstStridedMatrixMap& rows) {
  static constexpr double kLeastNorm = 1e-12;
  const MatrixD wide = rows.cast<double>();
  const Eigen::RowVectorXd norms =
      wide.cwiseAbs().colwise().sum().unaryExpr([](double x) { return std::max(x, kLeastNorm); });
  return (wide.array().rowwise() / norms.array()).cast<float>();
}

NarrowHeads sima_heads(const AttentionInput& input) {
  return [&input](std::int64_t head) {
    return NarrowFactors{columns_over_norms(head_columns(input.queries, input.heads, head)),
                         columns_over_norms(head_columns(input.keys, input.heads, head))};
  };
}

std::int64_t head_width_of(const AttentionShape& shape) { return shape.head_width; }

std::unique_ptr<Mechanism> make_focused(const TypedValues& values) {
  const auto factorise = [power = values.number("power")](const AttentionInput& input) {
    return focused_heads(input, power);
  };
  return make_narrow({.name = "focused",
                      .factorise = factorise,
                      .columns = head_width_of,
                      .non_negative = true,
                      .term = values.flag("term")});
}

std::unique_ptr<Mechanism> make_inline(const TypedValues& values) {
  return make_narrow({.name = "inline",
                      .factorise = inline_heads,
                      .columns = [](const AttentionShape& shape) { return shape.head_width + 1; },
                      .rows_sum_to_one = true,
                      .term = values.flag("term")});
}

std::unique_ptr<Mechanism> make_sima(const TypedValues&) {
  return make_narrow({.name = "sima", .factorise = sima_heads, .columns = head_width_of});
}

/// Features of all channels of a token at once.
std::vector<OperationCount> count_focused(const AttentionShape& shape, CostConvention convention,
                                          const TypedValues& values) {
  costs::check(shape);
  const Count channels = Count(shape.heads) * shape.head_width;
  const Count rows = Count(shape.queries) + shape.keys, elements = rows * channels;
  OperationCount features = costs::component("features", 0, 0);
  if (convention == CostConvention::ecoformer) {
    // The scale, both norms, and their quotient.
    features = costs::component("features", 4 * elements, 2 * elements);
  } else if (convention == CostConvention::complete) {
    // max(x, 0) + ε, the division by the scale, x^p, both norms, and their quotient times x^p.
    features = costs::component("features", 3 * elements, 4 * elements + channels);
    features.divisions = (elements + rows).value();
    features.exponentials = (elements + 2 * rows + 2 * channels).value();  // also softplus
    features = costs::moving(features, convention, 2 * elements + channels);
  }
  std::vector<OperationCount> counts = {features};
  costs::append_linear_attention(counts, shape, convention, shape.head_width);
  count_offset(counts, shape, convention);
  append_convolution(counts, shape, convention, values);
  return counts;
}

/// The products (Kᵀ V) and Q (Kᵀ V).
OperationCount count_values(const AttentionShape& shape, CostConvention convention) {
  const Count h = shape.heads, d = shape.head_width, dv = shape.value_width,
              tokens = Count(shape.queries) + shape.keys;
  return costs::moving(costs::accumulated("values", h * tokens * d * dv), convention,
                       h * (tokens * (d + dv) + 2 * d * dv));
}

std::vector<OperationCount> count_inline(const AttentionShape& shape, CostConvention convention,
                                         const TypedValues& values) {
  costs::check(shape);
  const Count h = shape.heads, n = shape.queries, m = shape.keys, d = shape.head_width,
              dv = shape.value_width;
  OperationCount means{.component = "means"}, correction{.component = "correction"};
  OperationCount scaling{.component = "scaling"};
  if (convention != CostConvention::adder) {
    means = costs::component("means", 0, h * m * (d + dv));
    (convention == CostConvention::complete ? means.divisions : means.multiplications) =
        (h * (d + dv)).value();
    means = costs::moving(means, convention, h * (m + 1) * (d + dv));
    scaling = costs::moving(costs::component("scaling", h * d * dv, 0), convention, 2 * h * d * dv);
    // 1 − s q·k̄ of every query, times the mean value, in the output.
    correction = costs::component("correction", h * n * (d + 1 + dv), h * n * (d + 1 + dv));
    correction = costs::moving(correction, convention, h * (n * (d + 2 * dv) + d + dv));
  }
  std::vector<OperationCount> counts = {means, count_values(shape, convention), scaling,
                                        correction};
  append_convolution(counts, shape, convention, values);
  return counts;
}

std::vector<OperationCount> count_sima(const AttentionShape& shape, CostConvention convention,
                                       const TypedValues&) {
  costs::check(shape);
  const Count columns = Count(shape.heads) * shape.head_width,
              elements = (Count(shape.queries) + shape.keys) * columns;
  OperationCount norms{.component = "norms"};
  if (convention == CostConvention::ecoformer) {
    norms = costs::component("norms", elements, elements);
  } else if (convention == CostConvention::complete) {
    norms = costs::component("norms", 0, elements + 2 * columns);  // the least divisor
    norms.divisions = elements.value();
    norms = costs::moving(norms, convention, 2 * elements);
  }
  return {norms, count_values(shape, convention)};
}

std::optional<Shape> shape_of_channels(const AttentionShape& shape, const TypedValues&) {
  return Shape{(Count(shape.heads) * shape.head_width).value()};
}

std::optional<Shape> shape_of_keys(const AttentionShape& shape, const TypedValues&) {
  return Shape{shape.keys, (Count(shape.heads) * shape.head_width).value()};
}

}  // namespace

MechanismEntry focused_entry() {
  return {.name = "focused",
          .title = "Focused linear attention",
          .source = "Han et al. 2023 (FLatten)",
          .formula = "φ(q)·φ(k) with φ = ‖u‖u^p/‖u^p‖ and u = relu(x)",
          .rank = "d; N with T",
          .complexity = {"ND²", "ND + D²", "Han et al. 2023"},
          .parameters = {setting::number("power", 3, {1, 100},
                                         "p, focusing factor: the power of the features"),
                         term_parameter()},
          .accounting = {counted_kernel_parameter(5)},
          .tensors = {{"scale", "[C], whose softplus divides queries and keys", shape_of_channels},
                      {"positional_encoding", "[M, C], added to the keys", shape_of_keys},
                      convolution_tensor(true)},
          .counts = count_focused,
          .projections = separate_projections,
          .make = make_focused};
}

MechanismEntry inline_entry() {
  return {.name = "inline",
          .title = "Injective linear attention (InLine)",
          .source = "Han et al. 2024, Eq. 5",
          .formula = "(s − mean s + 1)/N, s = QKᵀ/√d",
          .rank = "d + 1; N with T",
          .complexity = {"ND²", "ND + D²", "Han et al. 2024"},
          .parameters = {term_parameter()},
          .accounting = {counted_kernel_parameter(3)},
          .tensors = {convolution_tensor(false)},
          .counts = count_inline,
          .projections = separate_projections,
          .make = make_inline,
          .scaled = true};
}

MechanismEntry sima_entry() {
  return {.name = "sima",
          .title = "Softmax-free attention (SimA)",
          .source = "Koohpayegani & Pirsiavash 2022",
          .formula = "q·k, each channel over its ℓ₁ norm over all tokens",
          .rank = "d",
          .complexity = {"ND²", "ND + D²", "Koohpayegani & Pirsiavash 2022"},
          .counts = count_sima,
          .projections = separate_projections,
          .make = make_sima};
}

}  // namespace attnscope
