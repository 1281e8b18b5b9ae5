#include "analysis/html/map_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/file/deflate.h"

namespace attnscope {

TileCoding TileCoding::for_cells(std::int64_t cells) {
  return cells <= most_fine_cells ? TileCoding{16, 1} : TileCoding{8, 2};
}

MapTile tile_of(const Matrix& map, const TileCoding& coding) {
  const std::span<const float> entries(map.data(), static_cast<std::size_t>(map.size()));
  MapTile tile;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const float entry : entries) {
    if (!std::isfinite(entry)) continue;
    low = std::min(low, static_cast<double>(entry));
    high = std::max(high, static_cast<double>(entry));
  }
  if (low <= high) {
    tile.minimum = low;
    tile.maximum = high;
  }
  const double range = tile.maximum - tile.minimum;
  const std::uint32_t top = coding.top();
  std::string high_bytes, low_bytes;
  for (const float entry : entries) {
    std::uint32_t code = top + 1;
    if (std::isfinite(entry)) {
      const double fraction = range > 0 ? (entry - tile.minimum) / range : 0;
      code = static_cast<std::uint32_t>(std::lround(std::pow(fraction, 1 / coding.power) * top));
      const double decoded =
          tile.minimum + range * std::pow(code / static_cast<double>(top), coding.power);
      tile.largest_error = std::max(tile.largest_error, std::abs(entry - decoded));
    }
    if (coding.bits == 16) high_bytes += static_cast<char>(code >> 8U);
    low_bytes += static_cast<char>(code & 255U);
  }
  tile.packed = deflated(high_bytes + low_bytes);
  return tile;
}

}  // namespace attnscope
