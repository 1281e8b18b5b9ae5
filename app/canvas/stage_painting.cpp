// The axes and profiles along the sides of a map that is shown by itself.
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "app/canvas/atlas_chrome.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// One axis of a stage: the keys along the top, or the queries down the left side.
struct TokenAxis {
  bool down = false;
  QRectF strip;                ///< its tokens, without its name
  QRectF caption;              ///< its name
  double first = 0, last = 0;  ///< ends of the map along it, pixels
  double low = 0, high = 0;    ///< ends of the visible part
  std::int64_t count = 0;      ///< number of tokens
  std::optional<std::int64_t> marked;

  [[nodiscard]] double cell() const { return (last - first) / static_cast<double>(count); }
  [[nodiscard]] double middle(std::int64_t token) const {
    return first + (static_cast<double>(token) + 0.5) * cell();
  }
  [[nodiscard]] CellRange visible() const { return visible_cells(first, last, count, low, high); }
  /// A rectangle along the axis, from its side at the map outwards.
  [[nodiscard]] QRectF at(double from, double to, double thickness) const {
    return down ? QRectF(strip.right() - thickness, from, thickness, to - from)
                : QRectF(from, strip.bottom() - thickness, to - from, thickness);
  }
};

TokenAxis axis_of(const AtlasScene& scene, bool down, double text_scale) {
  const MapStage& stage = *scene.stage;
  const MapExtent extent = scene.maps->extent(stage.layer, stage.column);
  const double caption = axis_name_height * text_scale;
  TokenAxis axis;
  axis.down = down;
  if (down) {
    axis.caption = stage.queries;
    axis.caption.setWidth(caption);
    axis.strip = stage.queries.adjusted(caption, 0, -1, 0);
    axis.first = stage.map.top();
    axis.last = stage.map.bottom();
    axis.low = stage.sight.top();
    axis.high = stage.sight.bottom();
    axis.count = extent.queries;
  } else {
    axis.caption = stage.keys;
    axis.caption.setHeight(caption);
    axis.strip = stage.keys.adjusted(0, caption, 0, -1);
    axis.first = stage.map.left();
    axis.last = stage.map.right();
    axis.low = stage.sight.left();
    axis.high = stage.sight.right();
    axis.count = extent.keys;
  }
  return axis;
}

void paint_patches(QPainter& painter, const AtlasScene& scene, const TokenAxis& axis,
                   const QImage& patches) {
  const CellRange seen = axis.visible();
  if (seen.begin >= seen.end) return;
  const int side = axis.down ? patches.width() : patches.height();
  const auto source = [&](std::int64_t begin, std::int64_t end) {
    const auto from = static_cast<int>(begin) * side, length = static_cast<int>(end - begin) * side;
    return axis.down ? QRectF(0, from, side, length) : QRectF(from, 0, length, side);
  };
  const auto edge = [&](std::int64_t token) {
    return axis.first + static_cast<double>(token) * axis.cell();
  };
  const double thickness = axis.down ? axis.strip.width() : axis.strip.height();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, axis.cell() < side);
  painter.drawImage(axis.at(edge(seen.begin), edge(seen.end), thickness), patches,
                    source(seen.begin, seen.end));
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  if (!axis.marked) return;
  // The marked patch is large enough to be recognised.
  const double half = std::max(thickness, 26.0) / 2;
  const double middle = std::clamp(axis.middle(*axis.marked), axis.low + half,
                                   std::max(axis.low + half, axis.high - half));
  const QRectF large = axis.at(middle - half, middle + half, 2 * half);
  painter.drawImage(large, patches, source(*axis.marked, *axis.marked + 1));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(scene.colours->accent, 1.5));
  painter.drawRect(large);
}

