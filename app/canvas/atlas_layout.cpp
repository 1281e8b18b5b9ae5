#include "app/canvas/atlas_layout.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The smallest of 1, 2, 5 × 10^n that is at least `value`.
double round_up(double value) {
  const double decade = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * decade >= value * (1 - 1e-9)) return step * decade;
  }
  return 10 * decade;
}

void add_decades(std::vector<Tick>& ticks, const ColourScale& scale, double sign, double smallest,
                 double largest, double decades_apart) {
  const double step = std::max(1.0, std::ceil(decades_apart));
  const double first = std::floor(std::log10(largest) + 1e-9);
  const double last = std::log10(smallest) - 1e-9;
  for (int i = 0; first - i * step >= last; ++i) {
    const double value = sign * std::pow(10.0, first - i * step);
    if (value < scale.minimum * (1 - 1e-9) - 1e-300 && scale.minimum > 0) continue;
    ticks.push_back({value, rounded_text(value, 3)});
  }
}

}  // namespace

std::int64_t AtlasGrid::layers_a_band() const {
  const std::int64_t asked = arrangement.layers_a_band;
  return asked > 0 ? std::min(asked, layers) : layers;
}

std::int64_t AtlasGrid::bands() const {
  return empty() ? 0 : (layers + layers_a_band() - 1) / layers_a_band();
}

double AtlasGrid::band_pitch() const {
  const std::int64_t places = std::max(arrangement.columns_a_band, columns);
  return static_cast<double>(places) * pitch - gap + arrangement.band_gap;
}

QSizeF AtlasGrid::extent() const {
  if (empty()) return {0, 0};
  const QSizeF size(
      static_cast<double>(bands() - 1) * band_pitch() + static_cast<double>(columns) * pitch - gap,
      static_cast<double>(layers_a_band()) * pitch - gap);
  return arrangement.transposed ? size.transposed() : size;
}

QRectF AtlasGrid::map_square(std::int64_t layer, std::int64_t column) const {
  if (!order) return place_square(layer, column);
  const auto place = std::ranges::find(*order, layer * columns + column) - order->begin();
  return place_square(place / columns, place % columns);
}

QRectF AtlasGrid::place_square(std::int64_t layer, std::int64_t column) const {
  const std::int64_t in_band = std::max<std::int64_t>(1, layers_a_band());
  const std::int64_t band = layer / in_band;
  const double across =
      static_cast<double>(band) * band_pitch() + static_cast<double>(column) * pitch;
  const double along = static_cast<double>(layer % in_band) * pitch;
  return arrangement.transposed ? QRectF(along, across, 1, 1) : QRectF(across, along, 1, 1);
}

double fitted_side(const AtlasGrid& grid, QSizeF room) {
  const QSizeF extent = grid.extent();
  if (extent.isEmpty()) return 0;
  return std::max(0.0, std::min(room.width() / extent.width(), room.height() / extent.height()));
}

AtlasArrangement arranged_to_fill(std::int64_t layers, std::int64_t columns, QSizeF room,
                                  double label_room) {
  // Factors on the map size that favour reading order (layers down) and a single band.
  constexpr double kTransposed = 0.92, kBands = 0.85;
  AtlasArrangement best;
  double best_worth = -1;
  for (const bool transposed : {false, true}) {
    std::int64_t before = 0;
    for (std::int64_t bands = 1; bands <= layers; ++bands) {
      const std::int64_t in_band = (layers + bands - 1) / bands;
      if (in_band == before) continue;
      before = in_band;
      AtlasGrid grid{layers, columns, {.transposed = transposed, .layers_a_band = in_band}};
      if (bands == 1) grid.arrangement.layers_a_band = 0;
      grid.arrangement.columns_a_band = bands == 1 ? 0 : columns;
      for (int i = 0; bands > 1 && i < 2; ++i) {  // the gap depends on the size that it leaves
        const double side = std::max(1.0, fitted_side(grid, room));
        grid.arrangement.band_gap = std::clamp(label_room / side, AtlasGrid::gap, 2.0);
      }
      const double worth = fitted_side(grid, room) * (transposed ? kTransposed : 1) *
                           (grid.bands() > 1 ? kBands : 1);
      if (worth > best_worth) {
        best_worth = worth;
        best = grid.arrangement;
      }
    }
  }
  return best;
}

