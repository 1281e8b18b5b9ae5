// Geometry of an atlas: a grid of unit squares, layers × heads, arranged to fill the available
// space and seen through a zoom. It uses no widgets and no OpenGL. Pixels are logical
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

/// Shape of a map: queries are rows, keys are columns.
struct MapExtent {
  std::int64_t queries = 0, keys = 0;

  bool operator==(const MapExtent&) const = default;
};

/// Arrangement of the grid: layers down and heads across, or transposed, in one or more bands.
/// Bands stand next to each other like newspaper columns, or below each other if transposed.
struct AtlasArrangement {
  bool transposed = false;          ///< layers across, heads down
  std::int64_t layers_a_band = 0;   ///< layers per band; 0: all in one band
  std::int64_t columns_a_band = 0;  ///< grid columns per band; 0: the number of heads
  double band_gap = 0.2;            ///< space between bands for their labels, in map sides

  bool operator==(const AtlasArrangement&) const = default;
};

/// The maps of one model, each a unit square. All hit testing, drawing and labelling derives from
/// map_square.
struct AtlasGrid {
  std::int64_t layers = 0, columns = 0;  ///< columns: heads, or 1 when heads are fused
  AtlasArrangement arrangement = {};
  /// The map at each position of the grid, positions and maps counted row by row; null: the layer
  /// and head of the position.
  std::shared_ptr<const std::vector<std::int64_t>> order = nullptr;

  static constexpr double gap = 0.0085;  ///< space between neighbours, in map sides
  static constexpr double pitch = 1 + gap;

  [[nodiscard]] bool empty() const { return layers <= 0 || columns <= 0; }
  [[nodiscard]] std::int64_t layers_a_band() const;
  [[nodiscard]] std::int64_t bands() const;
  /// Distance between the starts of neighbouring bands, in map sides.
  [[nodiscard]] double band_pitch() const;
  /// Size of the whole grid, in map sides.
  [[nodiscard]] QSizeF extent() const;
  /// The square of one map, in map sides.
  [[nodiscard]] QRectF map_square(std::int64_t layer, std::int64_t column) const;
  /// The square of a grid position, in map sides.
  [[nodiscard]] QRectF place_square(std::int64_t row, std::int64_t column) const;

  bool operator==(const AtlasGrid&) const = default;
};

/// The side of a map in pixels if the whole grid fits into `room`.
[[nodiscard]] double fitted_side(const AtlasGrid& grid, QSizeF room);

/// The arrangement with the largest maps in `room`. Layers down, heads across and one band are
/// preferred unless another arrangement makes the maps clearly larger. `label_room`: pixels between
/// bands.
[[nodiscard]] AtlasArrangement arranged_to_fill(std::int64_t layers, std::int64_t columns,
                                                QSizeF room, double label_room);

/// A zoom: `scale` is pixels per map side; `centre`, in map sides, is at the middle of the
/// viewport.
struct AtlasZoom {
  double scale = 100;
  QPointF centre;

  [[nodiscard]] QPointF to_screen(const QRectF& viewport, QPointF point) const;
  [[nodiscard]] QRectF to_screen(const QRectF& viewport, const QRectF& square) const;
  [[nodiscard]] QPointF to_atlas(const QRectF& viewport, QPointF pixel) const;

  /// The zoom after moving the picture by `pixels`.
  [[nodiscard]] AtlasZoom panned(QPointF pixels) const;
  /// The zoom with the scale multiplied by `factor` and clamped to `smallest` … `largest`; the
  /// point under `pixel` stays.
  [[nodiscard]] AtlasZoom zoomed(const QRectF& viewport, QPointF pixel, double factor,
                                 double smallest, double largest) const;
  /// The zoom moved so that part of the grid stays in the viewport.
  [[nodiscard]] AtlasZoom kept_in_reach(const QRectF& viewport, const AtlasGrid& grid) const;

  bool operator==(const AtlasZoom&) const = default;
};

/// The zoom that centres all of `square` in `free` (a part of `viewport`), as large as it fits.
[[nodiscard]] AtlasZoom fit_square(const QRectF& square, const QRectF& viewport,
                                   const QRectF& free);
[[nodiscard]] AtlasZoom fit_grid(const AtlasGrid& grid, const QRectF& viewport, const QRectF& free);

/// The greatest scale in pixels per map side: cells of 160 pixels, or twice the scale `fitted` of
/// the whole grid, which is the smallest.
[[nodiscard]] double largest_scale(double fitted, MapExtent largest_map);

/// A cell of a map.
struct MapCell {
  std::int64_t layer = 0, column = 0, query = 0, key = 0;

  bool operator==(const MapCell&) const = default;
};

/// The map under a point of the atlas; empty in a gap or outside.
struct MapPlace {
  std::int64_t layer = 0, column = 0;
  QPointF within;  ///< position in the map, 0 to 1 from its top left corner

  [[nodiscard]] MapCell cell(MapExtent extent) const;
};
[[nodiscard]] std::optional<MapPlace> map_at(const AtlasGrid& grid, QPointF point);

/// The square of one cell of a map that fills `map` on the screen.
[[nodiscard]] QRectF cell_square(const QRectF& map, MapExtent extent, std::int64_t query,
                                 std::int64_t key);

/// Half-open range of the cells, of `count` along `first`…`last`, that a viewport from `low` to
/// `high` shows.
struct CellRange {
  std::int64_t begin = 0, end = 0;
};
[[nodiscard]] CellRange visible_cells(double first, double last, std::int64_t count, double low,
                                      double high);

/// Least size of a cell whose number is printed, pixels.
inline constexpr double smallest_numbered_cell = 40;

/// A cell's number with two to four significant digits, as many as fit into `cell_width` pixels.
[[nodiscard]] std::string cell_number(float value, double cell_width);

/// Ticks of a colour bar `pixels` long, about `spacing` apart: round values, or powers of ten. The
/// ends of the scale have ticks only if they are round.
[[nodiscard]] std::vector<Tick> colour_bar_ticks(const ColourScale& scale, double pixels,
                                                 double spacing);

/// Step between labelled rows or columns, for `count` of them `pitch` pixels apart with labels
/// `room` pixels long: 1, 2, 5, 10, 20, …
[[nodiscard]] std::int64_t label_step(double pitch, double room, std::int64_t count);

/// Position of the lens, at the right of the maps or below them, that leaves the maps largest.
enum class LensSide { right, bottom };
struct LensPlace {
  LensSide side = LensSide::right;
  QRectF lens;  ///< rectangle in the widget
  QRectF free;  ///< rest of the viewport, for the fitted maps
};
/// Chooses the position of the lens, which stays within `room`. `tall` and `wide` are its sizes as
/// a column and as a strip.
[[nodiscard]] LensPlace place_lens(const AtlasGrid& grid, const QRectF& viewport,
                                   const QRectF& room, QSizeF tall, QSizeF wide);

}  // namespace attnscope
