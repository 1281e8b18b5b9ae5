#include "app/widgets/elided_label.h"

#include <QEvent>

namespace attnscope {

ElidedLabel::ElidedLabel(Qt::TextElideMode mode, QWidget* parent) : QLabel(parent), mode_(mode) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setTextFormat(Qt::PlainText);
}

void ElidedLabel::set_text(const QString& text) {
  if (text == full_text_) return;
  full_text_ = text;
  full_width_.reset();
  setAccessibleName(text);
  updateGeometry();
  elide();
}

void ElidedLabel::set_whole_or_nothing(bool on) {
  whole_or_nothing_ = on;
  elide();
}

void ElidedLabel::set_short_text(const QString& text) {
  short_text_ = text;
  elide();
}

void ElidedLabel::set_tip(const QString& tip) {
  if (tip == tip_) return;
  tip_ = tip;
  elide();
}

QSize ElidedLabel::minimumSizeHint() const {
  return QSize(fontMetrics().horizontalAdvance("…") * 3, QLabel::minimumSizeHint().height());
}

QSize ElidedLabel::sizeHint() const {
  if (!full_width_) full_width_ = fontMetrics().horizontalAdvance(full_text_);
  return QSize(*full_width_ + 2, QLabel::sizeHint().height());
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  elide();
}

void ElidedLabel::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() != QEvent::FontChange && event->type() != QEvent::StyleChange) return;
  full_width_.reset();
  elide();
}

void ElidedLabel::elide() {
  const int room = contentsRect().width();
  QString shown = fontMetrics().elidedText(full_text_, mode_, room);
  if (shown != full_text_ && !short_text_.isEmpty()) {
    shown = fontMetrics().elidedText(short_text_, mode_, room);
  }
  if (whole_or_nothing_ && shown != full_text_) shown.clear();
  setText(shown);
  setToolTip(!tip_.isEmpty() ? tip_ : shown == full_text_ ? QString() : full_text_);
}

}  // namespace attnscope
