// The cell under the cursor of an atlas: crosshair, readout and rulers along its map.
#include <QFontMetricsF>
#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <vector>

#include "app/canvas/chrome_parts.h"
#include "core/text/number_text.h"
#include "core/trace/layer_layout.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

/// The maps that are visible at a cell: the reference's where they cover the model's own.
const ShownMaps& maps_at(const AtlasScene& scene, const MapCell& cell) {
  const bool laid_over =
      scene.over && scene.over_opacity > 0 &&
      scene.over->extent(cell.layer, cell.column) == scene.maps->extent(cell.layer, cell.column);
  if (!laid_over) return *scene.maps;
  const double x = cell_square(map_on_screen(scene, cell.layer, cell.column),
                               scene.maps->extent(cell.layer, cell.column), cell.query, cell.key)
                       .center()
                       .x();
  return !scene.wipe || x < *scene.wipe ? *scene.over : *scene.maps;
}

}  // namespace

QStringList readout(const ShownMaps& maps, const MapCell& cell) {
  const auto token = [](const TokenLayout& layout, std::int64_t index) {
    return QString::fromStdString(layout.name(index));
  };
  const auto shown = [](float value) {
    return QString::fromStdString(rounded_text(static_cast<double>(value), 4));
  };
  QStringList lines = {shown(maps.value(cell))};
  if (maps.compared_with() != nullptr) {
    const ShownMaps::Weights weights = maps.compared_weights(cell);
    lines << shown(weights.own) + " here, " + shown(weights.reference) + " in the reference";
  }
  lines << "query " +
               token(query_layout(maps.trace(), cell.layer), maps.query_of(cell.layer, cell.query))
        << "key " + token(key_layout(maps.trace(), cell.layer), maps.key_of(cell.layer, cell.key))
        << QString::fromStdString(layer_name(maps.trace(), cell.layer)) + ", " +
               column_name(maps.settings().head_fusion, cell.column);
  if (maps.compared_with() != nullptr) {
    lines << "against " + QString::fromStdString(maps.counterpart_name(cell.layer, cell.column));
  }
  return lines;
}

void paint_crosshair(QPainter& painter, const AtlasScene& scene) {
  const MapCell& at = *scene.crosshair;
  const QRectF map = map_on_screen(scene, at.layer, at.column);
  const QRectF cell = cell_square(map, scene.maps->extent(at.layer, at.column), at.query, at.key);
  const QPointF middle = cell.center();
  // A light line inside a dark one is visible on every colour. Over small cells four arms leave the
  // cell free; over large cells the borders of row and column keep the numbers readable.
  const double clear_x = std::max(cell.width() / 2, 2.5);
  const double clear_y = std::max(cell.height() / 2, 2.5);
  std::vector<QLineF> arms;
  if (std::min(cell.width(), cell.height()) < 20) {
    arms = {{map.left(), middle.y(), middle.x() - clear_x, middle.y()},
            {middle.x() + clear_x, middle.y(), map.right(), middle.y()},
            {middle.x(), map.top(), middle.x(), middle.y() - clear_y},
            {middle.x(), middle.y() + clear_y, middle.x(), map.bottom()}};
  } else {
    for (const double y : {cell.top(), cell.bottom()}) {
      arms.emplace_back(map.left(), y, cell.left(), y);
      arms.emplace_back(cell.right(), y, map.right(), y);
    }
    for (const double x : {cell.left(), cell.right()}) {
      arms.emplace_back(x, map.top(), x, cell.top());
      arms.emplace_back(x, cell.bottom(), x, map.bottom());
    }
  }
  const double strength = scene.cursor_here ? 1.0 : 0.75;
  for (const auto& [colour, width] :
       {std::pair(QColor(0, 0, 0, 150), 3.0), std::pair(QColor(255, 255, 255, 235), 1.0)}) {
    painter.setPen(
        QPen(faded(colour, colour.alphaF() * strength), width, Qt::SolidLine, Qt::FlatCap));
    for (const QLineF& arm : arms) {
      if (arm.p1().x() <= arm.p2().x() && arm.p1().y() <= arm.p2().y()) painter.drawLine(arm);
    }
    if (cell.width() >= 5) painter.drawRect(cell);
  }
}

