// Single numbers that say what maps and a mechanism's own quantities are like on one input. A new
// one is a function and a line of the list; sweeps, their files and their figures then have it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "analysis/heads/row_weights.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The quantity that every mechanism has: the map of a head, without the I of an identity mapping.
inline constexpr std::string_view kMapQuantity = "map";

struct SweepStatistic {
  std::string_view name;      ///< "importance_entropy": in files
  std::string_view title;     ///< with its unit: an axis
  std::string_view quantity;  ///< of Mechanism::quantities: "importance"; or kMapQuantity
  /// One head's share of the quantity: a row for [H, M], a slice for [H, N, b]. May be NaN. Null
  /// for kMapQuantity.
  double (*of)(const ConstMatrixMap& head);
  /// Of a head's map that is a distribution over keys, with kMapQuantity.
  double (RowWeights::*of_weights)() const = nullptr;
};

[[nodiscard]] std::span<const SweepStatistic> sweep_statistics();

/// Those of kMapQuantity, by name, of one map; NaN where it is no distribution over keys.
[[nodiscard]] std::map<std::string_view, double> map_statistics(MatrixD map);

}  // namespace attnscope