QPointF AtlasZoom::to_screen(const QRectF& viewport, QPointF point) const {
  return viewport.center() + (point - centre) * scale;
}

QRectF AtlasZoom::to_screen(const QRectF& viewport, const QRectF& square) const {
  return {to_screen(viewport, square.topLeft()), square.size() * scale};
}

QPointF AtlasZoom::to_atlas(const QRectF& viewport, QPointF pixel) const {
  return centre + (pixel - viewport.center()) / scale;
}

AtlasZoom AtlasZoom::panned(QPointF pixels) const { return {scale, centre - pixels / scale}; }

AtlasZoom AtlasZoom::zoomed(const QRectF& viewport, QPointF pixel, double factor, double smallest,
                            double largest) const {
  const QPointF fixed = to_atlas(viewport, pixel);
  AtlasZoom result;
  result.scale = std::clamp(scale * factor, smallest, std::max(smallest, largest));
  result.centre = fixed - (pixel - viewport.center()) / result.scale;
  return result;
}

AtlasZoom AtlasZoom::kept_in_reach(const QRectF& viewport, const AtlasGrid& grid) const {
  const QSizeF extent = grid.extent();
  // A quarter of the viewport stays over the grid, or half of the grid if that is less.
  const auto clamped = [&](double at, double grid_length, double viewport_length) {
    const double half = viewport_length / 2 / scale;
    const double margin = std::min(half / 2, grid_length / 2);
    return std::clamp(at, margin - half, std::max(margin - half, grid_length + half - margin));
  };
  return {scale, QPointF(clamped(centre.x(), extent.width(), viewport.width()),
                         clamped(centre.y(), extent.height(), viewport.height()))};
}

AtlasZoom fit_square(const QRectF& square, const QRectF& viewport, const QRectF& free) {
  AtlasZoom zoom;
  zoom.scale =
      std::max(1.0, std::min(free.width() / square.width(), free.height() / square.height()));
  zoom.centre = square.center() - (free.center() - viewport.center()) / zoom.scale;
  return zoom;
}

AtlasZoom fit_grid(const AtlasGrid& grid, const QRectF& viewport, const QRectF& free) {
  if (grid.empty()) return {};
  return fit_square(QRectF(QPointF(0, 0), grid.extent()), viewport, free);
}

double largest_scale(double fitted, MapExtent largest_map) {
  const double cells =
      static_cast<double>(std::max({std::int64_t{1}, largest_map.queries, largest_map.keys}));
  return std::max(2 * fitted, 160 * cells);
}

MapCell MapPlace::cell(MapExtent extent) const {
  const auto index = [](double at, std::int64_t count) {
    return std::clamp(static_cast<std::int64_t>(std::floor(at * static_cast<double>(count))),
                      std::int64_t{0}, std::max(std::int64_t{0}, count - 1));
  };
  return {layer, column, index(within.y(), extent.queries), index(within.x(), extent.keys)};
}

std::optional<MapPlace> map_at(const AtlasGrid& grid, QPointF point) {
  const QPointF at = grid.arrangement.transposed ? point.transposed() : point;
  if (grid.empty() || at.x() < 0 || at.y() < 0) return std::nullopt;
  const double band = std::floor(at.x() / grid.band_pitch());
  const double column = std::floor((at.x() - band * grid.band_pitch()) / AtlasGrid::pitch);
  const double row = std::floor(at.y() / AtlasGrid::pitch);
  if (column >= static_cast<double>(grid.columns) ||
      row >= static_cast<double>(grid.layers_a_band()) ||
      band >= static_cast<double>(grid.bands())) {
    return std::nullopt;
  }
  const auto layer =
      static_cast<std::int64_t>(band) * grid.layers_a_band() + static_cast<std::int64_t>(row);
  if (layer >= grid.layers) return std::nullopt;
  const auto across = static_cast<std::int64_t>(column);
  const QPointF within = point - grid.place_square(layer, across).topLeft();
  if (within.x() < 0 || within.y() < 0 || within.x() >= 1 || within.y() >= 1) return std::nullopt;
  if (!grid.order) return MapPlace{layer, across, within};
  const std::int64_t map = grid.order->at(static_cast<std::size_t>(layer * grid.columns + across));
  return MapPlace{map / grid.columns, map % grid.columns, within};
}

