#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"

namespace attnscope::costs {

void append_linear_attention(OperationCounts& counts, const AttentionShape& shape,
                             CostConvention convention, Count f) {
  const Count n = shape.queries, m = shape.keys, h = shape.heads, c = shape.value_width;
  OperationCount values = accumulated("values", h * (n + m) * f * c);
  OperationCount normaliser{.component = "normaliser"};
  OperationCount division{.component = "division"};
  switch (convention) {
    case CostConvention::adder:
      break;
    case CostConvention::ecoformer:
      normaliser = component("normaliser", h * n * f + h * n, h * (n + m) * f);
      division.multiplications = (h * n * c).value();
      break;
    case CostConvention::complete:
      normaliser = component("normaliser", h * n * f, h * (n + m) * f);
      division.divisions = (h * n * c).value();
      values = moving(values, convention, h * ((n + m) * (f + c) + 2 * f * c));
      normaliser = moving(normaliser, convention, h * ((n + m) * f + n));
      division = moving(division, convention, h * n * (2 * c + 1));
      break;
  }
  counts.push_back(values);
  counts.push_back(normaliser);
  counts.push_back(division);
}

OperationCounts performer(const AttentionShape& shape, CostConvention convention,
                          std::int64_t features, bool as_released, bool relu) {
  check(shape);
  check_positive("features", features);
  const FeatureKind kind = relu ? FeatureKind::relu : FeatureKind::positive;
  OperationCounts counts = {
      random_features("query features", shape, shape.queries, convention, features, kind),
      random_features("key features", shape, shape.keys, convention, features, kind)};
  if (as_released && convention == CostConvention::ecoformer) {
    const Count n = shape.queries, m = shape.keys, h = shape.heads, c = shape.value_width;
    counts.push_back(accumulated("values", h * (2 * n + m) * features * c));
    counts.push_back(accumulated("normaliser", h * (n + m) * features));
    return counts;
  }
  append_linear_attention(counts, shape, convention, features);
  return counts;
}

OperationCounts linear(const AttentionShape& shape, CostConvention convention) {
  check(shape);
  const Count elements =
      Count(shape.heads) * (Count(shape.queries) + shape.keys) * shape.head_width;
  OperationCounts counts = {OperationCount{.component = "features"}};
  if (convention == CostConvention::complete) {
    // 1 + elu(x) is a comparison and, for x < 0, exp; the sum is counted for every element.
    counts[0] = component("features", 0, 2 * elements);
    counts[0].exponentials = elements.value();
    counts[0] = moving(counts[0], convention, 2 * elements);
  }
  append_linear_attention(counts, shape, convention, shape.head_width);
  return counts;
}

OperationCounts linformer(const AttentionShape& shape, CostConvention convention,
                          std::int64_t landmarks, bool mask) {
  check(shape);
  check_positive("landmarks", landmarks);
  const Count m = shape.keys, h = shape.heads, d = shape.head_width, dv = shape.value_width,
              k = landmarks;
  OperationCount projection = accumulated("landmarks", k * m * h * (d + dv));
  if (mask && convention != CostConvention::adder) {
    projection.multiplications = (k * m * h * (d + dv) + m * h * (d + dv)).value();
  }
  OperationCounts counts = {moving(projection, convention, (m + k) * h * (d + dv) + 2 * k * m)};
  AttentionShape reduced = shape;
  reduced.keys = landmarks;
  for (OperationCount& count : softmax(reduced, convention)) counts.push_back(std::move(count));
  return counts;
}

}  // namespace attnscope::costs
