// Cost of a mechanism with its settings.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/attention/mechanism.h"

namespace attnscope {

/// Counts operations and parameters of one of counted_mechanisms() with all its settings.
class MechanismCost {
 public:
  /// Fills in defaults and validates. Throws Error(usage) naming mechanism, parameter and range.
  explicit MechanismCost(const MechanismChoice& choice);

  [[nodiscard]] const MechanismEntry& entry() const { return entry_; }

  /// Operations of one layer's core. Throws Error(usage) for invalid dimensions and for counts
  /// beyond 2^63 − 1.
  [[nodiscard]] std::vector<OperationCount> counts(const AttentionShape& shape,
                                                   CostConvention convention) const;
  [[nodiscard]] std::vector<Projection> projections(std::int64_t width,
                                                    const AttentionShape& shape) const;
  /// Number of learned parameters of a layer besides its projections (position biases, hash
  /// functions).
  [[nodiscard]] std::int64_t own_parameters(const AttentionShape& shape) const;

 private:
  const MechanismEntry& entry_;
  ParameterValues values_;
};

/// Query, key, value and output projections, the default of most mechanisms.
[[nodiscard]] std::vector<Projection> separate_projections(std::int64_t width,
                                                           const AttentionShape& shape,
                                                           const TypedValues& values);

/// Value and output projections, and one projection shared by queries and keys.
[[nodiscard]] std::vector<Projection> shared_projections(std::int64_t width,
                                                         const AttentionShape& shape,
                                                         const TypedValues& values);

/// Value and output projections only.
[[nodiscard]] std::vector<Projection> value_projections(std::int64_t width,
                                                        const AttentionShape& shape,
                                                        const TypedValues& values);

}  // namespace attnscope
