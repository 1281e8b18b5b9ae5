// Attention by a few tokens that stand for all. s is 1/√d.
//
//   agent    A = softmax(s Q Gᵀ + B₂) softmax(s G Kᵀ + B₁), agents G: pooled queries
//                                                                             (Han et al. 2023)
//   nystrom  A = softmax(s Q K̃ᵀ) Z softmax(s Q̃ Kᵀ), Z ≈ softmax(s Q̃ K̃ᵀ)⁺      (Xiong et al. 2021)
//   soft     A = κ(Q, Q̃) Z κ(Q̃, K), Z ≈ κ(Q̃, Q̃)⁻¹, κ(a, b) = exp(−½ s ‖a − b‖²) (Lu et al. 2021)
//
// Agents are the means of √k × √k areas of the grid of patches, without its prefix, as PyTorch's
// AdaptiveAvgPool2d makes them: areas overlap if √k does not divide a side. In a sequence they are
// the means of k parts. Tensors "an" [H, k, M] and "na" [H, N, k] are B₁ and B₂, the sums that the
// authors' code makes of its eight tables.
//
// Nyströmformer's landmarks Q̃ and K̃ are the means of k segments of neighbouring tokens; the last
// ones are a token longer if k does not divide the number of tokens (the authors' code for images).
// With as many landmarks as tokens, attention is softmax. Z is no exact pseudoinverse: with
// P = softmax(s Q̃ K̃ᵀ) and c the largest sum of a column of P,
//
//   Z₀ = Pᵀ/c, Z ← ¼ Z (13 − P Z (15 − P Z (7 − P Z))), 6 times.
//
// c is that of all heads of the layer, as by default in the authors' code, or of the head.
// Sums of rows differ from 1 by the error of Z, and weights may be negative.
//
// SOFT has no softmax: rows have any sum. Its layers have no keys of their own, K = Q; laid over
// another model it compares the landmarks with the model's keys. Landmarks Q̃ are means of areas, as
// agents are. Where the layer has "landmark_kernel" [d, d, r, r] they are a convolution of √s Q by
// areas of r × r, normalised over the channels (LayerNorm, "landmark_norm" [2, d] with its weight
// and bias), and its GELU. Z is what Newton's iteration gives, with c the largest sum of a row of
// P = κ(Q̃, Q̃) in the head,
//
//   Z₀ = 1.8 P′/c², Z ← 2 Z − Z P′ Z, 20 times, P′ = P + 0.01 I,
//
// as in the authors' code; their paper has neither 0.01 I nor the 0.9 in 1.8.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/kernels/softmax_rows.h"
#include "core/attention/landmark_weights.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/narrow_map.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/attention/token_areas.h"
#include "core/attention/values_convolution.h"
#include "core/error.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

/// softmax(scale · a bᵀ + biases), with biases of the head if there are any.
Matrix softmax_of_products(ConstStridedMatrixMap a, ConstStridedMatrixMap b, double scale,
                           const Tensor* biases, std::int64_t head) {
  Matrix scores(a.rows(), b.rows());
  multiply_transposed(a, b, static_cast<float>(scale), strided_output(scores));
  if (biases != nullptr) scores += of_head(*biases, head, scores.rows(), scores.cols());
  softmax_rows(strided_output(scores));
  return scores;
}

NarrowHeads agent_heads(const AttentionInput& input, std::int64_t count) {
  const Tensor* const of_keys =
      find_parameter(input.parameters, "an", input.heads, {count, input.keys.rows()});
  const Tensor* const of_agents =
      find_parameter(input.parameters, "na", input.heads, {input.queries.rows(), count});
  return [&input, areas = TokenAreas(input.layout, input.queries.rows(), count, "agent", "agents"),
          of_keys, of_agents](std::int64_t head) {
    const Matrix agents =
        areas.means(head_columns(input.queries, input.heads, head).cast<double>()).cast<float>();
    const double scale = input.score_scale();
    return NarrowFactors{
        .left = softmax_of_products(head_columns(input.queries, input.heads, head), strided(agents),
                                    scale, of_agents, head),
        .right = softmax_of_products(strided(agents), head_columns(input.keys, input.heads, head),
                                     scale, of_keys, head)
                     .transpose()};
  };
}

