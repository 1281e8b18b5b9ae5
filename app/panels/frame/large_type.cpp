#include "app/panels/frame/large_type.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QWidget>
#include <algorithm>

namespace attnscope {

namespace {

constexpr double kLetters = 84;  // number of average letters per line
constexpr double kMostTimes = 1.9;

}  // namespace

QFont type_for_room(int width) {
  QFont font = QApplication::font();
  const double line = kLetters * QFontMetricsF(font).averageCharWidth();
  const double times = std::clamp(width / line, 1.0, kMostTimes);
  // The size changes in steps, so that resizing rarely lays out the text again.
  font.setPointSizeF(font.pointSizeF() * (1 + 0.1 * static_cast<int>((times - 1) * 10)));
  return font;
}

QFont set_type_for_room(QWidget& page, int width) {
  const QFont font = type_for_room(width);
  const bool usual = font.pointSizeF() == QApplication::font().pointSizeF();
  const QString sheet =
      usual ? QString() : QString("QWidget { font-size: %1pt; }").arg(font.pointSizeF());
  if (page.styleSheet() != sheet) page.setStyleSheet(sheet);
  return font;
}

int side_margin(int width, const QFont& font) {
  const double line = kLetters * QFontMetricsF(font).averageCharWidth();
  return std::max(0, static_cast<int>((width - line) / 2));
}

}  // namespace attnscope
