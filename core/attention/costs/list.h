// Every mechanism whose cost is known, also those the program cannot run: names as in files and
// flags, parameters, and which projections feed its core.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/costs/cost.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// A linear layer of a mechanism, applied to every token.
struct Projection {
  std::string component;     ///< "query projection"
  std::int64_t inputs = 0;   ///< features
  std::int64_t outputs = 0;  ///< features
  bool of_keys = false;      ///< applied to the M key tokens, not to the N query tokens
};

/// One line of the list of costs.
struct AttentionCost {
  std::string_view name;    ///< "hash"
  std::string_view title;   ///< "Kernelised hashing"
  std::string_view source;  ///< "EcoFormer, Eq. 7 to 11"
  std::span<const ParameterDescription> parameters;
  /// `values` holds every described parameter, validated.
  std::vector<OperationCount> (*count)(const AttentionShape& shape, CostConvention convention,
                                       const ParameterValues& values);
  /// `width` is D of the model; the core's own extents come from `shape`.
  std::vector<Projection> (*projections)(std::int64_t width, const AttentionShape& shape,
                                         const ParameterValues& values);
  /// Learned numbers beside the projections, a layer (position biases, hash weights).
  std::int64_t (*own_parameters)(const AttentionShape& shape, const ParameterValues& values);
};

[[nodiscard]] std::span<const AttentionCost> attention_costs();

/// Throws Error(usage) listing the known names.
[[nodiscard]] const AttentionCost& find_attention_cost(std::string_view name);

/// Every parameter of `cost`: those of `values`, validated, and defaults. Throws Error(usage)
/// naming the mechanism, the parameter and its range.
[[nodiscard]] ParameterValues complete_parameters(const AttentionCost& cost,
                                                  const ParameterValues& values);

}  // namespace attnscope
