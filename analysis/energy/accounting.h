// Counts the operations of a whole network: every component of every layer, under one convention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/energy/architecture.h"
#include "analysis/energy/constants.h"
#include "core/attention/mechanism_cost.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

struct AccountingOptions {
  CostConvention convention = CostConvention::complete;
  MechanismChoice mechanism;
  Arithmetic arithmetic = Arithmetic::multiplicative;
  /// Number of layers at either end that stay multiplicative, with softmax instead of adder
  /// attention (Adder on ImageNet: 1).
  std::int64_t multiplicative_ends = 0;
  /// True to count the family's own windows and spatial reduction (PVTv2, Twins) instead of all
  /// keys.
  bool native_attention = false;
};

/// Group of a component: EcoFormer's Fig. 2 compares `attention` with `feed_forward`.
enum class ComponentGroup { embedding, attention, feed_forward, normalisation, head };

struct ComponentCost {
  OperationCount count;
  ComponentGroup group = ComponentGroup::embedding;
};

/// One layer, or a part outside the layers.
struct PartCost {
  std::string name;         ///< "embedding", "layer 0", "head"
  std::int64_t layer = -1;  ///< index over all stages; -1 outside the layers
  std::vector<ComponentCost> components;
};

struct NetworkCost {
  std::vector<PartCost> parts;

  /// Sums by component, in order of first appearance. Throws Error(usage) above 2^63 - 1.
  [[nodiscard]] std::vector<ComponentCost> by_component() const;
  [[nodiscard]] OperationCount total() const;
  [[nodiscard]] OperationCount total_of(ComponentGroup group) const;
};

/// Throws Error(usage): unknown mechanism or parameter, invalid dimensions, counts above 2^63 - 1.
[[nodiscard]] NetworkCost count_operations(const Network& architecture,
                                           const AccountingOptions& options);

/// Operations of the attention core of one layer of `stage`, without projections, keys included.
[[nodiscard]] std::vector<OperationCount> count_core(const Stage& stage,
                                                     const MechanismChoice& mechanism,
                                                     CostConvention convention);

/// Number of learned parameters of a component ("patch embedding", "position bias", "FFN", …).
struct ParameterCount {
  std::string component;
  std::int64_t parameters = 0;
};
[[nodiscard]] std::vector<ParameterCount> count_parameters(const Network& architecture,
                                                           const AccountingOptions& options);

/// Adds component-wise; the component's name is kept. Throws Error(usage) above 2^63 - 1.
void accumulate(OperationCount& sum, const OperationCount& count);

[[nodiscard]] std::string_view name_of(ComponentGroup group);
inline constexpr EnumName<CostConvention> cost_convention_names[] = {
    {CostConvention::adder, "adder"},
    {CostConvention::ecoformer, "ecoformer"},
    {CostConvention::complete, "complete"}};
[[nodiscard]] inline std::string_view name_of(CostConvention convention) {
  return name_of(cost_convention_names, convention);
}
/// Finds a convention by name. Throws Error(usage) listing adder, ecoformer, complete.
[[nodiscard]] inline CostConvention find_convention(std::string_view name) {
  return value_of(cost_convention_names, name, "convention");
}

}  // namespace attnscope
