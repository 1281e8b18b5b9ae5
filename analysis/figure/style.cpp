#include "analysis/figure/style.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/series_style.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::array<std::string_view, 3> look_names = {"as-made", "distinct", "grey"};

// Lines with more points have no markers, which would merge into a thick line.
constexpr std::size_t most_marked_points = 30;

std::uint32_t rgb_of(const Colour& colour) {
  return static_cast<std::uint32_t>(colour.red << 16 | colour.green << 8 | colour.blue);
}

std::uint8_t luminance(const Colour& colour) {
  return static_cast<std::uint8_t>(0.2126 * colour.red + 0.7152 * colour.green +
                                   0.0722 * colour.blue);
}

/// Indices of labels in the order of their first lines, and of colours in the order of first use.
class Series {
 public:
  explicit Series(const Figure& figure) {
    for (const Panel& panel : figure.panels) {
      for (const Mark& mark : panel.marks) {
        if (const auto* line = std::get_if<Line>(&mark); line != nullptr && !line->label.empty()) {
          labels_.emplace(line->label, labels_.size());
          line_greys_.emplace(rgb_of(line->colour), line_greys_.size());
        } else if (const auto* bars = std::get_if<Bars>(&mark)) {
          bar_greys_.emplace(rgb_of(bars->colour), bar_greys_.size());
        }
      }
    }
  }

  [[nodiscard]] std::size_t index_of(const std::string& label) const { return labels_.at(label); }

  /// Dark greys for lines on white; alternating light and dark greys for adjacent bars.
  [[nodiscard]] Colour grey(const Colour& colour, bool bars) const {
    constexpr std::array<std::uint8_t, 4> lines_greys = {0, 120, 60, 150};
    constexpr std::array<std::uint8_t, 8> bars_greys = {60, 205, 120, 235, 25, 165, 90, 185};
    const auto& known = bars ? bar_greys_ : line_greys_;
    const auto found = known.find(rgb_of(colour));
    std::uint8_t level = luminance(colour);
    if (found != known.end()) {
      level = bars ? bars_greys[found->second % bars_greys.size()]
                   : lines_greys[found->second % lines_greys.size()];
    }
    return {level, level, level, colour.alpha};
  }

 private:
  std::map<std::string, std::size_t> labels_;
  std::map<std::uint32_t, std::size_t> line_greys_, bar_greys_;
};

void make_distinct(Figure& figure, const Series& series) {
  constexpr std::array<LineStyle, 4> dashes = {LineStyle::solid, LineStyle::dashed,
                                               LineStyle::dotted, LineStyle::dash_dotted};
  for (Panel& panel : figure.panels) {
    for (Mark& mark : panel.marks) {
      auto* line = std::get_if<Line>(&mark);
      if (line == nullptr || line->label.empty() || line->style == LineStyle::none) continue;
      const std::size_t index = series.index_of(line->label);
      line->style = dashes[index % dashes.size()];
      const std::size_t round = index / dashes.size();
      line->width_pt = 1.0 + 0.5 * static_cast<double>(round);
      if (line->x.size() <= most_marked_points) line->marker = subject_marker(index);
    }
  }
}

void make_grey(Figure& figure, const Series& series) {
  for (Panel& panel : figure.panels) {
    for (Mark& mark : panel.marks) {
      std::visit(
          [&](auto& one) {
            if constexpr (requires { one.colour; }) {
              constexpr bool bars = std::is_same_v<std::decay_t<decltype(one)>, Bars>;
              if constexpr (std::is_same_v<std::decay_t<decltype(one.colour)>, Colour>) {
                one.colour = series.grey(one.colour, bars);
              } else {
                if (!one.colour) return;
                // Text colours keep their luminance, so that text on dark cells stays light.
                const std::uint8_t level = luminance(*one.colour);
                one.colour = Colour{level, level, level, one.colour->alpha};
              }
            }
          },
          mark);
    }
  }
  for (ColourScale& scale : figure.colour_scales) scale.colour_map = "grey";
}

void set_letters(Figure& figure) {
  if (figure.areas.empty()) {
    if (figure.panels.size() < 2) return;
    std::vector<Panel*> order;
    for (Panel& panel : figure.panels) order.push_back(&panel);
    std::stable_sort(order.begin(), order.end(), [](const Panel* a, const Panel* b) {
      return std::pair(a->row, a->column) < std::pair(b->row, b->column);
    });
    for (std::size_t i = 0; i < order.size(); ++i) order[i]->letter = panel_letter(i);
    return;
  }
  std::vector<Panel*> first(figure.areas.size(), nullptr);
  for (Panel& panel : figure.panels) {
    Panel*& known = first.at(panel.area);
    if (known == nullptr ||
        std::pair(panel.row, panel.column) < std::pair(known->row, known->column)) {
      known = &panel;
    }
  }
  std::size_t next = 0;
  for (Panel* panel : first) {
    // The pointer is null if the area holds only a colour bar.
    if (panel != nullptr) panel->letter = panel_letter(next++);
  }
}

}  // namespace