enum class FirstDivisor { layer, head };
constexpr EnumName<FirstDivisor> first_divisor_names[] = {{FirstDivisor::layer, "layer"},
                                                          {FirstDivisor::head, "head"}};

struct NystromSettings {
  std::int64_t landmarks = 64;
  std::int64_t iterations = 6;
  FirstDivisor divisor = FirstDivisor::layer;
};

/// Queries or keys of a head and their landmarks, and the softmax of both landmarks.
struct NystromHead {
  MatrixD queries, keys, query_landmarks, key_landmarks, of_landmarks;
};

NystromHead nystrom_head(const AttentionInput& input, std::int64_t head, std::int64_t landmarks) {
  NystromHead parts;
  parts.queries = head_columns(input.queries, input.heads, head).cast<double>();
  parts.keys = head_columns(input.keys, input.heads, head).cast<double>();
  parts.query_landmarks = segment_means(parts.queries, landmarks);
  parts.key_landmarks = segment_means(parts.keys, landmarks);
  parts.of_landmarks =
      softmax_weights(parts.query_landmarks, parts.key_landmarks, input.score_scale());
  return parts;
}

double largest_column_sum(const MatrixD& weights) { return weights.colwise().sum().maxCoeff(); }

/// Z of the head's softmax of landmarks.
MatrixD iterated_inverse(const MatrixD& weights, double divisor, std::int64_t iterations) {
  const MatrixD one = MatrixD::Identity(weights.rows(), weights.cols());
  MatrixD inverse = weights.transpose() / divisor;
  for (std::int64_t i = 0; i < iterations; ++i) {
    const MatrixD product = dense_product(weights, inverse);
    const MatrixD inner = 15 * one - dense_product(product, 7 * one - product);
    const MatrixD outer = 13 * one - dense_product(product, inner);
    inverse = 0.25 * dense_product(inverse, outer);
  }
  return inverse;
}

NarrowHeads nystrom_heads(const AttentionInput& input, const NystromSettings& settings) {
  const std::int64_t landmarks = settings.landmarks;
  if (landmarks >= std::min(input.queries.rows(), input.keys.rows())) {
    return [&input](std::int64_t head) {
      return NarrowFactors{
          .left = softmax_of_products(head_columns(input.queries, input.heads, head),
                                      head_columns(input.keys, input.heads, head),
                                      input.score_scale(), nullptr, head),
          .right = Matrix::Identity(input.keys.rows(), input.keys.rows())};
    };
  }
  double of_layer = 0;
  if (settings.divisor == FirstDivisor::layer) {
    for (std::int64_t head = 0; head < input.heads; ++head) {
      of_layer =
          std::max(largest_column_sum(nystrom_head(input, head, landmarks).of_landmarks), of_layer);
    }
  }
  return [&input, settings, of_layer](std::int64_t head) {
    const NystromHead parts = nystrom_head(input, head, settings.landmarks);
    const double scale = input.score_scale();
    const double divisor =
        settings.divisor == FirstDivisor::layer ? of_layer : largest_column_sum(parts.of_landmarks);
    const MatrixD left =
        dense_product(softmax_weights(parts.queries, parts.key_landmarks, scale),
                      iterated_inverse(parts.of_landmarks, divisor, settings.iterations));
    return NarrowFactors{
        .left = left.cast<float>(),
        .right =
            softmax_weights(parts.query_landmarks, parts.keys, scale).transpose().cast<float>()};
  };
}

// ---- SOFT ----

struct SoftSettings {
  std::int64_t landmarks = 49;
  std::int64_t iterations = 20;
};

