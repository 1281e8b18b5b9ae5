// Linear attention with rotary positions in the numerator: φ(x) = 1 + elu(x), R turns pairs of
// channels by angles that grow with a patch's row and column, ε = 10⁻⁶.
//
//   rala  A_ij = (R φ(q_i))·(R κ_j φ(k_j)) / (φ(q_i)·Σ_l κ_l φ(k_l) + ε M)      (Fan et al. 2025)
//         with κ = M softmax_j(mean_i φ(q_i)·φ(k_j) / √d)
//   mlla  A_ij = (R φ(q_i))·(R φ(k_j)) / (φ(q_i)·Σ_l φ(k_l) + ε M)              (Han et al. 2024)
//
// The denominator has no R, so that rows need not sum to 1, and weights may be negative. The first
// half of the pairs turns with the row, the second half with the column: in each head by angles
// 10000^−(p/(P − 1)) (RALA), and over all channels, before they are split into heads, by
// 10000^−(p/P) (MLLA). Channels beyond a multiple of four do not turn, nor do prefix tokens, which
// the authors' models have not. A sequence is a grid of one row. RALA's product of the output with
// another projection of the tokens is no part of the map. MLLA's values are the tokens themselves.
#include <memory>
#include <tbb/parallel_for.h>
#include <utility>
#include <vector>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/narrow_map.h"
#include "core/attention/rotary_features.h"
#include "core/attention/values_convolution.h"

