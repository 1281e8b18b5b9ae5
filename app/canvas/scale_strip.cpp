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

constexpr double kBar = 5;         // height of the colour bar, pixels
constexpr double kLetters = 10;    // pixels, at the default text size
constexpr int kWidth = 300;        // width of a single scale, pixels
constexpr int kWidthOfTwo = 230;   // width of each of two scales, pixels
constexpr int kLeastWidth = 120;   // least width in a narrow window, pixels
constexpr int kLeastHeight = 16;   // bar, tick and numbers, pixels
constexpr int kLeastOfEach = 170;  // least width of each of several scales, pixels
constexpr std::size_t kMostModels = 2;

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
  return {count_ > 1 ? count_ * kWidthOfTwo : kWidth, kLeastHeight};
}
QSize ScaleStrip::minimumSizeHint() const { return {kLeastWidth, kLeastHeight}; }

/// "weight of model 2 from 0 to 0.08; values up to 0.31 have the colour of 0.08".
QString ScaleStrip::in_words(const Scale& scale) const {
  const auto number = [](double value) { return QString::number(value, 'g', 3); };
  const ValueRange& range = scale.range;
  QString text =
      scale.subject == SubjectId::none
          ? scale.name
          : tr("%1 of model %2").arg(scale.name).arg(session_.place_of(scale.subject) + 1);
  text = tr("%1 from %2 to %3").arg(text, number(range.minimum), number(range.maximum));
  const auto clipped = [&](const QString& words, double extreme, double end) {
    text += "; " + words.arg(number(extreme), number(end));
  };
  if (range.clips_above) {
    clipped(tr("values up to %1 have the colour of %2"), range.greatest, range.maximum);
  }
  if (range.clips_below) {
    clipped(tr("values down to %1 have the colour of %2"), range.least, range.minimum);
  }
  return text;
}

void ScaleStrip::refresh() {
  QStringList said;
  for (const Scale& one : scales()) said << in_words(one);
  setAccessibleName(tr("Colour scale: %1").arg(said.join("; ")));
  setToolTip(said.isEmpty()
                 ? QString()
                 : tr("The colours of the maps:\n%1\nL opens the lens, which changes them.")
                       .arg(said.join("\n")));
  const auto count = static_cast<int>(scales_in(1e6).size());
  if (count != count_) updateGeometry();
  count_ = count;
  update();
}

std::vector<ScaleStrip::Scale> ScaleStrip::scales() const {
  std::vector<Scale> shown;
  const Theme theme = colours_of(*this).theme;
  const bool per_model = !link_.shares_range() && session_.subjects().size() > 1;
  for (const OpenSubject& open : session_.subjects()) {
    const AtlasLink::Drawn drawn = link_.drawn(open.id);
    if (!drawn.maps) continue;
    const QString name = drawn.difference ? value_name(session_.view().comparison) : "weight";
    const SubjectId of = per_model && !drawn.difference ? open.id : SubjectId::none;
    const auto same = [&](const Scale& one) { return one.name == name && one.subject == of; };
    auto found = std::ranges::find_if(shown, same);
    if (found == shown.end()) {
      Scale scale;
      scale.scale = link_.scale(open.id, drawn.difference);
      scale.range = link_.range(open.id, drawn.difference);
      scale.name = name;
      scale.subject = of;
      found = shown.insert(shown.end(), std::move(scale));
    }
    found->without_values |= link_.cells_without_value(open.id) > 0;
    const std::optional<MapCell> cell = link_.linked_cell(open.id);
    if (!cell) continue;
    const MapExtent extent = drawn.maps->extent(cell->layer, cell->column);
    if (cell->query >= extent.queries || cell->key >= extent.keys) continue;
    found->marks.push_back({static_cast<double>(drawn.maps->value(*cell)),
                            subject_colour(session_.place_of(open.id), theme)});
  }
  // Differences stand after weights.
  std::stable_partition(shown.begin(), shown.end(),
                        [](const Scale& one) { return one.name == "weight"; });
  return shown;
}

