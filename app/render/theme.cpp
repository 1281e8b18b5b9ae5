#include "app/render/theme.h"

#include <algorithm>

namespace attnscope {

ThemeColours colours_of(FigureTheme theme) {
  if (theme == FigureTheme::dark) {
    return {QColor(30, 31, 34), QColor(223, 225, 229), QColor(160, 164, 171), QColor(92, 96, 102)};
  }
  return {Qt::white, QColor(26, 26, 26), QColor(64, 64, 64), QColor(150, 150, 150)};
}

QColor ink(const Colour& colour, FigureTheme theme) {
  const QColor paper(colour.red, colour.green, colour.blue, colour.alpha);
  if (theme == FigureTheme::light) return paper;
  constexpr float least_lightness = 0.62F;
  float hue = 0;
  float saturation = 0;
  float lightness = 0;
  float alpha = 0;
  paper.getHslF(&hue, &saturation, &lightness, &alpha);
  if (saturation < 0.05F) {
    return QColor::fromHslF(std::max(hue, 0.0F), saturation,
                            std::max(1 - lightness, least_lightness - 0.1F), alpha);
  }
  return QColor::fromHslF(hue, saturation, std::max(lightness, least_lightness), alpha);
}

}  // namespace attnscope
