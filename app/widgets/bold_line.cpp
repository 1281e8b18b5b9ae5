#include "app/widgets/bold_line.h"

#include <QEvent>
#include <QPainter>
#include <cmath>
#include <utility>

namespace attnscope {

namespace {

constexpr std::size_t kMostWidths = 64;

/// Calls `take` for each part of `text` with its font.
template <typename Take>
void for_parts(const QString& text, const QFont& plain, Take take) {
  QFont bold = plain;
  bold.setBold(true);
  bool is_bold = false;
  for (const QString& part : text.split("<b>")) {
    const qsizetype end = is_bold ? part.indexOf("</b>") : 0;
    take(part.first(end), bold);
    take(part.sliced(is_bold ? end + 4 : 0), plain);
    is_bold = true;
  }
}

}  // namespace

QString with_zeros(QString text) {
  for (QChar& letter : text) {
    if (letter.isDigit()) letter = u'0';
  }
  return text;
}

BoldLine::BoldLine(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::RichText);  // for screen readers
}

int BoldLine::width_of(const QString& text) const {
  const QString shape = with_zeros(text);
  if (const auto known = widths_.find(shape); known != widths_.end()) return known->second;
  double width = 0;
  for_parts(shape, font(), [&width](const QString& part, const QFont& face) {
    width += QFontMetricsF(face).horizontalAdvance(part);
  });
  if (widths_.size() >= kMostWidths) widths_.clear();
  return widths_[shape] = static_cast<int>(std::ceil(width)) + 1 + 2 * margin();
}

QSize BoldLine::sizeHint() const {
  return {width_of(text()), fontMetrics().height() + 2 * margin()};
}

void BoldLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  const QRect room = contentsRect();
  double left = room.left() + margin();
  if ((alignment() & Qt::AlignRight) != 0) left += room.width() - width_of(text());
  for_parts(text(), font(), [&](const QString& part, const QFont& face) {
    const double width = QFontMetricsF(face).horizontalAdvance(part);
    painter.setFont(face);
    painter.drawText(QRectF(left, room.top(), width + 1, room.height()), Qt::AlignVCenter, part);
    left += width;
  });
}

void BoldLine::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) widths_.clear();
  QLabel::changeEvent(event);
}

}  // namespace attnscope
