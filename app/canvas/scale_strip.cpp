#include "app/canvas/scale_strip.h"

#include <QFontMetricsF>
#include <QLinearGradient>
#include <QPainter>
#include <QPolygonF>
#include <QStringList>
#include <algorithm>

#include "analysis/figure/colour_map.h"
#include "app/canvas/atlas_chrome.h"
#include "app/canvas/atlas_link.h"
#include "app/look/theme.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr double kBar = 8;         // height of the colour bar, pixels
constexpr double kLetters = 10.5;  // pixels, at the default text size
constexpr int kWidth = 300;        // width of one scale, pixels
constexpr int kLeastWidth = 120;   // least width in a narrow window, pixels

}  // namespace

ScaleStrip::ScaleStrip(Session& session, AtlasLink& link, QWidget* parent)
    : QWidget(parent), session_(session), link_(link) {
  setObjectName("scale_strip");
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Ignored);
  connect(&link_, &AtlasLink::values_changed, this, &ScaleStrip::refresh);
  connect(&link_, &AtlasLink::drawn_changed, this, &ScaleStrip::refresh);
  connect(&session_, &Session::view_changed, this, &ScaleStrip::refresh);
  connect(&session_, &Session::subjects_changed, this, &ScaleStrip::refresh);
  connect(&session_, &Session::selection_changed, this, qOverload<>(&QWidget::update));
}

QSize ScaleStrip::sizeHint() const {
  return {kWidth * std::max(1, static_cast<int>(scales().size())), 20};
}
QSize ScaleStrip::minimumSizeHint() const { return {kLeastWidth, 20}; }

void ScaleStrip::refresh() {
  QStringList said;
  for (const Scale& one : scales()) {
    said << tr("%1 from %2 to %3")
                .arg(one.name)
                .arg(one.range.minimum, 0, 'g', 3)
                .arg(one.range.maximum, 0, 'g', 3);
  }
  setAccessibleName(tr("Colour scale: %1").arg(said.join("; ")));
  setToolTip(said.isEmpty() ? QString()
                            : tr("The colours of the maps: %1. L opens the lens, which changes it.")
                                  .arg(said.join("; ")));
  updateGeometry();
  update();
}

std::vector<ScaleStrip::Scale> ScaleStrip::scales() const {
  Scale weights, differences;
  bool any_weights = false, any_differences = false;
  const Theme theme = colours_of(*this).theme;
  for (const OpenSubject& open : session_.subjects()) {
    const AtlasLink::Drawn drawn = link_.drawn(open.id);
    if (!drawn.maps) continue;
    (drawn.difference ? any_differences : any_weights) = true;
    Scale& scale = drawn.difference ? differences : weights;
    scale.without_values |= link_.cells_without_value(open.id) > 0;
    const std::optional<MapCell> cell = link_.linked_cell(open.id);
    if (!cell) continue;
    const MapExtent extent = drawn.maps->extent(cell->layer, cell->column);
    if (cell->query >= extent.queries || cell->key >= extent.keys) continue;
    scale.marks.push_back({static_cast<double>(drawn.maps->value(*cell)),
                           subject_colour(session_.place_of(open.id), theme)});
  }
  std::vector<Scale> shown;
  const auto add = [&](Scale& scale, bool difference) {
    scale.scale = link_.scale(difference);
    scale.range = link_.range(difference);
    scale.name = difference ? value_name(session_.view().comparison) : "weight";
    if (!difference && session_.view().range_of_each_map) take_own_range(scale);
    shown.push_back(std::move(scale));
  };
  if (any_weights) add(weights, false);
  if (any_differences) add(differences, true);
  return shown;
}

/// Replaces the shared range by that of the map under the cursor, or else of the selected map.
void ScaleStrip::take_own_range(Scale& scale) const {
  const Selection& at = session_.selection();
  const bool fused = session_.view().head_fusion != HeadFusion::none;
  const SubjectId subject = at.hover ? at.hover->subject : at.subject;
  const std::int64_t layer = at.hover ? at.hover->layer : at.layer;
  const std::int64_t head = at.hover ? at.hover->head : at.head;
  const auto own = link_.range_of_map(subject, layer, fused ? 0 : head);
  if (!own) return;
  scale.range = *own;
  scale.scale = colour_scale(*own, session_.view());
  scale.name = fused ? tr("weight, L%1").arg(layer) : tr("weight, L%1 H%2").arg(layer).arg(head);
  std::erase_if(scale.marks, [&](const Mark& mark) {
    return mark.colour != subject_colour(session_.place_of(subject), colours_of(*this).theme);
  });
}

