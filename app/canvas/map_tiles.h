// Division of maps into tiles and mip levels; arithmetic only, no OpenGL.
#pragma once

#include <QRectF>
#include <compare>
#include <cstdint>
#include <vector>

#include "app/canvas/atlas_layout.h"

namespace attnscope {

/// A square part of a map, with cells averaged in blocks of 2^level × 2^level.
struct TileKey {
  std::int64_t layer = 0, column = 0;
  int level = 0;
  std::int64_t y = 0, x = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): it sees a 0 in what the compiler writes
  auto operator<=>(const TileKey&) const = default;
};

/// Side of a tile's texture in cells; every OpenGL 3.3 card supports at least 1024.
inline constexpr std::int64_t tile_side = 512;

/// The lowest level at which a map is a single tile.
[[nodiscard]] int coarsest_level(MapExtent extent);

/// The level of the tile that shows a map as a whole: the coarsest level, or one above for maps of
/// more than 2048 tokens, so that 144 heads take 50 MB instead of 200 MB. Finer tiles are made for
/// maps drawn larger.
[[nodiscard]] int overview_level(MapExtent extent);

/// The tiles for the part `visible` (0 to 1 in both directions) of a map drawn `pixels` wide: first
/// the single coarse tile, then finer ones if they show more.
[[nodiscard]] std::vector<TileKey> tiles_for(std::int64_t layer, std::int64_t column,
                                             MapExtent extent, const QRectF& visible,
                                             double pixels);

/// Half-open ranges of a tile's queries and keys.
struct TileCells {
  std::int64_t row0 = 0, row1 = 0, key0 = 0, key1 = 0;
};
[[nodiscard]] TileCells cells_of(const TileKey& tile, MapExtent extent);

/// One level of a mip pyramid, each half as wide and high as the one before, down to 1 × 1.
struct MipLevel {
  std::int64_t width = 0, height = 0;
  std::vector<float> values;
};
/// Computes the mip levels. Every value is the mean of exactly the area that it covers, also for
/// odd extents: drivers sample there, and fine patterns would otherwise show a moiré that is not in
/// the map.
[[nodiscard]] std::vector<MipLevel> mip_levels(std::vector<float> values, std::int64_t width,
                                               std::int64_t height);

}  // namespace attnscope
