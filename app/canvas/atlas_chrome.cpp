#include "app/canvas/atlas_chrome.h"

#include <QFontMetricsF>
#include <QLinearGradient>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "core/trace/layer_layout.h"

namespace attnscope {

namespace {

QFont sized(const QFont& font, double pixels, bool bold = false) {
  QFont result = font;
  result.setPixelSize(std::max(1, static_cast<int>(std::lround(pixels))));
  result.setWeight(bold ? QFont::DemiBold : QFont::Normal);
  return result;
}

QColor faded(QColor colour, double alpha) {
  colour.setAlphaF(static_cast<float>(alpha));
  return colour;
}

QRectF map_on_screen(const AtlasScene& scene, std::int64_t layer, std::int64_t column) {
  return scene.zoom.to_screen(scene.frame.viewport, scene.maps->grid().map_square(layer, column));
}

void paint_title(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const QRectF row = scene.frame.title;
  const QFont number_face = sized(font, 11, true);
  const QRectF badge(row.left(), row.center().y() - 9, 18, 18);
  painter.setPen(Qt::NoPen);
  painter.setBrush(scene.subject_colour);
  painter.drawRoundedRect(badge, 4, 4);
  painter.setFont(number_face);
  painter.setPen(scene.subject_colour.lightnessF() > 0.5F ? QColor(0x101418) : QColor(Qt::white));
  painter.drawText(badge, Qt::AlignCenter, scene.number);

  const double right = row.right();
  double x = badge.right() + 8;
  const QFont title_face = sized(font, 13, true);
  const QFontMetricsF title_metrics(title_face);
  const QString title = title_metrics.elidedText(scene.title, Qt::ElideMiddle, right - x);
  painter.setFont(title_face);
  painter.setPen(scene.colours->text);
  painter.drawText(QRectF(x, row.top(), right - x, row.height()), Qt::AlignVCenter | Qt::AlignLeft,
                   title);
  x += title_metrics.horizontalAdvance(title) + 10;
  if (!scene.mark.isEmpty()) {
    const QFont face = sized(font, 11, true);
    const QFontMetricsF metrics(face);
    const double width = metrics.horizontalAdvance(scene.mark) + 12;
    if (right - x > width) {
      const QRectF chip(x, row.center().y() - 8.5, width, 17);
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(scene.reference_colour, 1.2));
      painter.setBrush(faded(scene.reference_colour, 0.16));
      painter.drawRoundedRect(chip, 4, 4);
      painter.setRenderHint(QPainter::Antialiasing, false);
      painter.setFont(face);
      painter.setPen(scene.colours->text);
      painter.drawText(chip, Qt::AlignCenter, scene.mark);
      x += width + 10;
    }
  }
  if (right - x > 40) {
    const QFont face = sized(font, 12);
    painter.setFont(face);
    painter.setPen(scene.colours->muted);
    painter.drawText(QRectF(x, row.top() + 0.5, right - x, row.height()),
                     Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(face).elidedText(scene.subtitle, Qt::ElideRight, right - x));
  }
  painter.setPen(
      QPen(scene.current ? scene.subject_colour : scene.colours->border, scene.current ? 2 : 1));
  const double y = row.bottom() + (scene.current ? 0 : 0.5);
  painter.drawLine(QPointF(row.left(), y), QPointF(row.right(), y));
}

void paint_labels(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const AtlasGrid& grid = scene.maps->grid();
  const QRectF viewport = scene.frame.viewport;
  const double pitch = AtlasGrid::pitch * scene.zoom.scale;
  const QFont plain = sized(font, 11), strong = sized(font, 11, true);
  const QFontMetricsF metrics(strong);
  const HeadFusion fusion = scene.maps->settings().head_fusion;
  const auto face = [&](bool selected) {
    painter.setFont(selected ? strong : plain);
    painter.setPen(selected ? scene.colours->text : scene.colours->muted);
  };

  const bool heads_named = metrics.horizontalAdvance(column_name(fusion, 10)) + 6 < pitch;
  const std::int64_t every_column =
      label_step(pitch, heads_named ? pitch : metrics.horizontalAdvance("00") + 6, grid.columns);
  painter.save();
  painter.setClipRect(scene.frame.head_labels.united(viewport));
  for (std::int64_t column = 0; column < grid.columns; column += every_column) {
    const QRectF map = map_on_screen(scene, 0, column);
    // In the middle of the part that is in sight, so that it stays when the map is enlarged.
    const double left = std::max(map.left(), viewport.left());
    const double right = std::min(map.right(), viewport.right());
    if (right - left < 8) continue;
    face(scene.selected && scene.selected->column == column);
    const double middle = (left + right) / 2;
    // Over the maps where they leave room above, else at the edge.
    const double height = scene.frame.head_labels.height();
    const double top = std::max(scene.frame.head_labels.top(), map.top() - height - 2);
    painter.drawText(QRectF(middle - 100, top, 200, height), Qt::AlignCenter,
                     heads_named ? column_name(fusion, column) : QString::number(column));
  }
  painter.restore();

  const double layer_width = metrics.horizontalAdvance("layer 00");
  const bool layers_named = metrics.horizontalAdvance("layer 00") + 6 < pitch;
  const std::int64_t every_layer =
      label_step(pitch, layers_named ? pitch : metrics.height(), grid.layers);
  painter.save();
  painter.setClipRect(scene.frame.layer_labels.united(viewport));
  for (std::int64_t layer = 0; layer < grid.layers; layer += every_layer) {
    const QRectF map = map_on_screen(scene, layer, 0);
    const double top = std::max(map.top(), viewport.top());
    const double bottom = std::min(map.bottom(), viewport.bottom());
    if (bottom - top < 8) continue;
    face(scene.selected && scene.selected->layer == layer);
    if (layers_named && bottom - top < layer_width) continue;
    // Beside the maps where they leave room at the left, else at the edge.
    const double x = std::max(scene.frame.layer_labels.left() + 9, map.left() - 14);
    painter.save();
    painter.translate(x, (top + bottom) / 2);
    if (layers_named) painter.rotate(-90);
    painter.drawText(QRectF(-60, -10, 120, 20), Qt::AlignCenter,
                     layers_named ? QString("layer %1").arg(layer) : QString::number(layer));
    painter.restore();
  }
  painter.restore();
}

void paint_selected(QPainter& painter, const AtlasScene& scene) {
  if (!scene.selected) return;
  const MapCell& selected = *scene.selected;
  const MapExtent extent = scene.maps->extent(selected.layer, selected.column);
  if (extent.queries == 0) return;
  const QRectF map = map_on_screen(scene, selected.layer, selected.column);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(scene.colours->accent, 2));
  painter.drawRect(map.adjusted(-2, -2, 2, 2));
  if (selected.query < 0 || selected.query >= extent.queries) return;
  const QRectF cell = cell_square(map, extent, selected.query, 0);
  if (cell.height() >= 5) {
    const QRectF row(map.left(), cell.top(), map.width(), cell.height());
    painter.setPen(QPen(QColor(0, 0, 0, 140), 3));
    painter.drawRect(row);
    painter.setPen(QPen(scene.colours->accent, 1.5));
    painter.drawRect(row);
  }
  // An arrow at either side of the row: seen at every size, and not by colour alone.
  const double y = cell.center().y(), size = std::clamp(scene.zoom.scale / 18, 4.0, 8.0);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(scene.colours->window, 1));
  painter.setBrush(scene.colours->accent);
  const double left = std::max(map.left() - 1, scene.frame.viewport.left() + size);
  const double right = std::min(map.right() + 1, scene.frame.viewport.right() - size);
  painter.drawPolygon(
      QPolygonF({{left - size, y - size}, {left + size / 2, y}, {left - size, y + size}}));
  painter.drawPolygon(
      QPolygonF({{right + size, y - size}, {right - size / 2, y}, {right + size, y + size}}));
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void paint_crosshair(QPainter& painter, const AtlasScene& scene) {
  const MapCell& at = *scene.crosshair;
  const QRectF map = map_on_screen(scene, at.layer, at.column);
  const QRectF cell = cell_square(map, scene.maps->extent(at.layer, at.column), at.query, at.key);
  const QPointF middle = cell.center();
  // Light inside dark: seen on every colour. Over small cells four arms that leave the cell free;
  // over large ones the borders of row and column, so that the numbers stay readable.
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

/// The maps one sees at a cell: the reference's where they are laid over it.
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

/// Token names along the enlarged map under the middle of the viewport.
void paint_rulers(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const QRectF viewport = scene.frame.viewport;
  const auto place = map_at(scene.maps->grid(), scene.zoom.to_atlas(viewport, viewport.center()));
  if (!place) return;
  const MapExtent extent = scene.maps->extent(place->layer, place->column);
  if (extent.queries == 0) return;
  const QRectF map = map_on_screen(scene, place->layer, place->column);
  const double cell_width = map.width() / static_cast<double>(extent.keys);
  const double cell_height = map.height() / static_cast<double>(extent.queries);
  if (std::min(cell_width, cell_height) < 14) return;
  const TokenLayout& query_names = query_layout(scene.maps->trace(), place->layer);
  const TokenLayout& key_names = key_layout(scene.maps->trace(), place->layer);
  const ShownMaps& maps = *scene.maps;
  const QFont face = sized(font, 10);
  const QFontMetricsF metrics(face);
  const double longest = metrics.horizontalAdvance(QString::fromStdString(
                             query_names.name(maps.token_of(extent.queries - 1)))) +
                         10;
  const double strip_width = std::max(longest, metrics.horizontalAdvance("class") + 10);
  const double strip_height = metrics.height() + 4;
  const QRectF top(viewport.left(), viewport.top(), viewport.width(), strip_height);
  const QRectF left(viewport.left(), viewport.top(), strip_width, viewport.height());
  const QColor ground = scene.colours->panel;
  painter.fillRect(top, ground);
  painter.fillRect(left.adjusted(0, strip_height, 0, 0), ground);
  painter.setFont(face);
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
                     QString::fromStdString(key_names.name(maps.token_of(key))));
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
                     QString::fromStdString(query_names.name(maps.token_of(query))));
  }
  painter.restore();
}