namespace attnscope {

namespace {

MatrixD turned(const TokenTurns& turns, MatrixD rows) {
  tbb::parallel_for(Eigen::Index{0}, rows.rows(),
                    [&](Eigen::Index token) { turns.turn(token, rows); });
  return rows;
}

/// Features of all heads, and the same turned.
struct TurnedFeatures {
  MatrixD queries, keys, turned_queries, turned_keys;
};

NarrowHeads heads_of(std::shared_ptr<const TurnedFeatures> all, std::int64_t d) {
  return [all = std::move(all), d](std::int64_t head) {
    const auto part = [&](const MatrixD& rows) { return rows.middleCols(head * d, d); };
    return narrow_quotient(part(all->turned_queries), part(all->turned_keys), part(all->queries),
                           part(all->keys));
  };
}

NarrowHeads mlla_heads(const AttentionInput& input) {
  const auto all = std::make_shared<TurnedFeatures>();
  all->queries = elu_features(input.queries);
  all->keys = elu_features(input.keys);
  const std::int64_t channels = input.keys.cols();
  all->turned_queries =
      turned(mlla_turns(input.layout, input.queries.rows(), channels), all->queries);
  all->turned_keys = turned(mlla_turns(input.layout, input.keys.rows(), channels), all->keys);
  return heads_of(all, input.keys.cols() / input.heads);
}

NarrowHeads rala_heads(const AttentionInput& input) {
  const auto all = std::make_shared<TurnedFeatures>();
  all->queries = elu_features(input.queries);
  all->keys = elu_features(input.keys);
  const std::int64_t d = input.keys.cols() / input.heads;
  for (std::int64_t head = 0; head < input.heads && d > 0; ++head) {
    auto keys = all->keys.middleCols(head * d, d);
    const Eigen::ArrayXd weights = rala_key_weights(all->queries.middleCols(head * d, d), keys);
    keys.array().colwise() *= weights;
  }
  all->turned_queries =
      turned(rala_turns(input.layout, input.queries.rows(), input.heads, d), all->queries);
  all->turned_keys = turned(rala_turns(input.layout, input.keys.rows(), input.heads, d), all->keys);
  return heads_of(all, d);
}

/// The mechanism with these factors.
template <NarrowHeads (*kHeads)(const AttentionInput&)>
std::unique_ptr<Mechanism> make_turned(std::string_view name, const TypedValues& values) {
  return make_narrow({.name = name,
                      .factorise = kHeads,
                      .columns = [](const AttentionShape& shape) { return shape.head_width; },
                      .term = values.flag("term")});
}

/// `turned` pairs of channels of a token. The sines are stored.
std::vector<OperationCount> count_turned(const AttentionShape& shape, CostConvention convention,
                                         Count turned, const TypedValues& values) {
  std::vector<OperationCount> counts = costs::linear(shape, convention);
  const Count tokens = Count(shape.queries) + shape.keys, pairs = tokens * turned;
  OperationCount rotation{.component = "rotation"};
  if (convention != CostConvention::adder) {
    rotation = costs::moving(costs::component("rotation", 4 * pairs, 2 * pairs), convention,
                             4 * pairs + 2 * pairs);
  }
  count_offset(counts, shape, convention);
  counts.insert(counts.begin() + 1, rotation);
  append_convolution(counts, shape, convention, values);
  return counts;
}

std::vector<OperationCount> count_mlla(const AttentionShape& shape, CostConvention convention,
                                       const TypedValues& values) {
  return count_turned(shape, convention, Count(shape.heads) * shape.head_width / 4 * 2, values);
}

std::vector<OperationCount> count_rala(const AttentionShape& shape, CostConvention convention,
                                       const TypedValues& values) {
  std::vector<OperationCount> counts = count_turned(
      shape, convention, Count(shape.heads) * (Count(shape.head_width) / 4 * 2), values);
  const Count h = shape.heads, n = shape.queries, m = shape.keys, d = shape.head_width;
  OperationCount weights = costs::accumulated("key weights", h * m * d);
  if (convention != CostConvention::adder) {
    // The mean query, the softmax, M times it, and its products with the keys.
    const OperationCount softmax = costs::softmax_rows(shape.heads, shape.keys, convention);
    weights = softmax;
    weights.component = "key weights";
    weights.multiplications = (Count(softmax.multiplications) + h * (m * d + m + m * d)).value();
    weights.additions = (Count(softmax.additions) + h * (n * d + m * d)).value();
    if (convention == CostConvention::complete) {
      weights.divisions = (Count(softmax.divisions) + h * d).value();
      weights = costs::moving(weights, convention, h * (n * d + 3 * m * d + 2 * m));
    } else {
      weights.multiplications = (Count(weights.multiplications) + h * d).value();
    }
  }
  counts.insert(counts.begin() + 1, weights);
  return counts;
}

/// Query, key and output projections.
std::vector<Projection> projections_without_values(std::int64_t width, const AttentionShape& shape,
                                                   const TypedValues& values) {
  std::vector<Projection> list = separate_projections(width, shape, values);
  list.erase(list.begin() + 2);
  return list;
}

}  // namespace

MechanismEntry rala_entry() {
  return {
      .name = "rala",
      .title = "Rank-augmented linear attention (RALA)",
      .source = "Fan et al. 2025",
      .formula = "(Rφ(q))·(Rκφ(k)) / (φ(q)·Σκφ(k)) with φ = 1 + elu, κ = N softmax(q̄·φ(k)/√d)",
      .rank = "d; N with T",
      .complexity = {"ND²", "ND + D²", "Fan et al. 2025"},
      .parameters = {term_parameter()},
      .accounting = {counted_kernel_parameter(5)},
      .tensors = {convolution_tensor(false)},
      .counts = count_rala,
      .projections = separate_projections,
      .make = [](const TypedValues& values) { return make_turned<rala_heads>("rala", values); }};
}

MechanismEntry mlla_entry() {
  return {
      .name = "mlla",
      .title = "Mamba-like linear attention (MLLA)",
      .source = "Han et al. 2024 (MLLA)",
      .formula = "(Rφ(q))·(Rφ(k)) / (φ(q)·Σφ(k)) with φ = 1 + elu",
      .rank = "d; N with T",
      .complexity = {"ND²", "ND + D²", "Han et al. 2024"},
      .parameters = {term_parameter()},
      .accounting = {counted_kernel_parameter(3)},
      .tensors = {convolution_tensor(false)},
      .counts = count_mlla,
      .projections = projections_without_values,
      .make = [](const TypedValues& values) { return make_turned<mlla_heads>("mlla", values); }};
}

}  // namespace attnscope
