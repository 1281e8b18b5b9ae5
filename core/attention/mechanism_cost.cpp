#include "core/attention/mechanism_cost.h"

#include "core/attention/costs/count.h"

namespace attnscope {

MechanismCost::MechanismCost(const MechanismChoice& choice)
    : entry_(find_counted_mechanism(choice.name)),
      values_(complete_values(entry_.name, entry_.counted_parameters(), choice.parameters)) {}

std::vector<OperationCount> MechanismCost::counts(const AttentionShape& shape,
                                                  CostConvention convention) const {
  return entry_.counts(shape, convention, TypedValues(values_));
}

std::vector<Projection> MechanismCost::projections(std::int64_t width,
                                                   const AttentionShape& shape) const {
  return entry_.projections(width, shape, TypedValues(values_));
}

std::int64_t MechanismCost::own_parameters(const AttentionShape& shape) const {
  Count all = 0;
  for (const TensorDescription& tensor : entry_.tensors) {
    const auto extents = tensor.shape ? tensor.shape(shape, TypedValues(values_)) : std::nullopt;
    if (!extents) continue;
    Count size = tensor.learned;
    for (const std::int64_t extent : *extents) size = size * extent;
    all += size;
  }
  return all.value();
}

std::vector<Projection> separate_projections(std::int64_t width, const AttentionShape& shape,
                                             const TypedValues&) {
  const std::int64_t keys = (Count(shape.heads) * shape.head_width).value();
  const std::int64_t values = (Count(shape.heads) * shape.value_width).value();
  return {{"query projection", width, keys},
          {"key projection", width, keys, true},
          {"value projection", width, values, true},
          {"output projection", values, width}};
}

std::vector<Projection> shared_projections(std::int64_t width, const AttentionShape& shape,
                                           const TypedValues& values) {
  std::vector<Projection> list = separate_projections(width, shape, values);
  list[0].component = "query-key projection";
  list.erase(list.begin() + 1);
  return list;
}

std::vector<Projection> value_projections(std::int64_t width, const AttentionShape& shape,
                                          const TypedValues& values) {
  std::vector<Projection> list = separate_projections(width, shape, values);
  list.erase(list.begin(), list.begin() + 2);
  return list;
}

}  // namespace attnscope
