#include "analysis/figure/tex/colour_bar.h"

#include <algorithm>

#include "analysis/figure/clipping.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/tex/words.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

std::string stop_text(double place, const Colour& colour) {
  return "rgb(" + tex_number(place) + "bp)=(" + tex_number(colour.red / 255.0) + "," +
         tex_number(colour.green / 255.0) + "," + tex_number(colour.blue / 255.0) + ")";
}

/// A TikZ shading is defined over 100 units, of which 25 to 75 are visible.
std::string shading_of(const std::vector<std::pair<double, Colour>>& stops) {
  std::string text = stop_text(0, stops.front().second);
  for (const auto& [fraction, colour] : stops) text += "; " + stop_text(25 + 50 * fraction, colour);
  return text + "; " + stop_text(100, stops.back().second);
}

std::string arrowhead(double left, double right, double base, double tip, const Colour& colour) {
  return "\\filldraw[attnscope frame, fill=" + tex_colour(colour) + "] " + tex_place(left, base) +
         " -- " + tex_place((left + right) / 2, tip) + " -- " + tex_place(right, base) +
         " -- cycle;\n";
}

}  // namespace

std::vector<std::pair<double, Colour>> colour_stops(const ColourScale& scale) {
  constexpr int stops = 32;
  const ScaleColours colours(scale);
  std::vector<std::pair<double, Colour>> list;
  for (int stop = 0; stop <= stops; ++stop) {
    const double fraction = stop / static_cast<double>(stops);
    list.emplace_back(fraction, colours(fraction));
  }
  return list;
}

std::string tex_bar(const Figure& figure, const TexBar& bar) {
  constexpr double arrow_mm = 1.8, tick_mm = 0.7;
  const ColourScale& scale = figure.colour_scales.at(bar.colour_scale);
  const TexBox& frame = bar.frame;
  const std::vector<std::pair<double, Colour>> stops = colour_stops(scale);
  const std::string name = "attnscope-" + std::to_string(bar.colour_scale);
  const double left = frame.x, right = left + frame.width;
  const double bottom = frame.y, top = bottom + frame.height;
  const std::string box = tex_place(left, bottom) + " rectangle " + tex_place(right, top) + ";\n";
  std::string out = "\\pgfdeclareverticalshading{" + name + "}{100bp}{" + shading_of(stops) +
                    "}\n" + "\\shade[shading=" + name + "] " + box + "\\draw[attnscope frame] " +
                    box;
  const Clipping clipping = clipping_of(figure, bar.colour_scale);
  if (clipping.above) out += arrowhead(left, right, top, top + arrow_mm, stops.back().second);
  if (clipping.below) {
    out += arrowhead(left, right, bottom, bottom - arrow_mm, stops.front().second);
  }
  double widest = 0;
  for (const Tick& tick : bar_ticks(scale)) {
    const double y = bottom + tick.value * frame.height;
    out += "\\draw[attnscope axis] " + tex_place(right, y) + " -- " +
           tex_place(right + tick_mm, y) + ";\n" +
           tex_node("attnscope small, anchor=west", right + tick_mm, y, tex_text(tick.label));
    widest = std::max(widest, text_ems(tick.label) * (figure.font_size_pt - 0.75) * 25.4 / 72);
  }
  if (bar.label.empty()) return out;
  return out + tex_node("attnscope text, anchor=north, rotate=90", right + 2 * tick_mm + widest,
                        (bottom + top) / 2, tex_text(bar.label));
}

}  // namespace attnscope