QRectF cell_square(const QRectF& map, MapExtent extent, std::int64_t query, std::int64_t key) {
  const double width = map.width() / static_cast<double>(std::max<std::int64_t>(1, extent.keys));
  const double height =
      map.height() / static_cast<double>(std::max<std::int64_t>(1, extent.queries));
  return {map.left() + static_cast<double>(key) * width,
          map.top() + static_cast<double>(query) * height, width, height};
}

CellRange visible_cells(double first, double last, std::int64_t count, double low, double high) {
  const double cell = (last - first) / static_cast<double>(std::max<std::int64_t>(1, count));
  if (!(cell > 0) || high <= first || low >= last) return {0, 0};
  const auto begin = static_cast<std::int64_t>(std::floor((low - first) / cell));
  const auto end = static_cast<std::int64_t>(std::ceil((high - first) / cell));
  return {std::clamp<std::int64_t>(begin, 0, count), std::clamp<std::int64_t>(end, 0, count)};
}

std::string cell_number(float value, double cell_width) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  return rounded_text(value, cell_width < 56 ? 2 : cell_width < 84 ? 3 : 4);
}

std::vector<Tick> colour_bar_ticks(const ColourScale& scale, double pixels, double spacing) {
  std::vector<Tick> ticks;
  const double low = scale.minimum, high = scale.maximum;
  if (!(high > low) || !(pixels > 0)) return ticks;
  const double places = std::max(1.0, pixels / spacing);
  if (scale.norm == ScaleNorm::linear) {
    const double step = round_up((high - low) / places);
    for (double i = std::ceil(low / step - 1e-6); i * step <= high + step * 1e-6; ++i) {
      ticks.push_back({i * step, rounded_text(i == 0 ? 0 : i * step, 4)});
    }
    return ticks;
  }
  if (scale.norm == ScaleNorm::logarithmic) {
    const double floor = logarithmic_floor(low, high);
    if (!(floor > 0)) return ticks;
    ColourScale positive = scale;
    positive.minimum = floor;
    const double decades = std::log10(high / floor);
    if (decades < 1) {
      // A range below a decade holds at most one power of ten; round values are more useful.
      positive.norm = ScaleNorm::linear;
      return colour_bar_ticks(positive, pixels, spacing);
    }
    add_decades(ticks, positive, 1, floor, high, decades / places);
  } else {
    const double largest = std::max(std::abs(low), std::abs(high));
    const double threshold = largest / 1000;
    const double apart = 2 * std::log10(largest / threshold) / places;
    if (low < 0) add_decades(ticks, scale, -1, threshold * 5, -low, apart);
    if (low <= 0 && high >= 0) ticks.push_back({0, "0"});
    if (high > 0) add_decades(ticks, scale, 1, std::max(low, threshold * 5), high, apart);
  }
  std::sort(ticks.begin(), ticks.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return ticks;
}

std::int64_t label_step(double pitch, double room, std::int64_t count) {
  if (!(pitch > 0)) return std::max<std::int64_t>(1, count);
  const double needed = room / pitch;
  if (needed <= 1) return 1;
  return static_cast<std::int64_t>(
      std::min(round_up(needed), static_cast<double>(std::max<std::int64_t>(1, count))));
}

LensPlace place_lens(const AtlasGrid& grid, const QRectF& viewport, const QRectF& room, QSizeF tall,
                     QSizeF wide) {
  constexpr double margin = 8;
  LensPlace right;
  right.side = LensSide::right;
  right.lens = QRectF(room.right() - tall.width(), room.top(), tall.width(),
                      std::min(tall.height(), room.height()));
  right.free = viewport;
  right.free.setRight(right.lens.left() - margin);
  LensPlace bottom;
  bottom.side = LensSide::bottom;
  const double high = std::min(wide.height(), room.height());
  bottom.lens =
      QRectF(room.left(), room.bottom() - high, std::min(wide.width(), room.width()), high);
  bottom.free = viewport;
  bottom.free.setBottom(bottom.lens.top() - margin);
  const auto fitted = [&](const LensPlace& place) {
    return place.free.width() < 16 || place.free.height() < 16
               ? 0.0
               : fit_grid(grid, viewport, place.free).scale;
  };
  return fitted(right) > fitted(bottom) ? right : bottom;
}

}  // namespace attnscope
