#include "app/widgets/scale_bar.h"

#include <QPainter>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"

namespace attnscope {

ScaleBar::ScaleBar(QWidget* parent) : QWidget(parent) { setFixedHeight(26); }

void ScaleBar::set_scale(const ColourScale& scale) {
  scale_ = scale;
  setAccessibleName(tr("%1, from %2 to %3")
                        .arg(QString::fromStdString(scale.label))
                        .arg(scale.minimum)
                        .arg(scale.maximum));
  update();
}

void ScaleBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const ScaleColours colours(scale_);
  constexpr int kBar = 8;
  for (int x = 0; x < width(); ++x) {
    const Colour colour = colours((x + 0.5) / width());
    painter.fillRect(x, 0, 1, kBar, QColor(colour.red, colour.green, colour.blue));
  }
  painter.setPen(colours_of(*this).muted);
  QFont small = number_font(font());
  small.setPointSizeF(font().pointSizeF() - 1.5);
  painter.setFont(small);
  const QRect words(0, kBar + 2, width(), height() - kBar - 2);
  painter.drawText(words, Qt::AlignLeft | Qt::AlignTop, QString::number(scale_.minimum, 'g', 3));
  painter.drawText(words, Qt::AlignRight | Qt::AlignTop, QString::number(scale_.maximum, 'g', 3));
  QFont plain = font();
  plain.setPointSizeF(font().pointSizeF() - 1);
  painter.setFont(plain);
  painter.drawText(words, Qt::AlignHCenter | Qt::AlignTop, QString::fromStdString(scale_.label));
}

}  // namespace attnscope
