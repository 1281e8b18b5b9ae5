#include "analysis/figure/recipes/text_heat.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "core/input/text.h"

namespace attnscope {

std::vector<std::vector<TextSign>> text_lines(const TokenLayout& layout, std::int64_t tokens,
                                              std::size_t columns) {
  std::vector<std::vector<TextSign>> lines(1);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const auto index = static_cast<std::size_t>(token);
    const std::string raw = index < layout.texts.size() ? layout.texts[index] : "";
    const std::string shown = layout.name(token);
    const std::vector<std::size_t> starts = character_starts(shown);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      if (lines.back().size() == columns) {
        std::vector<TextSign>& full = lines.back();
        const auto space = std::find_if(full.rbegin(), full.rend(),
                                        [](const TextSign& s) { return s.text == "␣"; });
        std::vector<TextSign> next;
        if (space != full.rend()) {
          next.assign(space.base(), full.end());
          full.erase(space.base(), full.end());
        }
        lines.push_back(std::move(next));
      }
      lines.back().push_back({shown.substr(starts[i], starts[i + 1] - starts[i]), token});
    }
    if (!raw.empty() && raw.back() == '\n' && token + 1 < tokens) lines.emplace_back();
  }
  return lines;
}

Panel text_heat_panel(const TokenLayout& layout, const std::vector<double>& weights,
                      std::size_t columns, const ColourScale& scale) {
  const auto lines = text_lines(layout, std::ssize(weights), columns);
  Panel panel;
  panel.reversed_y = true;
  panel.x.visible = panel.y.visible = false;
  HeatMap map;
  map.rows = std::ssize(lines);
  map.columns = static_cast<std::int64_t>(columns);
  map.missing = Colour{255, 255, 255, 255};
  map.values.assign(lines.size() * columns, std::numeric_limits<float>::quiet_NaN());
  std::vector<TextMark> signs;
  const ScaleColours colours(scale);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (std::size_t column = 0; column < lines[line].size(); ++column) {
      const TextSign& sign = lines[line][column];
      const double weight = weights[static_cast<std::size_t>(sign.token)];
      map.values[line * columns + column] = static_cast<float>(weight);
      if (sign.text == "␣") continue;
      TextMark mark{.x = static_cast<double>(column),
                    .y = static_cast<double>(line),
                    .text = sign.text,
                    .colour = {}};
      const auto fraction = fraction_of(scale, weight);
      mark.colour = fraction ? legible_on(colours(*fraction)) : Colour{150, 150, 150, 255};
      signs.push_back(std::move(mark));
    }
  }
  panel.marks.emplace_back(std::move(map));
  for (TextMark& sign : signs) panel.marks.emplace_back(std::move(sign));
  return panel;
}

std::size_t signs_across(double width_mm, double size_pt) {
  const double sign_mm = size_pt * 25.4 / 72 * 0.72;
  return static_cast<std::size_t>(std::max(8.0, (width_mm - 13) / sign_mm));
}

double text_heat_height_mm(const Panel& panel, double size_pt) {
  const double line_mm = size_pt * 25.4 / 72 * 1.35;
  return 5.5 + line_mm * static_cast<double>(std::get<HeatMap>(panel.marks.front()).rows);
}

}  // namespace attnscope
