// The maps on the graphics card: float textures, in tiles, no more of them than are looked at.
#pragma once

#include <QRectF>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "app/canvas/shown_maps.h"

class QOpenGLFunctions_3_3_Core;

namespace attnscope {

/// A square of a map whose cells are averaged in blocks of 2^level × 2^level.
struct TileKey {
  std::int64_t layer = 0, column = 0;
  int level = 0;
  std::int64_t y = 0, x = 0;

  auto operator<=>(const TileKey&) const = default;
};

/// Cells a side of a tile's texture: below what every OpenGL 3.3 card takes (1024).
inline constexpr std::int64_t tile_side = 512;

/// The level at which a map is a single tile.
[[nodiscard]] int coarsest_level(MapExtent extent);

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

/// All calls with the same OpenGL context current, destruction too.
class MapTextures {
 public:
  explicit MapTextures(QOpenGLFunctions_3_3_Core& gl);
  ~MapTextures();
  MapTextures(const MapTextures&) = delete;
  MapTextures& operator=(const MapTextures&) = delete;

  /// What the tiles are filled from. Tiles of other maps stay drawable until they are replaced.
  void set_maps(std::shared_ptr<const ShownMaps> maps);

  /// Fills those of `tiles` that are missing or out of date, all cores at it; gives up for this
  /// frame after `budget_ms` (at least one is filled). True if none is left to fill.
  bool load(const std::vector<TileKey>& tiles, double budget_ms);

  struct Texture {
    unsigned name = 0;              ///< 0: not there
    double part_x = 1, part_y = 1;  ///< of the texture that is inside the map
    std::int64_t width = 0, height = 0;
  };
  [[nodiscard]] Texture find(const TileKey& tile);

  /// Frees the tiles longest unused until at most `bytes` are held; never those of this frame.
  void trim(std::int64_t bytes);
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Texture texture;
    std::int64_t generation = 0, last_frame = 0, bytes = 0;
  };
  void upload(Entry& entry, const TileCells& cells, int level, const std::vector<MipLevel>& levels);

  QOpenGLFunctions_3_3_Core& gl_;
  std::shared_ptr<const ShownMaps> maps_;
  std::map<TileKey, Entry> entries_;
  std::int64_t generation_ = 0, frame_ = 0, bytes_ = 0;
};

}  // namespace attnscope