/// The scales that a strip of this width shows.
std::vector<ScaleStrip::Scale> ScaleStrip::scales_in(double width) const {
  std::vector<Scale> shown = scales();
  const Selection& at = session_.selection();
  const SubjectId current = at.hover ? at.hover->subject : at.subject;
  const auto of_models = static_cast<std::size_t>(std::ranges::count_if(
      shown, [](const Scale& one) { return one.subject != SubjectId::none; }));
  const bool of_maps = session_.view().range_scope == RangeScope::map;
  const bool crowded = width < static_cast<double>(shown.size()) * kLeastOfEach;
  if (of_models > kMostModels || (of_models > 1 && (crowded || of_maps))) {
    std::erase_if(shown, [&](const Scale& one) {
      return one.subject != SubjectId::none && one.subject != current;
    });
  }
  if (!of_maps) return shown;
  for (Scale& one : shown) {
    if (one.name == "weight") take_own_range(one);
  }
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
  scale.subject = SubjectId::none;
  scale.name = fused ? tr("weight, L%1").arg(layer) : tr("weight, L%1 H%2").arg(layer).arg(head);
  std::erase_if(scale.marks, [&](const Mark& mark) {
    return mark.colour != subject_colour(session_.place_of(subject), colours_of(*this).theme);
  });
}

void ScaleStrip::paintEvent(QPaintEvent*) {
  const std::vector<Scale> shown = scales_in(width());
  if (shown.empty()) return;
  QPainter painter(this);
  const double width = this->width() / static_cast<double>(shown.size());
  const QFont face = sized(font(), kLetters);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const QRectF area(static_cast<double>(i) * width + 6, 1, width - 18, height() - 1.0);
    paint(painter, area, shown[i], face);
  }
}

void ScaleStrip::paint(QPainter& painter, const QRectF& area, const Scale& of,
                       const QFont& face) const {
  const WindowColours& ink = colours_of(*this);
  const QFontMetricsF metrics(face);
  painter.setFont(face);
  QString label = of.name;
  if (of.scale.norm == ScaleNorm::logarithmic) label += ", log";
  if (of.scale.norm == ScaleNorm::symmetric_logarithmic) label += ", symlog";
  double left = area.left(), right = area.right() - 8;
  if (of.subject != SubjectId::none) {
    const std::int64_t place = session_.place_of(of.subject);
    const QString number = QString::number(place + 1);
    const double width = metrics.horizontalAdvance(number);
    painter.setPen(subject_colour(place, ink.theme));
    painter.drawText(QRectF(left, area.top(), width + 2, area.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, number);
    left += width + 6;
  }
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
  // The extreme values stand at the ends that clip them.
  const auto end_text = [&](const char* word, double value) {
    return QString("%1 %2").arg(word).arg(value, 0, 'g', 2);
  };
  const QString greatest = end_text("max", of.range.greatest),
                least = end_text("min", of.range.least);
  const auto write = [&](const QString& text, double from) {
    const double width = metrics.horizontalAdvance(text) + 1;
    painter.drawText(QRectF(from, area.top(), width, area.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, text);
    return width;
  };
  painter.setPen(ink.muted);
  left += write(label, left) + 9;
  const bool has_room = right - left > kLeastWidth;
  if (of.range.clips_above && has_room) {
    right -= metrics.horizontalAdvance(greatest) + 9;
    write(greatest, right + 9);
  }
  if (of.range.clips_below && has_room) left += write(least, left) + 9;
  const QRectF bar(left, area.top() + 1, right - left, kBar);
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
    const double from = std::min(x - half, bar.right() + 8 - 2 * half);
    if (from < free_from) continue;
    free_from = from + 2 * half + 6;
    painter.setPen(QPen(ink.muted, 1));
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 1));
    // Numbers have no descenders, and are as high as capitals.
    painter.drawText(QPointF(from, bar.bottom() + 2 + metrics.capHeight()), text);
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
