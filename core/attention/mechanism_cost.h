// What one mechanism with its settings costs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/attention/mechanism.h"

namespace attnscope {

/// A mechanism of counted_mechanisms() with every setting that counts, as its entry counts it.
class MechanismCost {
 public:
  /// Fills in defaults and validates. Throws Error(usage) naming mechanism, parameter and range.
  explicit MechanismCost(const MechanismChoice& choice);

  [[nodiscard]] const MechanismEntry& entry() const { return entry_; }

  /// Of one layer's core. Throws Error(usage): impossible extents, counts beyond 2^63 − 1.
  [[nodiscard]] std::vector<OperationCount> counts(const AttentionShape& shape,
                                                   CostConvention convention) const;
  [[nodiscard]] std::vector<Projection> projections(std::int64_t width,
                                                    const AttentionShape& shape) const;
  /// Learned numbers of a layer beside its projections: position biases, hash functions.
  [[nodiscard]] std::int64_t own_parameters(const AttentionShape& shape) const;

 private:
  const MechanismEntry& entry_;
  ParameterValues values_;
};

/// Query, key, value and output projections: what most mechanisms have around them.
[[nodiscard]] std::vector<Projection> separate_projections(std::int64_t width,
                                                           const AttentionShape& shape,
                                                           const TypedValues& values);

/// The same with one projection for queries and keys.
[[nodiscard]] std::vector<Projection> shared_projections(std::int64_t width,
                                                         const AttentionShape& shape,
                                                         const TypedValues& values);

/// Values and output alone.
[[nodiscard]] std::vector<Projection> value_projections(std::int64_t width,
                                                        const AttentionShape& shape,
                                                        const TypedValues& values);

}  // namespace attnscope
