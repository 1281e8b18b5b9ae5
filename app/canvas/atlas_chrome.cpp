#include "app/canvas/atlas_chrome.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPolygonF>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "core/text/number_text.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

QColor faded(QColor colour, double alpha) {
  colour.setAlphaF(static_cast<float>(alpha));
  return colour;
}

QRectF map_on_screen(const AtlasScene& scene, std::int64_t layer, std::int64_t column) {
  return scene.zoom.to_screen(scene.frame.viewport, scene.grid().map_square(layer, column));
}

/// Writes names along one side of the maps: column names above them, row names at their left.
class LabelPainter {
 public:
  LabelPainter(QPainter& painter, const AtlasScene& scene, const QFont& font)
      : painter_(painter), scene_(scene), plain_(sized(font, 11)), strong_(sized(font, 11, true)) {}

  [[nodiscard]] double width(const QString& text) const {
    return QFontMetricsF(strong_).horizontalAdvance(text);
  }
  [[nodiscard]] double height() const { return QFontMetricsF(strong_).height(); }

  /// Writes a column's name directly above the map, or at the viewport's edge. `room`: pixels above
  /// the map without other maps; a name that needs more is written only at the edge.
  void above(const QRectF& map, const QString& text, bool selected, double room) {
    const QRectF strip = scene_.frame.top_labels;
    // The name is centred on the visible part, so that it stays when the map is enlarged.
    const double left = std::max(map.left(), scene_.frame.viewport.left());
    const double right = std::min(map.right(), scene_.frame.viewport.right());
    if (right - left < 8 || map.bottom() < strip.bottom()) return;
    if (room < strip.height() && map.top() - strip.height() - 1 > strip.top()) return;
    face(selected);
    const double top = std::max(strip.top(), map.top() - strip.height() - 1);
    painter_.setClipRect(strip.united(scene_.frame.viewport));
    painter_.drawText(QRectF((left + right) / 2 - 100, top, 200, strip.height()), Qt::AlignCenter,
                      text);
  }
  /// Writes a row's name at the left of a map; `long_name` rotates it to read upwards. `room` is as
  /// above.
  void beside(const QRectF& map, const QString& text, bool long_name, bool selected, double room) {
    const QRectF strip = scene_.frame.left_labels;
    const double top = std::max(map.top(), scene_.frame.viewport.top());
    const double bottom = std::min(map.bottom(), scene_.frame.viewport.bottom());
    if (bottom - top < (long_name ? width(text) : 8) || map.right() < strip.right()) return;
    if (room < strip.width() && map.left() - strip.width() > strip.right()) return;
    face(selected);
    const double x = std::max(strip.center().x(), map.left() - strip.width() / 2 - 2);
    painter_.setClipRect(strip.united(scene_.frame.viewport));
    painter_.save();
    painter_.translate(x, (top + bottom) / 2);
    if (long_name) painter_.rotate(-90);
    painter_.drawText(QRectF(-60, -10, 120, 20), Qt::AlignCenter, text);
    painter_.restore();
  }

 private:
  void face(bool selected) {
    painter_.setFont(selected ? strong_ : plain_);
    painter_.setPen(selected ? scene_.colours->text : scene_.colours->muted);
  }

  QPainter& painter_;
  const AtlasScene& scene_;
  QFont plain_, strong_;
};

QString name_of_layer(const AtlasScene& scene, std::int64_t layer) {
  return QString::fromStdString(layer_name(scene.maps->trace(), layer));
}

/// The layer's number, with the first letter of its kind in front if the kind has a name.
QString short_name_of_layer(const AtlasScene& scene, std::int64_t layer) {
  const QString name = name_of_layer(scene, layer);
  const QString number = name.mid(name.lastIndexOf(' ') + 1);
  return name.startsWith(QLatin1String("layer ")) ? number : name.left(1) + number;
}

/// The longest name, which decides whether full names fit.
QString longest_layer_name(const AtlasScene& scene, std::int64_t layers) {
  QString longest = QStringLiteral("layer 00");
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const QString name = name_of_layer(scene, layer);
    if (name.size() > longest.size()) longest = name;
  }
  return longest;
}