/// What is said in the place of a map that has no counterpart.
void paint_empty_maps(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (scene.maps->compared_with() == nullptr) return;
  painter.setFont(sized(font, 11));
  const AtlasGrid& grid = scene.maps->grid();
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const QRectF map = map_on_screen(scene, layer, column);
      if (!map.intersects(scene.frame.viewport)) continue;
      const std::string why = scene.maps->why_empty(layer, column);
      if (why.empty()) continue;
      painter.setPen(QPen(scene.colours->border, 1, Qt::DashLine));
      painter.drawRect(map.adjusted(0.5, 0.5, -0.5, -0.5));
      if (map.width() < 56) continue;
      painter.setPen(scene.colours->muted);
      painter.drawText(map.adjusted(4, 4, -4, -4),
                       static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap,
                       QString::fromStdString(why));
    }
  }
}

/// The divider of a wipe, with whose maps are on which side.
void paint_wipe(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (!scene.wipe) return;
  const QRectF viewport = scene.frame.viewport;
  const double x = *scene.wipe;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(QColor(0, 0, 0, 150), 4));
  painter.drawLine(QPointF(x, viewport.top()), QPointF(x, viewport.bottom()));
  painter.setPen(QPen(QColor(255, 255, 255, 235), 1.6));
  painter.drawLine(QPointF(x, viewport.top()), QPointF(x, viewport.bottom()));
  const double y = viewport.center().y();
  painter.setPen(QPen(QColor(0, 0, 0, 150), 1));
  painter.setBrush(QColor(255, 255, 255, 235));
  painter.drawRoundedRect(QRectF(x - 7, y - 16, 14, 32), 5, 5);
  painter.setBrush(QColor(0x20, 0x26, 0x2e));
  painter.setPen(Qt::NoPen);
  for (const double side : {-1.0, 1.0}) {
    painter.drawPolygon(
        QPolygonF({{x + side * 1.5, y - 4.5}, {x + side * 5, y}, {x + side * 1.5, y + 4.5}}));
  }
  painter.setFont(sized(font, 11, true));
  const auto badge = [&](const QString& number, const QColor& colour, double left) {
    const QRectF box(left, viewport.top() + 4, 18, 18);
    painter.setPen(QPen(QColor(0, 0, 0, 120), 1));
    painter.setBrush(colour);
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(colour.lightnessF() > 0.5F ? QColor(0x101418) : QColor(Qt::white));
    painter.drawText(box, Qt::AlignCenter, number);
  };
  if (x - viewport.left() > 26) badge(scene.reference_number, scene.reference_colour, x - 24);
  if (viewport.right() - x > 26) badge(scene.number, scene.subject_colour, x + 6);
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void paint_colour_bar(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const QRectF area = scene.frame.colour_bar;
  const QFont face = sized(font, 10);
  const QFontMetricsF metrics(face);
  painter.setFont(face);
  QString label = scene.value_name;
  if (scene.scale.norm == ScaleNorm::logarithmic) label += ", log";
  if (scene.scale.norm == ScaleNorm::symmetric_logarithmic) label += ", symlog";
  const double label_width = metrics.horizontalAdvance(label) + 10;
  double right = area.right() - 8;
  if (scene.without_values) {
    const QString text = "no value";
    right -= metrics.horizontalAdvance(text);
    painter.setPen(scene.colours->muted);
    painter.drawText(QRectF(right, area.top(), 80, 12), Qt::AlignLeft | Qt::AlignVCenter, text);
    right -= 18;
    const QRectF swatch(right, area.top(), 14, 11);
    painter.fillRect(swatch, scene.colours->raised);
    painter.setPen(QPen(scene.colours->border, 1));
    for (double x = -8; x < 14; x += 4) {
      painter.save();
      painter.setClipRect(swatch);
      painter.setPen(QPen(scene.colours->muted, 1.5));
      painter.drawLine(swatch.bottomLeft() + QPointF(x, 0),
                       swatch.bottomLeft() + QPointF(x + 12, -12));
      painter.restore();
    }
    right -= 14;
  }
  painter.setPen(scene.colours->muted);
  painter.drawText(QRectF(area.left(), area.top() - 1, label_width, 12),
                   Qt::AlignLeft | Qt::AlignVCenter, label);
  const QRectF bar(area.left() + label_width + 8, area.top(), right - area.left() - label_width - 8,
                   11);
  if (bar.width() < 40) return;
  const ColourMap& colours = find_colour_map(scene.scale.colour_map);
  const auto colour = [&](double fraction) {
    const Colour c = colour_at(colours, fraction, scene.scale.reversed);
    return QColor(c.red, c.green, c.blue);
  };
  QLinearGradient gradient(bar.topLeft(), bar.topRight());
  for (int i = 0; i <= 32; ++i) gradient.setColorAt(i / 32.0, colour(i / 32.0));
  painter.fillRect(bar, gradient);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  // Pointed ends: there are values beyond, drawn in the last colour.
  const double tip = 7, middle = bar.center().y();
  if (scene.range.clips_above) {
    painter.setBrush(colour(1));
    painter.drawPolygon(
        QPolygonF({bar.topRight(), {bar.right() + tip, middle}, bar.bottomRight()}));
  }
  if (scene.range.clips_below) {
    painter.setBrush(colour(0));
    painter.drawPolygon(QPolygonF({bar.topLeft(), {bar.left() - tip, middle}, bar.bottomLeft()}));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
  double free_from = area.left();
  for (const Tick& tick : colour_bar_ticks(scene.scale, bar.width(), 52)) {
    const auto fraction = fraction_of(scene.scale, tick.value);
    if (!fraction) continue;
    const double x = bar.left() + *fraction * bar.width();
    const QString text = QString::fromStdString(tick.label);
    const double half = metrics.horizontalAdvance(text) / 2;
    const double left = std::min(x - half, area.right() - 2 * half);
    if (left < free_from) continue;
    free_from = left + 2 * half + 6;
    painter.setPen(QPen(scene.colours->muted, 1));
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3));
    painter.drawText(QRectF(left, bar.bottom() + 3, 2 * half + 1, metrics.height()),
                     Qt::AlignCenter, text);
  }
  // Where on the scale the value under the cursor lies.
  if (scene.crosshair && scene.maps) {
    const auto fraction = fraction_of(scene.scale, scene.maps->value(*scene.crosshair));
    if (fraction) {
      const double x = bar.left() + *fraction * bar.width();
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(scene.colours->window, 1));
      painter.setBrush(scene.colours->text);
      painter.drawPolygon(
          QPolygonF({{x - 5, bar.top() - 4}, {x + 5, bar.top() - 4}, {x, bar.top() + 4}}));
      painter.setBrush(Qt::NoBrush);
      painter.setRenderHint(QPainter::Antialiasing, false);
    }
  }
}

}  // namespace

