#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"
#include "core/error.h"

namespace attnscope::costs {

namespace {

/// exp(K) ⊙ V, the quotient and the gate σ(Q): three products per element in the papers'
/// convention.
void append_elementwise(OperationCounts& counts, CostConvention convention, Count queries,
                        Count keys, Count key_channels, Count width) {
  const bool complete = convention == CostConvention::complete;
  if (convention == CostConvention::adder) return;
  OperationCount weights = component("key weights", keys * width, 0);
  OperationCount division{.component = "division"};
  OperationCount gate = component("gate", queries * width, 0);
  if (complete) {
    // Operations: the largest key of a channel, the difference, exp.
    weights.additions = (2 * keys * key_channels).value();
    weights.exponentials = (keys * key_channels).value();
    weights = moving(weights, convention, 2 * keys * key_channels + 2 * keys * width);
    division.divisions = (queries * width).value();
    division = moving(division, convention, 3 * queries * width);
    gate.additions = gate.exponentials = gate.divisions = (queries * width).value();
    gate = moving(gate, convention, 3 * queries * width);
  } else {
    division.multiplications = (queries * width).value();
  }
  counts.push_back(weights);
  counts.push_back(division);
  counts.push_back(gate);
}

}  // namespace

OperationCounts daft_full(const AttentionShape& shape, CostConvention convention,
                          std::int64_t factors) {
  check(shape);
  const Count n = shape.queries, m = shape.keys, width = Count(shape.heads) * shape.value_width;
  OperationCounts counts;
  if (factors > 0) {
    counts.push_back(moving(accumulated("position bias", n * m * factors), convention,
                            (n + m) * factors + n * m));
  }
  if (convention == CostConvention::complete) {
    // Operations: the largest bias of a row, the difference, exp.
    OperationCount weights = component("position weights", 0, 2 * n * m);
    weights.exponentials = (n * m).value();
    counts.push_back(moving(weights, convention, 2 * n * m));
  }
  counts.push_back(
      moving(accumulated("values", n * m * width), convention, n * m + (n + m) * width));
  counts.push_back(
      moving(accumulated("normaliser", n * m * width), convention, n * m + (n + m) * width));
  append_elementwise(counts, convention, n, m, width, width);
  return counts;
}

OperationCounts daft_conv(const AttentionShape& shape, CostConvention convention,
                          const DaftConvOptions& options) {
  check(shape);
  check_shared("daft-conv", shape);
  check_positive("kernel", options.kernel);
  check_positive("conv-heads", options.heads);
  const Count n = shape.queries, width = Count(shape.heads) * shape.value_width,
              channels = options.heads;
  if (width.value() % options.heads != 0) {
    throw Error(ErrorKind::usage, "the number of heads does not divide the width")
        .about("conv-heads")
        .expected("a divisor of " + std::to_string(width.value()))
        .found(std::to_string(options.heads));
  }
  const bool complete = convention == CostConvention::complete;
  const Count taps =
      options.dimensions == 2 ? Count(options.kernel) * options.kernel : Count(options.kernel);
  OperationCounts counts;
  if (complete) {
    OperationCount weights = component("position weights", 0, channels * taps);  // exp(r) - 1
    weights.exponentials = (channels * taps).value();
    counts.push_back(moving(weights, convention, 2 * channels * taps));
  }
  counts.push_back(
      moving(accumulated("values", n * width * taps), convention, 2 * n * width + channels * taps));
  counts.push_back(moving(accumulated("normaliser", n * channels * taps), convention,
                          2 * n * channels + channels * taps));
  if (convention != CostConvention::adder) {
    // Sums over all tokens of exp(K) ⊙ V and, under `complete`, of exp(K), added to every token.
    const Count sums = 2 * n * width + (complete ? 2 * n * channels : Count(0));
    counts.push_back(moving(component("global sums", 0, sums), convention, 3 * n * width));
  }
  append_elementwise(counts, convention, n, n, channels, width);
  return counts;
}

}  // namespace attnscope::costs
