// Statistics and means over distances of one shown map.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "app/canvas/shown_maps.h"

namespace attnscope {

/// Statistics of the finite values of one shown map; 0 if there are none.
struct MapValues {
  double least = 0, greatest = 0, mean = 0, deviation = 0;
  double least_row_sum = 0, greatest_row_sum = 0;
  std::int64_t zeros = 0, finite = 0, not_finite = 0;
};
[[nodiscard]] MapValues map_values(const ShownMaps& maps, std::int64_t layer, std::int64_t column);

/// "0.001 to 0.2, mean 0.004 ± 0.01; rows sum to 1; 3 % zeros".
[[nodiscard]] QString values_in_words(const MapValues& values);

/// Mean value at each distance |query − key| of a square map, from 0; NaN if no value is finite.
/// Empty for other maps.
[[nodiscard]] std::vector<double> means_over_distance(const ShownMaps& maps, std::int64_t layer,
                                                      std::int64_t column);

}  // namespace attnscope
