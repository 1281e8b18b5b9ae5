// Where the maps of an atlas lie: a grid of unit squares, layers by heads, arranged to fill its
// room and seen through a zoom. Plain geometry: no widgets, no OpenGL. Pixels are logical
// (device-independent).
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Queries down, keys across.
struct MapExtent {
  std::int64_t queries = 0, keys = 0;

  bool operator==(const MapExtent&) const = default;
};

/// Which way layers and heads run: layers down and heads across, or the other way round; and in how
/// many bands, which stand beside each other as the columns of a newspaper (below each other, where
/// layers run across).
struct AtlasArrangement {
  bool transposed = false;          ///< layers across, heads down
  std::int64_t layers_a_band = 0;   ///< 0: all in one
  std::int64_t columns_a_band = 0;  ///< places for heads in a band; 0: as many as there are heads
  double band_gap = 0.2;            ///< between bands, in map sides: room for their labels

  bool operator==(const AtlasArrangement&) const = default;
};

/// The maps of one subject, each a unit square. map_square alone knows where they lie: what is hit,
/// drawn and labelled follows from it.
struct AtlasGrid {
  std::int64_t layers = 0, columns = 0;  ///< columns: heads, or 1 when heads are fused
  AtlasArrangement arrangement = {};
  /// Which map stands at each place of the grid, places and maps counted row by row; null: each at
  /// its own.
  std::shared_ptr<const std::vector<std::int64_t>> order = nullptr;

  static constexpr double gap = 0.015;  ///< between neighbours, in map sides
  static constexpr double pitch = 1 + gap;

  [[nodiscard]] bool empty() const { return layers <= 0 || columns <= 0; }
  [[nodiscard]] std::int64_t layers_a_band() const;
  [[nodiscard]] std::int64_t bands() const;
  /// From one band's start to the next one's, in map sides.
  [[nodiscard]] double band_pitch() const;
  /// Of the whole grid, in map sides.
  [[nodiscard]] QSizeF extent() const;
  /// The square of one map, in map sides.
  [[nodiscard]] QRectF map_square(std::int64_t layer, std::int64_t column) const;
  /// The square of a place of the grid.
  [[nodiscard]] QRectF place_square(std::int64_t row, std::int64_t column) const;

  bool operator==(const AtlasGrid&) const = default;
};

/// The side of a map, in pixels, when the whole grid fits into `room`.
[[nodiscard]] double fitted_side(const AtlasGrid& grid, QSizeF room);

/// The arrangement in which the maps are largest in `room`; layers down, heads across and one band
/// unless another makes them clearly larger. `label_room`: pixels between bands.
[[nodiscard]] AtlasArrangement arranged_to_fill(std::int64_t layers, std::int64_t columns,
                                                QSizeF room, double label_room);

/// A zoom: `scale` pixels a map side, `centre` (in map sides) in the middle of the viewport.
struct AtlasZoom {
  double scale = 100;
  QPointF centre;

  [[nodiscard]] QPointF to_screen(const QRectF& viewport, QPointF point) const;
  [[nodiscard]] QRectF to_screen(const QRectF& viewport, const QRectF& square) const;
  [[nodiscard]] QPointF to_atlas(const QRectF& viewport, QPointF pixel) const;

  /// Moves the picture by `pixels`.
  [[nodiscard]] AtlasZoom panned(QPointF pixels) const;
  /// Multiplies the scale by `factor`, within `smallest` to `largest`; what lies under `pixel`
  /// stays there.
  [[nodiscard]] AtlasZoom zoomed(const QRectF& viewport, QPointF pixel, double factor,
                                 double smallest, double largest) const;
  /// Moved so that part of the grid stays in the viewport.
  [[nodiscard]] AtlasZoom kept_in_reach(const QRectF& viewport, const AtlasGrid& grid) const;
};

/// The zoom that shows all of `square` as large as `free` (a part of `viewport`) allows, in its
/// middle.
[[nodiscard]] AtlasZoom fit_square(const QRectF& square, const QRectF& viewport,
                                   const QRectF& free);
[[nodiscard]] AtlasZoom fit_grid(const AtlasGrid& grid, const QRectF& viewport, const QRectF& free);

/// Pixels a map side: from half the fitted grid to cells of 160 pixels.
struct ZoomLimits {
  double smallest = 0, largest = 0;
};
[[nodiscard]] ZoomLimits zoom_limits(const AtlasGrid& grid, const QRectF& viewport,
                                     MapExtent largest_map);

/// A map, and the cell in it.
struct MapCell {
  std::int64_t layer = 0, column = 0, query = 0, key = 0;

  bool operator==(const MapCell&) const = default;
};

/// The map under a point of the atlas; none in a gap or outside.
struct MapPlace {
  std::int64_t layer = 0, column = 0;
  QPointF within;  ///< 0 to 1 from the map's top left corner

  [[nodiscard]] MapCell cell(MapExtent extent) const;
};
[[nodiscard]] std::optional<MapPlace> map_at(const AtlasGrid& grid, QPointF point);

/// The square of one cell of a map that fills `map` on the screen.
[[nodiscard]] QRectF cell_square(const QRectF& map, MapExtent extent, std::int64_t query,
                                 std::int64_t key);

/// First and one past the last index of `count` cells along `first`…`last` that a viewport from
/// `low` to `high` shows.
struct CellRange {
  std::int64_t begin = 0, end = 0;
};
[[nodiscard]] CellRange visible_cells(double first, double last, std::int64_t count, double low,
                                      double high);

/// Pixels a cell must have for its number to be printed in it.
inline constexpr double smallest_numbered_cell = 40;

/// A cell's number, as short as its width asks: two to four significant digits.
[[nodiscard]] std::string cell_number(float value, double cell_width);

/// Ticks of a colour bar `pixels` long, about `spacing` apart: round values, or powers of ten.
/// Both ends of the scale are inside the list only where they are round themselves.
[[nodiscard]] std::vector<Tick> colour_bar_ticks(const ColourScale& scale, double pixels,
                                                 double spacing);

/// Of `count` rows or columns each `pitch` pixels apart, every how many-th can be labelled when a
/// label takes `room` pixels: 1, 2, 5, 10, 20, …
[[nodiscard]] std::int64_t label_step(double pitch, double room, std::int64_t count);

/// Where the lens stands so that the maps stay as large as they can: to the right of them or
/// below.
enum class LensSide { right, bottom };
struct LensPlace {
  LensSide side = LensSide::right;
  QRectF lens;  ///< in the widget
  QRectF free;  ///< what is left of the viewport for the fitted maps
};
/// `tall` and `wide` are the lens's sizes in a column and in a strip; it stays within `room`.
[[nodiscard]] LensPlace place_lens(const AtlasGrid& grid, const QRectF& viewport,
                                   const QRectF& room, QSizeF tall, QSizeF wide);

}  // namespace attnscope
