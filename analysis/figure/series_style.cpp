#include "analysis/figure/series_style.h"

#include <array>

namespace attnscope {

Colour subject_colour(std::size_t index) {
  constexpr std::array<Colour, 7> colours = {{{0, 114, 178, 255},
                                              {213, 94, 0, 255},
                                              {0, 158, 115, 255},
                                              {204, 121, 167, 255},
                                              {230, 159, 0, 255},
                                              {86, 180, 233, 255},
                                              {60, 60, 60, 255}}};
  return colours[index % colours.size()];
}

MarkerShape subject_marker(std::size_t index) {
  constexpr std::array<MarkerShape, 4> shapes = {MarkerShape::circle, MarkerShape::square,
                                                 MarkerShape::triangle, MarkerShape::diamond};
  return shapes[index % shapes.size()];
}

Colour with_alpha(Colour colour, int alpha) {
  colour.alpha = static_cast<std::uint8_t>(alpha);
  return colour;
}

std::string seen_label(const std::string& label, bool identity) {
  return identity ? label + " + I" : label;
}

}  // namespace attnscope
