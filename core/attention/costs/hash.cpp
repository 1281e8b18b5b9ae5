#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"

namespace attnscope::costs {

namespace {

OperationCount kernel_features(const AttentionShape& shape, CostConvention convention, Count m) {
  const Count pairs = Count(shape.heads) * shape.queries * m, c = shape.head_width;
  switch (convention) {
    case CostConvention::adder:
      return accumulated("hash kernel", pairs * c);
    case CostConvention::ecoformer:
      return component("hash kernel", 2 * pairs, 2 * pairs * c);
    case CostConvention::complete:
      break;
  }
  // Operations: squared distance, product with -1/(2σ), exp, mean over tokens, difference from it.
  OperationCount count = component("hash kernel", pairs * c + pairs, 2 * pairs * c + 2 * pairs);
  count.exponentials = pairs.value();
  count.divisions = (Count(shape.heads) * m).value();
  return moving(count, convention, Count(shape.heads) * (Count(shape.queries) + m) * c + pairs);
}

OperationCount code_projection(const AttentionShape& shape, CostConvention convention, Count width,
                               Count bits) {
  const Count codes = Count(shape.heads) * shape.queries * bits;
  OperationCount count = accumulated("hash projection", codes * width);
  if (convention == CostConvention::complete) {
    count.additions = (codes * width + codes).value();  // the sign is a comparison
    count = moving(
        count, convention,
        Count(shape.heads) * shape.queries * width + Count(shape.heads) * width * bits + codes);
  }
  return count;
}

/// Linear attention over codes of ±1 (EcoFormer, Eq. 9).
void append_code_attention(OperationCounts& counts, const AttentionShape& shape,
                           CostConvention convention, Count bits) {
  const Count rows = Count(shape.heads) * shape.queries, b = bits, c = shape.value_width;
  const Count h = shape.heads;
  const bool papers = convention == CostConvention::ecoformer;
  const bool complete = convention == CostConvention::complete;

  OperationCount values = component("values", 0, 2 * rows * b * c);
  OperationCount bias = component("bias 2^c", 0, papers ? rows * c : Count(0));
  OperationCount normaliser = component("normaliser", 0, 2 * rows * b);
  OperationCount division{.component = "division"};
  if (papers) {
    normaliser.multiplications = (rows * b + rows).value();
    division.multiplications = (rows * c).value();
  }
  if (complete) {
    // Operations: Σ v and its addition to every row; one shift per element of Σ v, one for 2^c N.
    bias.additions = (2 * rows * c).value();
    bias.shifts = (h * c).value();
    normaliser.additions = (2 * rows * b + rows).value();
    normaliser.shifts = shape.heads;
    division.divisions = (rows * c).value();
    values = moving(values, convention, 2 * rows * (b + c) + 2 * h * b * c);
    bias = moving(bias, convention, 3 * rows * c);
    normaliser = moving(normaliser, convention, 2 * rows * b + rows);
    division = moving(division, convention, 2 * rows * c + rows);
  }
  counts.push_back(values);
  counts.push_back(bias);
  counts.push_back(normaliser);
  counts.push_back(division);
}

}  // namespace

OperationCounts hash(const AttentionShape& shape, CostConvention convention,
                     const HashOptions& options) {
  check(shape);
  check_shared("hash", shape);
  check_positive("bits", options.bits);
  OperationCounts counts;
  if (options.codes == CodeKind::kernel) {
    check_positive("supports", options.supports);
    counts.push_back(kernel_features(shape, convention, options.supports));
    counts.push_back(code_projection(shape, convention, options.supports, options.bits));
    append_code_attention(counts, shape, convention, options.bits);
    return counts;
  }
  const bool of_tokens = options.features == 0;
  const std::int64_t features = of_tokens ? shape.head_width : options.features;
  if (!of_tokens) {
    check_positive("features", features);
    counts.push_back(random_features("features", shape, shape.queries, convention, features));
  }
  if (options.codes == CodeKind::lsh) {
    counts.push_back(code_projection(shape, convention, features, options.bits));
    append_code_attention(counts, shape, convention, options.bits);
    return counts;
  }
  if (convention == CostConvention::complete) {
    // Operations: the scale ‖u‖₁/n of a row, and its signs.
    const Count rows = Count(shape.heads) * shape.queries, f = features;
    counts.push_back(
        moving(component("binarisation", rows, 2 * rows * f), convention, 2 * rows * f));
  }
  append_code_attention(counts, shape, convention, features);
  return counts;
}

}  // namespace attnscope::costs