void paint_readout(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const MapCell& at = *scene.crosshair;
  const QStringList lines = readout(maps_at(scene, at), at);
  const QFont value_face = sized(font, 14, true), face = sized(font, 11);
  const QFontMetricsF value_metrics(value_face), metrics(face);
  const double line_height = metrics.height() + 1;
  double width = value_metrics.horizontalAdvance(lines.first());
  for (qsizetype i = 1; i < lines.size(); ++i) {
    width = std::max(width, metrics.horizontalAdvance(lines[i]));
  }
  QRectF box(0, 0, width + 20,
             value_metrics.height() + line_height * static_cast<double>(lines.size() - 1) + 14);
  const QRectF cell = cell_square(map_on_screen(scene, at.layer, at.column),
                                  scene.maps->extent(at.layer, at.column), at.query, at.key);
  const QRectF area = scene.frame.viewport;
  box.moveTopLeft(cell.bottomRight() + QPointF(12, 12));
  if (box.right() > area.right()) box.moveRight(cell.left() - 12);
  if (box.bottom() > area.bottom()) box.moveBottom(cell.top() - 12);
  box.moveLeft(std::max(box.left(), area.left()));
  box.moveTop(std::max(box.top(), area.top()));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(scene.colours->border, 1));
  painter.setBrush(faded(scene.colours->raised, 0.96));
  painter.drawRoundedRect(box, 6, 6);
  painter.setRenderHint(QPainter::Antialiasing, false);
  double y = box.top() + 7;
  painter.setFont(value_face);
  painter.setPen(scene.colours->text);
  painter.drawText(QPointF(box.left() + 10, y + value_metrics.ascent()), lines.first());
  y += value_metrics.height();
  painter.setFont(face);
  painter.setPen(scene.colours->muted);
  for (qsizetype i = 1; i < lines.size(); ++i) {
    painter.drawText(QPointF(box.left() + 10, y + metrics.ascent()), lines[i]);
    y += line_height;
  }
}

QMarginsF ruler_room(const ShownMaps& maps, std::int64_t layer, const QFont& font) {
  const QFontMetricsF metrics(sized(font, 10));
  const std::int64_t queries = maps.extent(layer, 0).queries;
  double longest = metrics.horizontalAdvance("class");
  if (queries > 0) {
    const TokenLayout& names = query_layout(maps.trace(), layer);
    longest = std::max(longest, metrics.horizontalAdvance(QString::fromStdString(
                                    names.name(maps.query_of(layer, queries - 1)))));
  }
  return {longest + 10, metrics.height() + 4, 0, 0};
}

void paint_rulers(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (!scene.names_tokens) return;
  const QRectF viewport = scene.frame.viewport;
  const auto place = map_at(scene.grid(), scene.zoom.to_atlas(viewport, viewport.center()));
  if (!place) return;
  const MapExtent extent = scene.maps->extent(place->layer, place->column);
  if (extent.queries == 0) return;
  const QRectF map = map_on_screen(scene, place->layer, place->column);
  const double cell_width = map.width() / static_cast<double>(extent.keys);
  const double cell_height = map.height() / static_cast<double>(extent.queries);
  if (std::min(cell_width, cell_height) < smallest_named_cell) return;
  const TokenLayout& query_names = query_layout(scene.maps->trace(), place->layer);
  const TokenLayout& key_names = key_layout(scene.maps->trace(), place->layer);
  const ShownMaps& maps = *scene.maps;
  const QMarginsF strips = ruler_room(maps, place->layer, font);
  const double strip_width = strips.left(), strip_height = strips.top();
  const QRectF top(viewport.left(), viewport.top(), viewport.width(), strip_height);
  const QRectF left(viewport.left(), viewport.top(), strip_width, viewport.height());
  const QColor ground = scene.colours->panel;
  painter.fillRect(top, ground);
  painter.fillRect(left.adjusted(0, strip_height, 0, 0), ground);
  painter.setFont(sized(font, 10));
  const auto pen = [&](bool marked) {
    painter.setPen(marked ? scene.colours->accent : scene.colours->muted);
  };
  painter.save();
  painter.setClipRect(top.adjusted(strip_width, 0, 0, 0));
  const CellRange keys =
      visible_cells(map.left(), map.right(), extent.keys, left.right(), viewport.right());
  const std::int64_t every_key = label_step(cell_width, strip_width, extent.keys);
  for (std::int64_t key = (keys.begin + every_key - 1) / every_key * every_key; key < keys.end;
       key += every_key) {
    const QRectF cell = cell_square(map, extent, 0, key);
    pen(scene.crosshair && scene.crosshair->key == key);
    painter.drawText(QRectF(cell.center().x() - 60, top.top(), 120, strip_height), Qt::AlignCenter,
                     QString::fromStdString(key_names.name(maps.key_of(place->layer, key))));
  }
  painter.restore();
  painter.save();
  painter.setClipRect(left.adjusted(0, strip_height, 0, 0));
  const CellRange queries =
      visible_cells(map.top(), map.bottom(), extent.queries, top.bottom(), viewport.bottom());
  for (std::int64_t query = queries.begin; query < queries.end; ++query) {
    const QRectF cell = cell_square(map, extent, query, 0);
    pen((scene.crosshair && scene.crosshair->query == query) ||
        (scene.selected && scene.selected->query == query));
    painter.drawText(QRectF(left.left(), cell.center().y() - 20, strip_width - 5, 40),
                     Qt::AlignVCenter | Qt::AlignRight,
                     QString::fromStdString(query_names.name(maps.query_of(place->layer, query))));
  }
  painter.restore();
}

}  // namespace attnscope
