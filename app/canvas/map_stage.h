// One map shown by itself: where its title, the axes with its tokens and the profiles of a row and
// a column stand.
#pragma once

#include <QFont>
#include <QImage>
#include <QRectF>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/canvas/atlas_layout.h"
#include "app/canvas/shown_maps.h"

namespace attnscope {

/// The tokens of one layer's maps as axes show them: pictures of their patches, or their names.
struct TokenAxes {
  std::shared_ptr<const ShownMaps> maps;
  std::int64_t layer = 0;
  QFont font;
  /// The patches of all keys side by side and of all queries below each other, in squares of one
  /// size; null: names instead.
  QImage keys, queries;
  double longest_key = 0, longest_query = 0;  ///< lengths of the names, logical pixels

  [[nodiscard]] bool are_pictures() const { return !keys.isNull(); }
};
[[nodiscard]] TokenAxes token_axes(std::shared_ptr<const ShownMaps> maps, std::int64_t layer,
                                   const QFont& font);

/// One row and one column of a map.
struct MapProfile {
  std::shared_ptr<const ShownMaps> maps;
  MapCell asked;  ///< the cell that was asked for
  MapCell cell;   ///< the same, with a key
  std::vector<float> row, column;
};
/// Reads the profile of a cell. `key` −1 stands for the key of the row's greatest value. Takes as
/// long as computing the whole map if maps are computed on access, or have another temperature.
[[nodiscard]] MapProfile map_profile(std::shared_ptr<const ShownMaps> maps, MapCell cell);

struct MapStage {
  std::int64_t layer = 0, column = 0;
  bool alone = true;  ///< only this map is drawn; false: zoomed in, and its neighbours are too
  QRectF title;       ///< the line above everything
  QRectF room;        ///< space for the map
  QRectF map;         ///< the map's square, partly outside the room when zoomed in
  QRectF sight;       ///< where maps are drawn
  /// Strips along the sides of `sight`: names or pictures of the keys (above) and the queries (at
  /// the left) with the name of the axis, and the profiles of the row (below) and the column (at
  /// the right). Empty if there is no space.
  QRectF keys, queries, row, down;

  bool operator==(const MapStage&) const = default;
};
/// Height of an axis's name, times the text scale, pixels.
inline constexpr double axis_name_height = 13;

/// The stage of a map in the widget's rectangle `free`, before `map` and `sight` are known.
/// `title`: height of the title line. Profiles, then axes, are left out in small atlases.
[[nodiscard]] MapStage stage_in(const QRectF& free, double title, const TokenAxes& axes,
                                double text_scale);
/// Places the sight and the strips around the map's square on the screen.
void take_map(MapStage& stage, const QRectF& map, bool alone);

}  // namespace attnscope
