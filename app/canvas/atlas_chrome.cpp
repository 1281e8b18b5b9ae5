#include "app/canvas/atlas_chrome.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPolygonF>
#include <algorithm>

#include "app/canvas/chrome_parts.h"

namespace attnscope {

namespace {

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

}  // namespace

QFont sized(const QFont& font, double pixels, bool bold) {
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