void paint_names(QPainter& painter, const AtlasScene& scene, const TokenAxis& axis, double longest,
                 const QFont& font) {
  const std::int64_t layer = scene.stage->layer;
  const ShownMaps& maps = *scene.maps;
  const TokenLayout& layout =
      axis.down ? query_layout(maps.trace(), layer) : key_layout(maps.trace(), layer);
  const QFontMetricsF metrics(font);
  const double line = metrics.height();
  // Names of keys read upwards unless they fit between their neighbours.
  const bool upwards = !axis.down && longest + 6 > axis.cell();
  const double length = (axis.down ? axis.strip.width() : axis.strip.height()) - 4;
  const auto write = [&](std::int64_t token) {
    const bool marked = axis.marked == token;
    painter.setPen(marked ? scene.colours->accent : scene.colours->muted);
    const std::int64_t of = axis.down ? maps.query_of(layer, token) : maps.key_of(layer, token);
    const QString name = QString::fromStdString(layout.name(of));
    const double middle = axis.middle(token);
    if (axis.down) {
      painter.drawText(QRectF(axis.strip.left(), middle - line / 2, length, line),
                       Qt::AlignRight | Qt::AlignVCenter,
                       metrics.elidedText(name, Qt::ElideMiddle, length));
    } else if (upwards) {
      painter.save();
      painter.translate(middle, axis.strip.bottom() - 3);
      painter.rotate(-90);
      painter.drawText(QRectF(0, -line / 2, length, line), Qt::AlignLeft | Qt::AlignVCenter,
                       metrics.elidedText(name, Qt::ElideMiddle, length));
      painter.restore();
    } else {
      painter.drawText(
          QRectF(middle - longest / 2 - 2, axis.strip.bottom() - line - 2, longest + 4, line),
          Qt::AlignCenter, name);
    }
  };
  const CellRange seen = axis.visible();
  const std::int64_t every = label_step(axis.cell(), line, axis.count);
  for (std::int64_t token = (seen.begin + every - 1) / every * every; token < seen.end;
       token += every) {
    // The marked name replaces those that it would touch.
    const bool touches = axis.marked && *axis.marked != token &&
                         std::abs(axis.middle(token) - axis.middle(*axis.marked)) < line;
    if (!touches) write(token);
  }
  if (axis.marked && *axis.marked >= seen.begin && *axis.marked < seen.end) write(*axis.marked);
}

void paint_axis(QPainter& painter, const AtlasScene& scene, const TokenAxis& axis,
                const QFont& font) {
  if (axis.strip.isEmpty() || axis.count == 0) return;
  const TokenAxes& tokens = *scene.axes;
  painter.save();
  painter.setClipRect(axis.strip.united(axis.caption).adjusted(-1, -1, 1, 1));
  painter.setFont(sized(font, 11));
  painter.setPen(scene.colours->muted);
  if (axis.down) {
    painter.save();
    painter.translate(axis.caption.center());
    painter.rotate(-90);
    painter.drawText(QRectF(-60, -10, 120, 20), Qt::AlignCenter, "← query");
    painter.restore();
  } else {
    painter.drawText(axis.caption, Qt::AlignCenter, "key →");
  }
  const QFont small = sized(font, 10);
  painter.setFont(small);
  if (tokens.are_pictures()) {
    paint_patches(painter, scene, axis, axis.down ? tokens.queries : tokens.keys);
  } else {
    paint_names(painter, scene, axis, axis.down ? tokens.longest_query : tokens.longest_key, small);
  }
  painter.restore();
}

/// The extremes of a profile's finite values, 0 included.
struct Extremes {
  double least = 0, greatest = 0;
};
Extremes extremes_of(std::span<const float> values) {
  Extremes found;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    found.least = std::min(found.least, static_cast<double>(value));
    found.greatest = std::max(found.greatest, static_cast<double>(value));
  }
  return found;
}

