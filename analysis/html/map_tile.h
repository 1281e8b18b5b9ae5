// Attention maps as tiles of small integers for a page: coarser than the maps, and far smaller.
#pragma once

#include <cstdint>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Code of an entry v of a map with finite entries from a to b:
///   round(((v − a) / (b − a))^(1/power) · (2^bits − 2)), from 0 to 2^bits − 2;
/// 2^bits − 1 is NaN or Inf.
struct TileCoding {
  int bits = 16;     ///< 8 or 16
  double power = 1;  ///< 2: steps are smaller near a, where most weights of a row are

  /// 16 bits with even steps, for maps of at most `most_fine_cells` entries in all; else 8 bits
  /// with power 2.
  [[nodiscard]] static TileCoding for_cells(std::int64_t cells);
  static constexpr std::int64_t most_fine_cells = 3'200'000;

  [[nodiscard]] std::uint32_t top() const { return (1U << static_cast<unsigned>(bits)) - 2U; }
};

struct MapTile {
  double minimum = 0, maximum = 0;  ///< a and b; both 0 if no entry is finite
  /// The codes in row-major order, deflated with zlib: with 16 bits all high bytes before all low
  /// ones, which compresses better.
  std::string packed;
  double largest_error = 0;  ///< largest |v − decoded v| of a finite entry
};

[[nodiscard]] MapTile tile_of(const Matrix& map, const TileCoding& coding);

}  // namespace attnscope
