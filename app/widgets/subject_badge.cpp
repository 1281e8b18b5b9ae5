#include "app/widgets/subject_badge.h"

#include <QPainter>

#include "app/look/theme.h"

namespace attnscope {

SubjectBadge::SubjectBadge(std::int64_t subject, QWidget* parent)
    : QWidget(parent), subject_(subject) {
  setFixedSize(sizeHint());
  setAttribute(Qt::WA_TransparentForMouseEvents);
}

void SubjectBadge::set_subject(std::int64_t subject) {
  if (subject == subject_ && !accessibleName().isEmpty()) return;
  subject_ = subject;
  setAccessibleName(tr("Model %1").arg(subject + 1));
  update();
}

void SubjectBadge::paintEvent(QPaintEvent*) {
  const Theme theme = colours_of(*this).theme;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(subject_colour(subject_, theme));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
  painter.setPen(theme == Theme::dark ? QColor(0x0f1216) : QColor(Qt::white));
  QFont font = this->font();
  font.setPixelSize(11);
  font.setWeight(QFont::Bold);
  painter.setFont(font);
  painter.drawText(rect(), Qt::AlignCenter, QString::number(subject_ + 1));
}

}  // namespace attnscope