/// Z of the kernel of the landmarks.
MatrixD newton_inverse(MatrixD kernel, std::int64_t iterations) {
  const double largest = kernel.rowwise().sum().maxCoeff();
  kernel.diagonal().array() += 0.01;
  MatrixD inverse = (1.8 / (largest * largest)) * kernel;
  for (std::int64_t i = 0; i < iterations; ++i) {
    const MatrixD product = dense_product(kernel, inverse);
    inverse = 2 * inverse - dense_product(inverse, product);
  }
  return inverse;
}

/// The side r of the areas that the layer's landmark kernels [d, d, r, r] cover. Throws
/// Error(usage) for another shape, or areas of another size.
std::int64_t side_of_kernel(const Tensor& kernel, std::int64_t width, const TokenAreas& areas) {
  const std::int64_t side = areas.rows / areas.down;
  if (kernel.shape() == Shape{width, width, side, side} && areas.rows == side * areas.down &&
      areas.columns == side * areas.across) {
    return side;
  }
  throw Error(ErrorKind::usage, "kernels of landmarks cover the areas of the grid exactly")
      .about("landmark_kernel")
      .expected("[d, d, r, r] with r² patches in each of the areas")
      .found(to_string(kernel.shape()) + " for " + std::to_string(areas.count()) + " areas of " +
             std::to_string(areas.rows) + " × " + std::to_string(areas.columns) + " patches")
      .remedy("set landmarks to the number of areas of r × r patches");
}

/// GELU(LayerNorm(rows)), with torch's epsilon.
void normalise_landmarks(const std::optional<MatrixD>& norm, MatrixD& rows) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const Eigen::RowVectorXd centred = rows.row(i).array() - rows.row(i).mean();
    const double variance = centred.squaredNorm() / static_cast<double>(rows.cols());
    Eigen::RowVectorXd row = centred / std::sqrt(variance + 1e-5);
    if (norm) row = row.cwiseProduct(norm->row(0)) + norm->row(1);
    rows.row(i) = row.unaryExpr([](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
  }
}

/// The convolution [k, d] of a head's scaled queries by kernels [d, d, r, r].
MatrixD convolved_areas(const Tensor& kernel, const MatrixD& queries, const TokenAreas& areas) {
  const std::int64_t width = queries.cols(), side = side_of_kernel(kernel, width, areas);
  MatrixD landmarks = MatrixD::Zero(areas.count(), width);
  for (std::int64_t tap = 0; tap < side * side; ++tap) {
    MatrixD weights(width, width);
    for (std::int64_t i = 0; i < width * width; ++i) {
      weights(i / width, i % width) = static_cast<double>(kernel.data()[i * side * side + tap]);
    }
    MatrixD covered(landmarks.rows(), width);
    for (std::int64_t a = 0; a < covered.rows(); ++a) {
      const std::int64_t y = a / areas.across * side + tap / side;
      const std::int64_t x = a % areas.across * side + tap % side;
      covered.row(a) = queries.row(areas.prefix + y * areas.columns + x);
    }
    landmarks += dense_product_transposed(covered, weights);
  }
  return landmarks;
}

/// The landmarks [k, d] of a head's scaled queries.
MatrixD soft_landmarks(const AttentionInput& input, std::int64_t head, const MatrixD& queries,
                       const TokenAreas& areas) {
  const NamedTensors none;
  const NamedTensors& own = input.parameters ? *input.parameters : none;
  const auto kernel = own.find("landmark_kernel");
  if (kernel == own.end()) return areas.means(queries);
  MatrixD landmarks = convolved_areas(kernel->second, queries, areas);
  const Tensor* const stored =
      find_parameter(&own, "landmark_norm", input.heads, {2, queries.cols()});
  std::optional<MatrixD> norm;
  if (stored) norm = of_head(*stored, head, 2, queries.cols()).cast<double>();
  normalise_landmarks(norm, landmarks);
  return landmarks;
}