void paint_labels(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const AtlasGrid grid = scene.grid();
  if (grid.order) return;  // sorted maps are named one by one
  const bool transposed = grid.arrangement.transposed;
  const double pitch = AtlasGrid::pitch * scene.zoom.scale;
  const HeadFusion fusion = scene.maps->settings().head_fusion;
  LabelPainter labels(painter, scene, font);
  const auto is_long = [&](const QString& longest) { return labels.width(longest) + 6 < pitch; };
  const bool heads_named = is_long(column_name(fusion, 10)),
             layers_named = is_long(longest_layer_name(scene, grid.layers));
  const double above = labels.width("00") + 6, beside = labels.height();
  const std::int64_t every_head = label_step(pitch,
                                             heads_named  ? 0
                                             : transposed ? beside
                                                          : above,
                                             grid.columns);
  const std::int64_t every_layer = label_step(pitch,
                                              layers_named ? 0
                                              : transposed ? above
                                                           : beside,
                                              grid.layers);
  const auto write = [&](bool on_top, const QRectF& map, const QString& text, bool long_name,
                         bool selected, double room) {
    if (on_top) {
      labels.above(map, text, selected, room);
    } else {
      labels.beside(map, text, long_name, selected, room);
    }
  };
  // Names of layers stand between the bands, names of heads outside all of them.
  const double outside = std::numeric_limits<double>::infinity();
  const double between = grid.arrangement.band_gap * scene.zoom.scale + 1;
  painter.save();
  for (std::int64_t first = 0; first < grid.layers; first += grid.layers_a_band()) {
    for (std::int64_t column = 0; column < grid.columns; column += every_head) {
      write(!transposed, map_on_screen(scene, first, column),
            heads_named ? column_name(fusion, column) : QString::number(column), heads_named,
            scene.selected && scene.selected->column == column, outside);
    }
  }
  for (std::int64_t layer = 0; layer < grid.layers; layer += every_layer) {
    write(transposed, map_on_screen(scene, layer, 0),
          layers_named ? name_of_layer(scene, layer) : short_name_of_layer(scene, layer),
          layers_named, scene.selected && scene.selected->layer == layer,
          layer < grid.layers_a_band() ? outside : between);
  }
  painter.restore();
}

/// Frames every selected map, thinner than the map that the selection started from.
void paint_block(QPainter& painter, const AtlasScene& scene) {
  painter.setPen(QPen(scene.colours->accent, 1.5, Qt::DashLine));
  for (std::int64_t layer = scene.block->first_layer; layer <= scene.block->last_layer; ++layer) {
    for (std::int64_t head = scene.block->first_head; head <= scene.block->last_head; ++head) {
      if (layer >= scene.maps->grid().layers || head >= scene.maps->grid().columns) continue;
      painter.drawRect(map_on_screen(scene, layer, head).adjusted(-1, -1, 1, 1));
    }
  }
}

void paint_selected(QPainter& painter, const AtlasScene& scene) {
  if (!scene.selected) return;
  const MapCell& selected = *scene.selected;
  const MapExtent extent = scene.maps->extent(selected.layer, selected.column);
  if (extent.queries == 0) return;
  if (!scene.draws(selected.layer, selected.column)) return;
  const QRectF map = map_on_screen(scene, selected.layer, selected.column);
  painter.setBrush(Qt::NoBrush);
  if (!scene.stage || !scene.stage->alone) {
    if (scene.block) paint_block(painter, scene);
    painter.setPen(QPen(scene.colours->accent, 2));
    painter.drawRect(map.adjusted(-2, -2, 2, 2));
  }
  if (selected.query < 0 || selected.query >= extent.queries) return;
  const QRectF cell = cell_square(map, extent, selected.query, 0);
  if (cell.height() >= 5) {
    const QRectF row(map.left(), cell.top(), map.width(), cell.height());
    painter.setPen(QPen(QColor(0, 0, 0, 140), 3));
    painter.drawRect(row);
    painter.setPen(QPen(scene.colours->accent, 1.5));
    painter.drawRect(row);
  }
  // An arrow at either side of the row makes it visible at every size, not by colour only.
  const double y = cell.center().y(), size = std::clamp(scene.zoom.scale / 18, 4.0, 8.0);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(scene.colours->window, 1));
  painter.setBrush(scene.colours->accent);
  const double left = std::max(map.left() - 1, scene.sight().left() + size);
  const double right = std::min(map.right() + 1, scene.sight().right() - size);
  painter.drawPolygon(
      QPolygonF({{left - size, y - size}, {left + size / 2, y}, {left - size, y + size}}));
  painter.drawPolygon(
      QPolygonF({{right + size, y - size}, {right - size / 2, y}, {right + size, y + size}}));
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

