// Statistics of the values of one shown map.
#pragma once

#include <cstdint>
#include <vector>

#include "app/canvas/shown_maps.h"

namespace attnscope {

/// Statistics of the finite values; 0 if there are none.
struct MapValues {
  double least = 0, greatest = 0, mean = 0, deviation = 0;
  double least_row_sum = 0, greatest_row_sum = 0;
  std::int64_t zeros = 0, finite = 0, not_finite = 0;
};
[[nodiscard]] MapValues map_values(const ShownMaps& maps, std::int64_t layer, std::int64_t column);

/// Mean value at each distance |query − key| of a square map, from 0; NaN if no value is finite.
/// Empty for other maps.
[[nodiscard]] std::vector<double> means_over_distance(const ShownMaps& maps, std::int64_t layer,
                                                      std::int64_t column);

}  // namespace attnscope