std::span<const WidthPreset> width_presets() {
  static constexpr WidthPreset list[] = {{"column", "Springer, one column", 84, 0},
                                         {"page", "Springer, two columns", 174, 0},
                                         {"beamer", "Beamer slide, 4:3", 128, 96},
                                         {"beamer-wide", "Beamer slide, 16:9", 160, 90},
                                         {"neurips", "NeurIPS, ICLR", 139.7, 0},
                                         {"icml-column", "ICML, one column", 82.5, 0},
                                         {"icml-page", "ICML, two columns", 171.4, 0},
                                         {"cvpr-column", "CVPR, ICCV, one column", 83.3, 0},
                                         {"cvpr-page", "CVPR, ICCV, two columns", 174.6, 0},
                                         {"eccv", "ECCV, Springer LNCS", 122, 0},
                                         {"acl-column", "ACL, EMNLP, one column", 77, 0},
                                         {"acl-page", "ACL, EMNLP, two columns", 160, 0},
                                         {"aaai-column", "AAAI, one column", 83.8, 0},
                                         {"aaai-page", "AAAI, two columns", 177.8, 0},
                                         {"jmlr", "JMLR", 152.4, 0},
                                         {"tmlr", "TMLR", 165.1, 0},
                                         {"ieee-column", "IEEE, one column", 88.9, 0},
                                         {"ieee-page", "IEEE, two columns", 181.8, 0},
                                         {"acm-column", "ACM, one column", 84.6, 0},
                                         {"acm-page", "ACM, two columns", 177.8, 0},
                                         {"nature-column", "Nature, one column", 89, 0},
                                         {"nature-page", "Nature, two columns", 183, 0},
                                         {"science-column", "Science, one column", 57, 0},
                                         {"science-two", "Science, two columns", 121, 0},
                                         {"science-page", "Science, three columns", 184, 0},
                                         {"pnas-column", "PNAS, one column", 87, 0},
                                         {"pnas-page", "PNAS, two columns", 178, 0},
                                         {"aps-column", "APS, one column", 86, 0},
                                         {"aps-page", "APS, two columns", 178, 0},
                                         {"elsevier-column", "Elsevier, one column", 90, 0},
                                         {"elsevier-page", "Elsevier, two columns", 190, 0},
                                         {"plos", "PLOS, text column", 132, 0},
                                         {"plos-page", "PLOS, page", 190.5, 0}};
  return list;
}

std::string_view name_of(LineLook look) { return look_names[static_cast<std::size_t>(look)]; }

LineLook line_look(std::string_view name) {
  for (std::size_t i = 0; i < look_names.size(); ++i) {
    if (look_names[i] == name) return static_cast<LineLook>(i);
  }
  throw unknown_name("line style", name, name_list(look_names));
}

std::string panel_letter(std::size_t index) {
  std::string letters;
  for (std::size_t rest = index + 1; rest > 0; rest = (rest - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('a' + (rest - 1) % 26));
  }
  return letters;
}

Figure dressed(Figure figure, const FigureStyle& style) {
  if (!style.font_family.empty()) figure.font_family = style.font_family;
  if (style.height_mm != 0) {
    if (!(style.height_mm >= 20 && style.height_mm <= 1000)) {
      throw Error(ErrorKind::usage, "a figure cannot be this high")
          .expected("20 to 1000 mm")
          .found(rounded_text(style.height_mm));
    }
    for (FigureArea& area : figure.areas) {
      area.y_mm *= style.height_mm / figure.height_mm;
      area.height_mm *= style.height_mm / figure.height_mm;
    }
    figure.height_mm = style.height_mm;
  }
  if (!style.colour_map.empty()) {
    const bool diverging = find_colour_map(style.colour_map).diverging;
    for (ColourScale& scale : figure.colour_scales) {
      if (diverging || !find_colour_map(scale.colour_map).diverging) {
        scale.colour_map = style.colour_map;
      }
    }
  }
  if (style.lines != LineLook::as_made) {
    const Series series(figure);
    make_distinct(figure, series);
    if (style.lines == LineLook::grey) make_grey(figure, series);
  }
  if (style.letters) set_letters(figure);
  figure.shared_legend |= style.shared_legend;
  if (!style.caption.empty()) figure.caption = style.caption;
  return figure;
}

std::vector<std::string> style_arguments(const FigureStyle& style) {
  std::vector<std::string> words;
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  if (style.height_mm != 0) add("--height", rounded_text(style.height_mm, 6));
  add("--font-family", style.font_family);
  add("--colour-map", style.colour_map);
  if (style.lines != LineLook::as_made) add("--lines", std::string(name_of(style.lines)));
  if (style.letters) words.emplace_back("--letters");
  if (style.shared_legend) words.emplace_back("--shared-legend");
  add("--caption", style.caption);
  return words;
}

}  // namespace attnscope