void ScaleStrip::paintEvent(QPaintEvent*) {
  const std::vector<Scale> shown = scales();
  if (shown.empty()) return;
  QPainter painter(this);
  const double width = this->width() / static_cast<double>(shown.size());
  const QFont face = sized(font(), kLetters);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const QRectF area(static_cast<double>(i) * width + 6, 1, width - 18, height() - 1.0);
    paint(painter, area, shown[i], face, *this);
  }
}

void ScaleStrip::paint(QPainter& painter, const QRectF& area, const Scale& of, const QFont& face,
                       const QWidget& look) {
  const WindowColours& ink = colours_of(look);
  const QFontMetricsF metrics(face);
  painter.setFont(face);
  QString label = of.name;
  if (of.scale.norm == ScaleNorm::logarithmic) label += ", log";
  if (of.scale.norm == ScaleNorm::symmetric_logarithmic) label += ", symlog";
  const double label_width = metrics.horizontalAdvance(label) + 10;
  double right = area.right() - 8;
  if (of.without_values) {
    const QString text = "no value";
    right -= metrics.horizontalAdvance(text);
    painter.setPen(ink.muted);
    painter.drawText(QRectF(right, area.top(), 80, 12), Qt::AlignLeft | Qt::AlignVCenter, text);
    right -= 18;
    const QRectF swatch(right, area.top(), 14, 11);
    painter.fillRect(swatch, ink.raised);
    painter.setPen(QPen(ink.border, 1));
    for (int x = -8; x < 14; x += 4) {
      painter.save();
      painter.setClipRect(swatch);
      painter.setPen(QPen(ink.muted, 1.5));
      painter.drawLine(swatch.bottomLeft() + QPointF(x, 0),
                       swatch.bottomLeft() + QPointF(x + 12, -12));
      painter.restore();
    }
    right -= 14;
  }
  painter.setPen(ink.muted);
  painter.drawText(QRectF(area.left(), area.top(), label_width, area.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, label);
  const QRectF bar(area.left() + label_width, area.top() + 1, right - area.left() - label_width,
                   kBar);
  if (bar.width() < 40) return;
  const ScaleColours colours(of.scale);
  const auto colour = [&](double fraction) {
    const Colour c = colours(fraction);
    return QColor(c.red, c.green, c.blue);
  };
  QLinearGradient gradient(bar.topLeft(), bar.topRight());
  for (int i = 0; i <= 32; ++i) gradient.setColorAt(i / 32.0, colour(i / 32.0));
  painter.fillRect(bar, gradient);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  // A pointed end means that values beyond it are drawn in the end's colour.
  const double tip = 6, middle = bar.center().y();
  if (of.range.clips_above) {
    painter.setBrush(colour(1));
    painter.drawPolygon(
        QPolygonF({bar.topRight(), {bar.right() + tip, middle}, bar.bottomRight()}));
  }
  if (of.range.clips_below) {
    painter.setBrush(colour(0));
    painter.drawPolygon(QPolygonF({bar.topLeft(), {bar.left() - tip, middle}, bar.bottomLeft()}));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
  double free_from = bar.left() - 8;
  for (const Tick& tick : colour_bar_ticks(of.scale, bar.width(), 52)) {
    const auto fraction = fraction_of(of.scale, tick.value);
    if (!fraction) continue;
    const double x = bar.left() + *fraction * bar.width();
    const QString text = QString::fromStdString(tick.label);
    const double half = metrics.horizontalAdvance(text) / 2;
    const double left = std::min(x - half, area.right() - 2 * half);
    if (left < free_from) continue;
    free_from = left + 2 * half + 6;
    painter.setPen(QPen(ink.muted, 1));
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 2));
    painter.drawText(QRectF(left, bar.bottom() + 1, 2 * half + 1, area.bottom() - bar.bottom()),
                     Qt::AlignCenter, text);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(ink.panel, 1));
  for (const Mark& mark : of.marks) {
    const auto fraction = fraction_of(of.scale, mark.value);
    if (!fraction) continue;
    const double x = bar.left() + *fraction * bar.width();
    painter.setBrush(mark.colour);
    painter.drawPolygon(
        QPolygonF({{x - 4.5, bar.top() - 2}, {x + 4.5, bar.top() - 2}, {x, bar.bottom() + 1}}));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace attnscope
