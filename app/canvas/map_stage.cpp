#include "app/canvas/map_stage.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "app/canvas/atlas_chrome.h"
#include "app/widgets/picture.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// The patches of `count` tokens in a line; null if they are not patches of a picture.
QImage line_of_patches(const QImage& picture, const TokenLayout& layout, std::int64_t count,
                       const std::function<std::int64_t(std::int64_t)>& token_of, bool down) {
  constexpr std::int64_t kLongest = 8192, kLargest = 16;  // pixels
  if (picture.isNull() || !layout.has_grid() || count <= 0) return {};
  const int side = static_cast<int>(std::clamp<std::int64_t>(kLongest / count, 1, kLargest));
  const auto wide = static_cast<int>(layout.columns), high = static_cast<int>(layout.rows);
  const QImage scaled = picture.scaled(
      wide * side, high * side, Qt::IgnoreAspectRatio,
      picture.width() > wide * side ? Qt::SmoothTransformation : Qt::FastTransformation);
  const int length = static_cast<int>(count) * side;
  QImage line(down ? QSize(side, length) : QSize(length, side), QImage::Format_RGB32);
  line.fill(QColor(120, 120, 120));  // tokens that stand for no patch
  QPainter painter(&line);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t patch = token_of(i) - layout.prefix;
    if (patch < 0 || patch >= layout.rows * layout.columns) continue;
    const int at = static_cast<int>(i) * side;
    painter.drawImage(down ? QPoint(0, at) : QPoint(at, 0), scaled,
                      QRect(static_cast<int>(patch % layout.columns) * side,
                            static_cast<int>(patch / layout.columns) * side, side, side));
  }
  return line;
}

double longest_name(const TokenLayout& layout, std::int64_t count,
                    const std::function<std::int64_t(std::int64_t)>& token_of,
                    const QFontMetricsF& metrics) {
  double longest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const QString name = QString::fromStdString(layout.name(token_of(i)));
    longest = std::max(longest, metrics.horizontalAdvance(name));
  }
  return longest;
}

}  // namespace

TokenAxes token_axes(std::shared_ptr<const ShownMaps> maps, std::int64_t layer, const QFont& font) {
  TokenAxes axes;
  axes.layer = layer;
  axes.font = font;
  const MapExtent extent = maps->extent(layer, 0);
  const Trace& trace = maps->trace();
  const TokenLayout& of_keys = key_layout(trace, layer);
  const TokenLayout& of_queries = query_layout(trace, layer);
  const auto key = [&](std::int64_t i) { return maps->key_of(layer, i); };
  const auto query = [&](std::int64_t i) { return maps->query_of(layer, i); };
  const QImage picture = trace.image() ? to_qimage(*trace.image()) : QImage();
  axes.keys = line_of_patches(picture, of_keys, extent.keys, key, false);
  axes.queries = line_of_patches(picture, of_queries, extent.queries, query, true);
  if (axes.keys.isNull() || axes.queries.isNull()) axes.keys = axes.queries = QImage();
  if (!axes.are_pictures()) {
    const QFontMetricsF metrics(sized(font, 10));
    axes.longest_key = longest_name(of_keys, extent.keys, key, metrics);
    axes.longest_query = longest_name(of_queries, extent.queries, query, metrics);
  }
  axes.maps = std::move(maps);
  return axes;
}

MapProfile map_profile(std::shared_ptr<const ShownMaps> maps, MapCell cell) {
  MapProfile found;
  found.asked = cell;
  const MapExtent extent = maps->extent(cell.layer, cell.column);
  if (cell.query >= 0 && cell.query < extent.queries) {
    found.row.resize(static_cast<std::size_t>(extent.keys));
    maps->row(cell.layer, cell.column, cell.query, 0, found.row);
    if (cell.key < 0) {
      const auto less = [](float a, float b) { return !std::isnan(b) && (std::isnan(a) || a < b); };
      cell.key = std::ranges::max_element(found.row, less) - found.row.begin();
    }
  }
  if (cell.key >= 0 && cell.key < extent.keys) {
    found.column.resize(static_cast<std::size_t>(extent.queries));
    for (std::int64_t query = 0; query < extent.queries; ++query) {
      maps->row(cell.layer, cell.column, query, cell.key,
                {&found.column[static_cast<std::size_t>(query)], 1});
    }
  }
  found.cell = cell;
  found.maps = std::move(maps);
  return found;
}

MapStage stage_in(const QRectF& free, double title, const TokenAxes& axes, double text_scale) {
  // Pixels at the default text size.
  constexpr double kForProfiles = 340, kForAxes = 170;  // least side of the atlas
  constexpr double kPatches = 20, kLongestName = 72, kProfile = 46, kLeast = 40;
  MapStage stage;
  stage.title = QRectF(free.left(), free.top(), free.width(), title);
  const QRectF below = free.adjusted(0, title, 0, 0);
  const double side = std::min(below.width(), below.height()) / text_scale;
  const auto axis = [&](double longest) {
    const double tokens = axes.are_pictures() ? kPatches * text_scale
                                              : std::min(longest, kLongestName * text_scale) + 8;
    return std::max(axis_name_height * text_scale + tokens, kLeast * text_scale);
  };
  const double gap = 3;
  const bool has_axes = side >= kForAxes, has_profiles = side >= kForProfiles;
  stage.room = below.adjusted(
      has_axes ? axis(axes.longest_query) : gap, has_axes ? axis(axes.longest_key) : gap,
      has_profiles ? -kProfile * text_scale : -gap, has_profiles ? -kProfile * text_scale : -gap);
  if (has_axes) {
    stage.keys = QRectF(below.topLeft(), stage.room.topRight());
    stage.queries = QRectF(below.topLeft(), stage.room.bottomLeft());
  }
  if (has_profiles) {
    stage.row = QRectF(QPointF(stage.room.left(), stage.room.bottom() + gap),
                       QPointF(stage.room.right(), below.bottom()));
    stage.down = QRectF(QPointF(stage.room.right() + gap, stage.room.top()),
                        QPointF(below.right(), stage.room.bottom()));
  }
  return stage;
}

void take_map(MapStage& stage, const QRectF& map, bool alone) {
  stage.map = map;
  stage.alone = alone;
  stage.sight = alone ? map.intersected(stage.room) : stage.room;
  const QRectF sight = stage.sight, room = stage.room;
  if (!stage.keys.isEmpty()) {
    const double high = room.top() - stage.keys.top(), wide = room.left() - stage.queries.left();
    stage.keys = QRectF(sight.left(), sight.top() - high, sight.width(), high);
    stage.queries = QRectF(sight.left() - wide, sight.top(), wide, sight.height());
  }
  if (!stage.row.isEmpty()) {
    stage.row = QRectF(sight.left(), sight.bottom() + (stage.row.top() - room.bottom()),
                       sight.width(), stage.row.height());
    stage.down = QRectF(sight.right() + (stage.down.left() - room.right()), sight.top(),
                        stage.down.width(), sight.height());
  }
}

}  // namespace attnscope