NarrowHeads soft_heads(const AttentionInput& input, const SoftSettings& settings) {
  return [&input, settings,
          areas = TokenAreas(input.layout, input.queries.rows(), settings.landmarks, "soft",
                             "landmarks")](std::int64_t head) {
    const double root = std::sqrt(input.score_scale());
    const MatrixD queries = root * head_columns(input.queries, input.heads, head).cast<double>();
    const MatrixD keys = root * head_columns(input.keys, input.heads, head).cast<double>();
    const MatrixD landmarks = soft_landmarks(input, head, queries, areas);
    const MatrixD inverse =
        newton_inverse(gaussian_weights(landmarks, landmarks), settings.iterations);
    const MatrixD left = dense_product(gaussian_weights(queries, landmarks), inverse);
    return NarrowFactors{.left = left.cast<float>(),
                         .right = gaussian_weights(keys, landmarks).cast<float>()};
  };
}

std::unique_ptr<Mechanism> make_soft(const TypedValues& values) {
  const SoftSettings settings{.landmarks = values.whole("landmarks"),
                              .iterations = values.whole("iterations")};
  return make_narrow(
      {.name = "soft",
       .factorise = [settings](const AttentionInput& input) { return soft_heads(input, settings); },
       .columns = [settings](const AttentionShape&) { return settings.landmarks; },
       .term = values.flag("term")});
}

std::unique_ptr<Mechanism> make_agent(const TypedValues& values) {
  const std::int64_t count = values.whole("agents");
  return make_narrow(
      {.name = "agent",
       .factorise = [count](const AttentionInput& input) { return agent_heads(input, count); },
       .columns = [count](const AttentionShape&) { return count; },
       .rows_sum_to_one = true,
       .non_negative = true,
       .term = values.flag("term")});
}

std::unique_ptr<Mechanism> make_nystrom(const TypedValues& values) {
  const NystromSettings settings{.landmarks = values.whole("landmarks"),
                                 .iterations = values.whole("iterations"),
                                 .divisor = values.choice("divisor", first_divisor_names)};
  return make_narrow(
      {.name = "nystrom",
       .factorise =
           [settings](const AttentionInput& input) { return nystrom_heads(input, settings); },
       .columns = [settings](const AttentionShape&) { return settings.landmarks; }});
}

/// Adds the counts of `more` to those of the same components.
void add_counts(std::vector<OperationCount>& counts, const std::vector<OperationCount>& more) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    OperationCount& sum = counts[i];
    for (const auto member :
         {&OperationCount::multiplications, &OperationCount::additions, &OperationCount::divisions,
          &OperationCount::exponentials, &OperationCount::bytes_moved}) {
      sum.*member = (Count(sum.*member) + more[i].*member).value();
    }
  }
}

/// Softmax attention of `queries` rows to `keys` rows of the layer.
std::vector<OperationCount> count_softmax_of(const AttentionShape& shape, std::int64_t queries,
                                             std::int64_t keys, CostConvention convention) {
  AttentionShape part = shape;
  part.queries = queries;
  part.keys = keys;
  return costs::softmax(part, convention);
}

/// Means of `tokens` rows of all heads in `parts` parts.
OperationCount count_pooling(const char* name, const AttentionShape& shape, Count tokens,
                             Count parts, CostConvention convention) {
  const Count width = Count(shape.heads) * shape.head_width;
  OperationCount pooling{.component = name};
  if (convention == CostConvention::adder) return pooling;
  pooling.additions = (tokens * width).value();
  (convention == CostConvention::complete ? pooling.divisions : pooling.multiplications) =
      (parts * width).value();
  return costs::moving(pooling, convention, (tokens + parts) * width);
}

std::vector<OperationCount> count_agent(const AttentionShape& shape, CostConvention convention,
                                        const TypedValues& values) {
  costs::check(shape);
  const std::int64_t agents = values.whole("agents");
  std::vector<OperationCount> counts = count_softmax_of(shape, agents, shape.keys, convention);
  add_counts(counts, count_softmax_of(shape, shape.queries, agents, convention));
  counts.insert(counts.begin(), count_pooling("agents", shape, shape.queries, agents, convention));
  append_convolution(counts, shape, convention, values);
  return counts;
}