AtlasFrame atlas_frame(QSizeF widget) {
  constexpr double edge = 10, title = 32, heads = 20, layers = 20, bar = 44;
  AtlasFrame frame;
  frame.title = QRectF(edge, 0, widget.width() - 2 * edge, title);
  const double top = title + heads + 2;
  frame.viewport = QRectF(edge + layers, top, widget.width() - 2 * edge - layers,
                          std::max(1.0, widget.height() - top - bar));
  frame.head_labels = QRectF(frame.viewport.left(), title + 2, frame.viewport.width(), heads);
  frame.layer_labels = QRectF(edge, top, layers, frame.viewport.height());
  frame.colour_bar =
      QRectF(edge + layers, frame.viewport.bottom() + 12, frame.viewport.width(), bar - 14);
  return frame;
}

QString column_name(HeadFusion fusion, std::int64_t column) {
  switch (fusion) {
    case HeadFusion::mean:
      return "mean of heads";
    case HeadFusion::maximum:
      return "max of heads";
    case HeadFusion::minimum:
      return "min of heads";
    case HeadFusion::none:
      break;
  }
  return QString("head %1").arg(column);
}

QStringList readout(const ShownMaps& maps, const MapCell& cell) {
  const auto token = [&](const TokenLayout& layout, std::int64_t index) {
    return QString::fromStdString(layout.name(maps.token_of(index)));
  };
  QStringList lines = {QString::asprintf("%.4g", static_cast<double>(maps.value(cell)))};
  if (maps.compared_with() != nullptr) {
    const ShownMaps::Weights weights = maps.compared_weights(cell);
    lines << QString::asprintf("%.4g here, %.4g in the reference", static_cast<double>(weights.own),
                               static_cast<double>(weights.reference));
  }
  lines << "query " + token(query_layout(maps.trace(), cell.layer), cell.query)
        << "key " + token(key_layout(maps.trace(), cell.layer), cell.key)
        << QString("layer %1, %2")
               .arg(cell.layer)
               .arg(column_name(maps.settings().head_fusion, cell.column));
  if (maps.compared_with() != nullptr) {
    lines << "against " + QString::fromStdString(maps.counterpart_name(cell.layer, cell.column));
  }
  return lines;
}

void paint_chrome(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  painter.setRenderHint(QPainter::TextAntialiasing);
  paint_title(painter, scene, font);
  if (!scene.maps) {
    painter.setFont(sized(font, 13));
    painter.setPen(scene.message_is_error ? scene.colours->error : scene.colours->muted);
    painter.drawText(scene.frame.viewport.adjusted(8, 8, -8, -8),
                     static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap, scene.message);
    return;
  }
  paint_labels(painter, scene, font);
  painter.save();
  painter.setClipRect(scene.frame.viewport);
  paint_empty_maps(painter, scene, font);
  paint_wipe(painter, scene, font);
  painter.setClipRect(scene.frame.viewport.adjusted(-3, -3, 3, 3));
  paint_selected(painter, scene);
  painter.setClipRect(scene.frame.viewport);
  if (scene.crosshair) paint_crosshair(painter, scene);
  paint_rulers(painter, scene, font);
  painter.restore();
  paint_colour_bar(painter, scene, font);
  if (scene.crosshair) paint_readout(painter, scene, font);
}

}  // namespace attnscope
