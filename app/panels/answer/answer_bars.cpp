#include "app/panels/answer/answer_bars.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

namespace {

constexpr int kBarGap = 6;             // pixels
constexpr double kShareOfNames = 0.3;  // share of the width
constexpr int kLeastName = 58, kMostName = 170;
constexpr int kLeastBar = 36;
constexpr int kNarrow = 230;  // pixels; below, only a mark shows the change

}  // namespace

QString percent_text(double probability) {
  const double shown = 100 * probability;
  if (shown < 100 && shown >= 99.95) return "> 99.9 %";
  if (shown > 0 && shown < 0.05) return "< 0.1 %";
  return QString::number(shown, 'f', 1) + " %";
}

AnswerBars::AnswerBars(QWidget* parent) : QWidget(parent) {
  setObjectName("answer_bars");
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void AnswerBars::set_content(Content content) {
  content_ = std::move(content);
  QStringList spoken = {content_.verdict};
  for (const Row& row : content_.rows) {
    spoken << QString::fromStdString(row.answer.name) + " " + percent_text(row.answer.probability);
  }
  setAccessibleName(tr("Answer of %1").arg(content_.title));
  setAccessibleDescription(spoken.join(", "));
  updateGeometry();
  update();
}

int AnswerBars::line() const { return fontMetrics().height() + 3; }

QSize AnswerBars::sizeHint() const {
  const int rows = content_.rows.empty() ? 1 : static_cast<int>(content_.rows.size());
  return {260, (rows + 1) * line() + kBarGap};
}

QSize AnswerBars::minimumSizeHint() const { return {120, sizeHint().height()}; }

QRectF AnswerBars::row_rect(std::size_t row) const {
  return {0, static_cast<double>(line()) * static_cast<double>(row + 1),
          static_cast<double>(width()), static_cast<double>(line())};
}

void AnswerBars::paint_row(QPainter& painter, const Row& row, const QRectF& place) const {
  const WindowColours& colours = colours_of(*this);
  const QFontMetrics metrics = painter.fontMetrics();
  const QColor own = subject_colour(content_.place, colours.theme);
  const bool compared = row.before.has_value();
  const bool says_change = compared && place.width() >= kNarrow;
  const int number = metrics.horizontalAdvance("> 99.9 %");
  const int change = says_change ? metrics.horizontalAdvance("+00.0") + kBarGap : 0;
  int name = std::clamp(static_cast<int>(place.width() * kShareOfNames), kLeastName, kMostName);
  name = std::max(0, std::min(name, static_cast<int>(place.width()) - number - change - kLeastBar));
  const QString text = (row.is_true ? "✓ " : "") + QString::fromStdString(row.answer.name);
  painter.setPen(row.is_true ? colours.ready : colours.text);
  painter.drawText(QRectF(place.left(), place.top(), name, place.height()),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   metrics.elidedText(text, Qt::ElideRight, name));

  const QRectF bar(place.left() + name + kBarGap, place.top() + 3,
                   place.width() - name - number - change - 3 * kBarGap, place.height() - 6);
  painter.fillRect(bar, colours.sunken);
  const auto upto = [&](double share) {
    return QRectF(bar.left(), bar.top(), bar.width() * std::clamp(share, 0.0, 1.0), bar.height());
  };
  painter.fillRect(upto(row.answer.probability), own);
  if (compared) {
    // A line across the bar marks the value before, so that both ends of the change are visible.
    const double at = upto(*row.before).right();
    painter.setPen(QPen(colours.text, 2));
    painter.drawLine(QPointF(at, bar.top() - 1.5), QPointF(at, bar.bottom() + 1.5));
  }
  painter.setPen(colours.text);
  const double right = place.right() - change;
  painter.drawText(QRectF(right - number, place.top(), number, place.height()),
                   Qt::AlignVCenter | Qt::AlignRight, percent_text(row.answer.probability));
  if (!says_change) return;
  const double by = 100 * (row.answer.probability - *row.before);
  const QString moved = std::abs(by) < 0.05
                            ? QStringLiteral("=")
                            : (by > 0 ? "+" : "−") + QString::number(std::abs(by), 'f', 1);
  painter.setPen(colours.muted);
  painter.drawText(QRectF(right, place.top(), change, place.height()),
                   Qt::AlignVCenter | Qt::AlignRight, moved);
}

void AnswerBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const WindowColours& colours = colours_of(*this);
  const QRectF head(0, 0, width(), line());
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  const QRectF mark(0, head.center().y() - 4.5, 9, 9);
  painter.fillRect(mark, subject_colour(content_.place, colours.theme));
  const int verdict = painter.fontMetrics().horizontalAdvance(content_.verdict);
  const int room = std::max(0, width() - 15 - (verdict > 0 ? verdict + kBarGap : 0));
  painter.setPen(colours.text);
  painter.drawText(head.adjusted(15, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(content_.title, Qt::ElideMiddle, room));
  painter.setPen(content_.right ? colours.ready : colours.warning);
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignRight, content_.verdict);
  painter.setFont(font());
  if (content_.rows.empty()) {
    painter.setPen(colours.muted);
    painter.drawText(row_rect(0), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(content_.instead, Qt::ElideRight, width()));
  }
  for (std::size_t i = 0; i < content_.rows.size(); ++i) {
    paint_row(painter, content_.rows[i], row_rect(i));
  }
}

bool AnswerBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (std::size_t i = 0; i < content_.rows.size(); ++i) {
    if (!row_rect(i).contains(help->pos())) continue;
    const Row& row = content_.rows[i];
    QString text = tr("%1: p = %2, logit %3")
                       .arg(QString::fromStdString(row.answer.name))
                       .arg(row.answer.probability, 0, 'g', 4)
                       .arg(row.logit, 0, 'f', 3);
    if (row.before && row.logit_before) {
      text += tr("\nwith the maps as they are: p = %1, logit %2 (now %3%4)")
                  .arg(*row.before, 0, 'g', 4)
                  .arg(*row.logit_before, 0, 'f', 3)
                  .arg(row.logit < *row.logit_before ? "−" : "+")
                  .arg(std::abs(row.logit - *row.logit_before), 0, 'f', 3);
    }
    if (row.is_true) text += tr("\nthe input's own class");
    QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  QToolTip::showText(help->globalPos(), content_.title, this);
  return true;
}

void AnswerBars::mousePressEvent(QMouseEvent*) { emit clicked(); }

}  // namespace attnscope