/// Draws the reason in place of a map that has no counterpart.
void paint_empty_maps(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (scene.maps->compared_with() == nullptr) return;
  painter.setFont(sized(font, 11));
  const AtlasGrid grid = scene.grid();
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const QRectF map = map_on_screen(scene, layer, column);
      if (!map.intersects(scene.sight()) || !scene.draws(layer, column)) continue;
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

/// Background colour of a number, from the least to the greatest, through a colour map that also
/// works in greyscale.
class NumberGround {
 public:
  NumberGround(double least, double greatest) : least_(least), greatest_(greatest) {}

  struct Inks {
    QColor paper, ink;
  };
  [[nodiscard]] Inks of(const PrintedNumber& number) const {
    if (std::isnan(number.value) || !(greatest_ > least_)) {
      return {QColor(0, 0, 0, 165), QColor(255, 255, 255)};
    }
    const Colour paper = colour_at(find_colour_map("cividis"),
                                   (number.value - least_) / (greatest_ - least_), false);
    const Colour ink = legible_on(paper);
    return {QColor(paper.red, paper.green, paper.blue), QColor(ink.red, ink.green, ink.blue)};
  }

 private:
  double least_, greatest_;
};

/// Draws the number of each map in its corner, with a bar of its share of the maximum below, and
/// the map's name in the other corner if maps are sorted.
void paint_map_numbers(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  constexpr double kLeastSide = 44, kGauge = 3, kInside = 3;  // pixels
  if (scene.numbers.empty() || scene.zoom.scale < kLeastSide) return;
  const AtlasGrid grid = scene.grid();
  const NumberGround ground(scene.least_number, scene.greatest_number);
  const QFont face = sized(font, scene.zoom.scale < 80 ? 10 : 11, true);
  const QFontMetricsF metrics(face);
  painter.setFont(face);
  // A text at a point is laid out once, one within a rectangle several times. The boxes fit it.
  const auto write = [&](const QRectF& box, const QString& text) {
    painter.drawText(box.topLeft() + QPointF(kInside, metrics.ascent() - 0.5), text);
  };
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const auto& number = scene.numbers[static_cast<std::size_t>(layer * grid.columns + column)];
      const QRectF map = map_on_screen(scene, layer, column);
      if (!number || !map.intersects(scene.frame.viewport)) continue;
      const QRectF gauge(map.left(), map.bottom() - kGauge, map.width(), kGauge);
      painter.fillRect(gauge, QColor(0, 0, 0, 120));
      painter.fillRect(QRectF(gauge.topLeft(), QSizeF(gauge.width() * number->share, kGauge)),
                       QColor(255, 255, 255, 220));
      const double width = metrics.horizontalAdvance(number->text) + 2 * kInside;
      const QRectF box(map.right() - width, gauge.top() - metrics.height() + 1, width,
                       metrics.height() - 1);
      const auto [paper, ink] = ground.of(*number);
      painter.fillRect(box, paper);
      painter.setPen(ink);
      write(box, number->text);
      if (!grid.order) continue;
      const QString name = QString("%1 · %2").arg(layer).arg(column);
      const QRectF corner(map.topLeft(),
                          QSizeF(metrics.horizontalAdvance(name) + 2 * kInside, box.height()));
      if (corner.width() > map.width()) continue;
      painter.fillRect(corner, QColor(0, 0, 0, 165));
      painter.setPen(QColor(255, 255, 255));
      write(corner, name);
    }
  }
}

/// Draws the divider of a wipe, with the name of the model on each side.
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

/// Highlights row and column of the cell under the cursor.
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

/// Draws the lines of `readout` next to the cell under the cursor.
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
  const QRectF area = scene.sight();
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

}  // namespace

QFont sized(const QFont& font, double pixels, bool bold) {
  QFont result = font;
  result.setPixelSize(std::max(1, static_cast<int>(std::lround(pixels * text_scale_of(font)))));
  result.setWeight(bold ? QFont::DemiBold : QFont::Normal);
  return result;
}

AtlasFrame atlas_frame(QSizeF widget, double text_scale) {
  constexpr double edge = 2;
  const double above = 12 * text_scale, beside = 15 * text_scale;
  AtlasFrame frame;
  frame.viewport = QRectF(edge + beside, above, std::max(1.0, widget.width() - 2 * edge - beside),
                          std::max(1.0, widget.height() - above));
  frame.top_labels = QRectF(frame.viewport.left(), 0, frame.viewport.width(), above);
  frame.left_labels = QRectF(edge - 1, above, beside, frame.viewport.height());
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

void paint_chrome(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  painter.setRenderHint(QPainter::TextAntialiasing);
  if (!scene.maps) {
    painter.setFont(sized(font, 13));
    painter.setPen(scene.message_is_error ? scene.colours->error : scene.colours->muted);
    painter.drawText(scene.frame.viewport.adjusted(8, 8, -8, -8),
                     static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap, scene.message);
    return;
  }
  // The title of a stage names the map and has its number.
  if (!scene.stage) paint_labels(painter, scene, font);
  painter.save();
  painter.setClipRect(scene.sight());
  if (!scene.stage || !scene.stage->alone) paint_map_numbers(painter, scene, font);
  paint_empty_maps(painter, scene, font);
  paint_wipe(painter, scene, font);
  painter.setClipRect(scene.sight().adjusted(-3, -3, 3, 3));
  paint_selected(painter, scene);
  painter.restore();
  if (scene.stage) paint_stage(painter, scene, font);
}

void paint_cursor(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (!scene.maps || !scene.crosshair) return;
  painter.setRenderHint(QPainter::TextAntialiasing);
  painter.save();
  painter.setClipRect(scene.sight());
  paint_crosshair(painter, scene);
  painter.restore();
  paint_readout(painter, scene, font);
}

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

}  // namespace attnscope