std::vector<OperationCount> count_nystrom(const AttentionShape& shape, CostConvention convention,
                                          const TypedValues& values) {
  costs::check(shape);
  const std::int64_t landmarks = values.whole("landmarks");
  if (landmarks >= std::min(shape.queries, shape.keys)) return costs::softmax(shape, convention);
  const Count h = shape.heads, m = landmarks, n = shape.queries;
  std::vector<OperationCount> counts =
      count_softmax_of(shape, landmarks, shape.keys, convention);  // softmax(s Q̃ Kᵀ) V
  add_counts(counts, count_softmax_of(shape, shape.queries, landmarks, convention));
  // softmax(s Q̃ K̃ᵀ), which has no values.
  const std::vector<OperationCount> between =
      count_softmax_of(shape, landmarks, landmarks, convention);
  OperationCount none{.component = "values"};
  add_counts(counts, {between[0], between[1], none});
  // F Z, before the product with the landmarks' values.
  add_counts(counts, {OperationCount{}, OperationCount{},
                      costs::moving(costs::accumulated("values", h * n * m * m), convention,
                                    h * (2 * n * m + m * m))});
  const Count iterations = values.whole("iterations");
  OperationCount inverse = costs::accumulated("inverse", 4 * h * iterations * m * m * m);
  if (convention != CostConvention::adder) {
    inverse.multiplications = (Count(inverse.multiplications) + h * iterations * m * m).value();
    inverse.additions = (Count(inverse.additions) + 3 * h * iterations * m * m + h * m * m).value();
  }
  if (convention == CostConvention::complete) {
    inverse.additions = (Count(inverse.additions) + h * m).value();  // the largest column sum
    inverse.divisions = (h * m * m).value();
    inverse = costs::moving(inverse, convention, h * (2 * m * m + 12 * iterations * m * m));
  } else if (convention == CostConvention::ecoformer) {
    inverse.multiplications = (Count(inverse.multiplications) + h * m * m).value();
  }
  counts.push_back(inverse);
  counts.insert(counts.begin(),
                count_pooling("landmarks", shape, n + shape.keys, 2 * m, convention));
  return counts;
}

std::vector<OperationCount> count_soft(const AttentionShape& shape, CostConvention convention,
                                       const TypedValues& values) {
  costs::check(shape);
  const bool complete = convention == CostConvention::complete;
  const Count h = shape.heads, k = values.whole("landmarks"), n = shape.queries, m = shape.keys;
  const Count d = shape.head_width, dv = shape.value_width, iterations = values.whole("iterations");
  const Count pairs = h * k * (n + m + k);
  OperationCount kernel = costs::accumulated("kernel", pairs * d);
  OperationCount inverse = costs::accumulated("inverse", 2 * h * iterations * k * k * k);
  if (convention != CostConvention::adder) {
    kernel.multiplications = (pairs * d + pairs).value();  // −½ s
    inverse.multiplications =
        (Count(inverse.multiplications) + h * (iterations + 1) * k * k).value();
    inverse.additions = (Count(inverse.additions) + h * (iterations + 1) * k * k).value();
  }
  if (complete) {
    kernel.additions = (2 * pairs * d).value();
    kernel.exponentials = pairs.value();
    inverse.multiplications = (Count(inverse.multiplications) + h).value();  // c²
    inverse.additions = (Count(inverse.additions) + 2 * h * k).value();  // the largest sum, 0.01 I
    inverse.divisions = h.value();
  }
  std::vector<OperationCount> counts = {
      count_pooling("landmarks", shape, n, k, convention),
      costs::moving(kernel, convention, h * (n + m + 2 * k) * d + pairs),
      costs::moving(inverse, convention, h * k * k * (2 + 6 * iterations)),
      costs::moving(costs::accumulated("values", h * (k * m * dv + n * k * k + n * k * dv)),
                    convention, h * (k * m + m * dv + 3 * k * dv + 3 * n * k + k * k + n * dv))};
  append_convolution(counts, shape, convention, values);
  return counts;
}

}  // namespace