/// Draws the values along an axis into `area`, beyond the map's other side: a row below the map
/// with large values at its top, a column at the right of it with large values at its right. Where
/// cells are smaller than a pixel, the greatest magnitude of each pixel is drawn.
void paint_values(QPainter& painter, const AtlasScene& scene, const TokenAxis& axis,
                  const QRectF& area, std::span<const float> values) {
  const Extremes extremes = extremes_of(values);
  const double span = extremes.greatest - extremes.least;
  if (area.isEmpty() || !(span > 0) || std::ssize(values) != axis.count) return;
  const double thickness = axis.down ? area.width() : area.height();
  const auto point = [&](double along, double value) {
    const double high = (value - extremes.least) / span * (thickness - 2);
    return axis.down ? QPointF(area.left() + high, along) : QPointF(along, area.bottom() - high);
  };
  QPainterPath path;
  const double from = std::max(axis.low, axis.first), to = std::min(axis.high, axis.last);
  path.moveTo(point(from, 0));
  const double step = std::max(1.0, axis.cell());
  for (double at = axis.cell() >= 1 ? axis.first + std::floor((from - axis.first) / step) * step
                                    : from;
       at < to; at += step) {
    const double begin = std::max(at, from), end = std::min(at + step, to);
    const auto index = [&](double place) {
      return std::clamp(static_cast<std::int64_t>((place - axis.first) / axis.cell()),
                        std::int64_t{0}, axis.count - 1);
    };
    const std::int64_t last = index(end - 1e-6);
    double value = 0;
    for (std::int64_t i = index(begin + 1e-6); i <= last; ++i) {
      const auto here = static_cast<double>(values[static_cast<std::size_t>(i)]);
      if (std::isfinite(here) && std::abs(here) > std::abs(value)) value = here;
    }
    path.lineTo(point(begin, value));
    path.lineTo(point(end, value));
  }
  path.lineTo(point(to, 0));
  QColor fill = scene.colours->accent;
  fill.setAlphaF(0.3F);
  painter.setPen(QPen(scene.colours->accent, 1));
  painter.setBrush(fill);
  painter.drawPath(path);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(scene.colours->border, 1));
  painter.drawLine(point(from, 0), point(to, 0));
  if (!axis.marked) return;
  const double middle = axis.middle(*axis.marked);
  if (middle < from || middle > to) return;
  painter.setPen(QPen(scene.colours->text, 1, Qt::DotLine));
  painter.drawLine(point(middle, extremes.least), point(middle, extremes.greatest));
}

/// Writes the greatest value of a profile into the corner next to it.
void paint_greatest(QPainter& painter, const AtlasScene& scene, const QRectF& corner,
                    std::span<const float> values) {
  if (corner.isEmpty() || values.empty()) return;
  painter.setPen(scene.colours->muted);
  const QString greatest = QString::fromStdString(rounded_text(extremes_of(values).greatest, 3));
  painter.drawText(corner, Qt::AlignCenter, QString("max\n%1").arg(greatest));
}

}  // namespace

void paint_stage(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const MapStage& stage = *scene.stage;
  if (stage.sight.isEmpty()) return;
  TokenAxis keys = axis_of(scene, false, text_scale_of(font));
  TokenAxis queries = axis_of(scene, true, text_scale_of(font));
  if (keys.count == 0) return;
  const auto is_here = [&](const std::optional<MapCell>& cell) {
    return cell && cell->layer == stage.layer && cell->column == stage.column;
  };
  const bool known = scene.profile && is_here(scene.profile->cell) &&
                     std::ssize(scene.profile->row) <= keys.count &&
                     std::ssize(scene.profile->column) <= queries.count;
  if (is_here(scene.crosshair)) {
    keys.marked = scene.crosshair->key;
    queries.marked = scene.crosshair->query;
  } else if (is_here(scene.selected) && scene.selected->query >= 0) {
    queries.marked = scene.selected->query;
    if (known && scene.profile->cell.key >= 0) keys.marked = scene.profile->cell.key;
  }
  const auto exists = [](TokenAxis& axis) {
    if (axis.marked && *axis.marked >= axis.count) axis.marked.reset();
  };
  exists(keys);
  exists(queries);
  paint_axis(painter, scene, keys, font);
  paint_axis(painter, scene, queries, font);
  if (!known || stage.row.isEmpty()) return;
  painter.save();
  painter.setFont(sized(font, 10));
  painter.setRenderHint(QPainter::Antialiasing);
  paint_values(painter, scene, keys, stage.row, scene.profile->row);
  paint_values(painter, scene, queries, stage.down, scene.profile->column);
  painter.setRenderHint(QPainter::Antialiasing, false);
  paint_greatest(
      painter, scene,
      QRectF(stage.queries.left(), stage.row.top(), stage.queries.width() - 2, stage.row.height()),
      scene.profile->row);
  paint_greatest(
      painter, scene,
      QRectF(stage.down.left(), stage.keys.top(), stage.down.width(), stage.keys.height()),
      scene.profile->column);
  painter.restore();
}

}  // namespace attnscope
