// Maps cut into tiles, and tiles into ever smaller copies: plain arithmetic, no OpenGL.
#pragma once

#include <QRectF>
#include <compare>
#include <cstdint>
#include <vector>

#include "app/canvas/atlas_layout.h"

namespace attnscope {

/// A square of a map whose cells are averaged in blocks of 2^level × 2^level.
struct TileKey {
  std::int64_t layer = 0, column = 0;
  int level = 0;
  std::int64_t y = 0, x = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): it sees a 0 in what the compiler writes
  auto operator<=>(const TileKey&) const = default;
};

/// Cells a side of a tile's texture: below what every OpenGL 3.3 card takes (1024).
inline constexpr std::int64_t tile_side = 512;

/// The level at which a map is a single tile.
[[nodiscard]] int coarsest_level(MapExtent extent);

/// The level of the tile that a map is seen by as a whole: the coarsest; of thousands of tokens one
/// above, so that those of 144 heads take 50 MB and not 200. Finer ones are made where a map is
/// drawn larger.
[[nodiscard]] int overview_level(MapExtent extent);

/// The tiles that show the part `visible` (0 to 1 both ways) of a map drawn `pixels` wide: first
/// the single coarse one, then finer ones where they tell more.
[[nodiscard]] std::vector<TileKey> tiles_for(std::int64_t layer, std::int64_t column,
                                             MapExtent extent, const QRectF& visible,
                                             double pixels);

/// First and one past the last query and key of a tile.
struct TileCells {
  std::int64_t row0 = 0, row1 = 0, key0 = 0, key1 = 0;
};
[[nodiscard]] TileCells cells_of(const TileKey& tile, MapExtent extent);

/// A picture and its ever smaller copies, each half as wide and high, down to 1 × 1.
struct MipLevel {
  std::int64_t width = 0, height = 0;
  std::vector<float> values;
};
/// Every value of a smaller copy is the mean of exactly the area it covers, also where an extent
/// is odd: drivers sample there, and fine patterns would show beats that are not in the map.
[[nodiscard]] std::vector<MipLevel> mip_levels(std::vector<float> values, std::int64_t width,
                                               std::int64_t height);

}  // namespace attnscope
