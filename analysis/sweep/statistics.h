// Scalar statistics of maps and of a mechanism's own quantities on one input. A new one is a
// function and an entry of the list; sweeps, their files and their figures then include it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "analysis/heads/row_weights.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The quantity of every mechanism: the map of a head, without the I of an identity mapping.
inline constexpr std::string_view kMapQuantity = "map";

struct SweepStatistic {
  std::string_view name;   ///< "importance_entropy": name in files
  std::string_view title;  ///< title of an axis, with its unit
  /// A name of Mechanism::quantities, such as "importance", or kMapQuantity.
  std::string_view quantity;
  /// Computes the statistic from one head's slice of the quantity: a row of [H, M], a slice of
  /// [H, N, b]. May return NaN. Null for kMapQuantity.
  double (*of)(const ConstMatrixMap& head);
  /// Computes the statistic from a head's map whose rows are distributions; for kMapQuantity.
  double (RowWeights::*of_weights)() const = nullptr;
};

[[nodiscard]] std::span<const SweepStatistic> sweep_statistics();

/// The statistics of kMapQuantity of one map, whose queries see the keys `seen`, by name; NaN if
/// its rows are not distributions over keys.
[[nodiscard]] std::map<std::string_view, double> map_statistics(MatrixD map, const SeenKeys& seen);

}  // namespace attnscope