MechanismEntry agent_entry() {
  return {.name = "agent",
          .title = "Agent attention",
          .source = "Han et al. 2023 (Agent Attention)",
          .formula = "softmax(QGᵀ/√d) softmax(GKᵀ/√d), G: k pooled queries",
          .rank = "k; N with T",
          .complexity = {"NkD + ND²", "Nk + ND", "Han et al. 2023"},
          .parameters = {setting::whole("agents", 49, {1, 1e6},
                                        "k, agents: means of the queries in the areas of a square "
                                        "on a grid of patches, or in parts of a sequence")
                             .in("tokens"),
                         term_parameter()},
          .accounting = {counted_kernel_parameter(3)},
          .tensors =
              {{"an", "[H, k, M], biases B₁ of the agents' scores",
                [](const AttentionShape& shape, const TypedValues& values) {
                  return std::optional(Shape{shape.heads, values.whole("agents"), shape.keys});
                }},
               {"na", "[H, N, k], biases B₂ of the queries' scores",
                [](const AttentionShape& shape, const TypedValues& values) {
                  return std::optional(Shape{shape.heads, shape.queries, values.whole("agents")});
                }},
               convolution_tensor(false)},
          .counts = count_agent,
          .projections = separate_projections,
          .make = make_agent,
          .scaled = true};
}

MechanismEntry nystrom_entry() {
  return {.name = "nystrom",
          .title = "Nyströmformer",
          .source = "Xiong et al. 2021",
          .formula = "softmax(QK̃ᵀ/√d) Z softmax(Q̃Kᵀ/√d), Z ≈ softmax(Q̃K̃ᵀ/√d)⁺: k landmarks",
          .rank = "k",
          .complexity = {"NkD + k³ + ND²", "Nk + ND", "Xiong et al. 2021"},
          .parameters = {setting::whole(
                             "landmarks", 64, {1, 1e6},
                             "k, means of neighbouring tokens; softmax if there are no more tokens")
                             .in("tokens"),
                         setting::whole("iterations", 6, {0, 100}, "iterations of the inverse Z"),
                         setting::choice(
                             "divisor", names_of(first_divisor_names), "layer",
                             "c, largest sum of a column, of all heads of the layer or of the "
                             "head: Z begins as Pᵀ/c")},
          .counts = count_nystrom,
          .projections = separate_projections,
          .make = make_nystrom,
          .scaled = true};
}

MechanismEntry soft_entry() {
  return {
      .name = "soft",
      .title = "SOFT",
      .source = "Lu et al. 2021",
      .formula = "κ(Q, Q̃) Z κ(Q̃, K), κ(a, b) = exp(−‖a − b‖²/2√d), Z ≈ κ(Q̃, Q̃)⁻¹: k landmarks",
      .rank = "k; N with T",
      .complexity = {"NkD + k³ + ND²", "Nk + ND", "Lu et al. 2021"},
      .parameters = {setting::whole("landmarks", 49, {1, 1e6},
                                    "k, means of the queries in the areas of a square on a grid of "
                                    "patches, or in parts of a sequence")
                         .in("tokens"),
                     setting::whole("iterations", 20, {0, 100}, "iterations of the inverse Z"),
                     term_parameter()},
      .accounting = {counted_kernel_parameter(3)},
      .tensors = {{"landmark_kernel",
                   "[d, d, r, r], convolution of areas of r × r patches, instead of their means"},
                  {"landmark_norm", "[2, d], weight and bias of the LayerNorm that follows it"},
                  convolution_tensor(false)},
      .counts = count_soft,
      .projections = shared_projections,
      .make = make_soft,
      .scaled = true};
}

}  // namespace attnscope
