#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "analysis/figure/cells.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/table.h"
#include "analysis/figure/text_export.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::int64_t most_cells_as_plot = 4096;  // of a panel: TeX's memory ends near 10,000

/// Text as LaTeX prints it: its special characters escaped, common symbols in mathematics.
std::string tex(const std::string& text) {
  static const std::map<std::string, std::string, std::less<>> symbols = {
      {"−", "$-$"},      {"×", "$\\times$"}, {"σ", "$\\sigma$"}, {"Σ", "$\\Sigma$"},
      {"τ", "$\\tau$"},  {"≥", "$\\ge$"},    {"≤", "$\\le$"},    {"…", "\\dots{}"},
      {"·", "$\\cdot$"}, {"–", "--"},        {"—", "---"},       {"̄", ""}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto symbol = std::find_if(symbols.begin(), symbols.end(), [&](const auto& entry) {
      return text.compare(i, entry.first.size(), entry.first) == 0;
    });
    if (symbol != symbols.end()) {
      out += symbol->second;
      i += symbol->first.size();
      continue;
    }
    const char c = text[i++];
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '#':
      case '$':
      case '%':
      case '&':
      case '_':
      case '{':
      case '}':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// A text as the value of a pgfkeys option: braces hide its commas and equal signs.
std::string option(const std::string& text) { return "{" + tex(text) + "}"; }

std::string mm(double value) { return rounded_text(value, 6) + "mm"; }

std::string rgb(const Colour& colour) {
  return "{rgb,255:red," + std::to_string(colour.red) + ";green," + std::to_string(colour.green) +
         ";blue," + std::to_string(colour.blue) + "}";
}

std::string stroke(const Colour& colour, LineStyle style, double width_pt) {
  constexpr const char* patterns[] = {"", "solid", "dashed", "densely dotted", "dash dot"};
  std::string keys = "draw=" + rgb(colour) + ", line width=" + rounded_text(width_pt) + "pt, ";
  keys += style == LineStyle::none ? "only marks" : patterns[static_cast<int>(style)];
  if (colour.alpha < 255) keys += ", opacity=" + rounded_text(colour.alpha / 255.0, 3);
  return keys;
}

std::string marker(MarkerShape shape, const Colour& colour) {
  constexpr const char* shapes[] = {"none", "*", "square*", "triangle*", "diamond*", "x"};
  std::string keys = std::string(", mark=") + shapes[static_cast<int>(shape)];
  if (shape != MarkerShape::none) {
    keys += ", mark size=1.1pt, mark options={solid, fill=" + rgb(colour) +
            ", draw=" + rgb(colour) + "}";
  }
  return keys;
}

std::string table(const std::vector<double>& x, const std::vector<double>& y) {
  std::string out = " table {\nx y\n";
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    out += exact(x[i]) + " " + exact(y[i]) + "\n";
  }
  return out + "};\n";
}

/// The cells as an image inside the PDF that pdfTeX and LuaTeX write, `width` × `height`.
std::string embedded_image(const Cells& cells, double width_mm, double height_mm) {
  std::map<std::uint32_t, std::size_t> palette;
  for (const std::uint32_t colour : cells.colours) palette.emplace(colour, 0);
  const bool indexed = palette.size() <= 256;
  std::array<char, 8> hex{};
  const auto colour_hex = [&hex](std::uint32_t colour) {
    std::snprintf(hex.data(), hex.size(), "%06x", colour);
    return std::string(hex.data());
  };
  std::string space = "/DeviceRGB";
  if (indexed) {
    std::string colours;
    std::size_t next = 0;
    for (auto& [colour, index] : palette) {
      index = next++;
      colours += colour_hex(colour);
      if (next % 16 == 0) colours += "\n";
    }
    space = "[/Indexed /DeviceRGB " + std::to_string(palette.size() - 1) + " <" + colours + ">]";
  }
  std::string data;
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (std::int64_t column = 0; column < cells.columns; ++column) {
      const std::uint32_t colour = cells.at(row, column);
      if (indexed) {
        std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned>(palette[colour]));
        data += hex.data();
      } else {
        data += colour_hex(colour);
      }
      if (column % 48 == 47) data += "\n";
    }
    data += "\n";
  }
  return "\\attnscopeimage{" + std::to_string(cells.columns) + "}{" + std::to_string(cells.rows) +
         "}{" + space + "}{" + mm(width_mm) + "}{" + mm(height_mm) + "}{%\n" + data + ">}%\n";
}

/// Where panels stand and how large they are, estimated: PGFPlots measures its own texts.
struct Geometry {
  std::int64_t rows = 1, columns = 1;
  double panel_width_mm = 0, panel_height_mm = 0;
  double horizontal_gap_mm = 4, vertical_gap_mm = 4;
  bool square = false;
};

Geometry geometry_of(const Figure& figure) {
  Geometry geometry;
  bool inner_labels = false, inner_titles = false;
  double aspect = 1;
  for (const Panel& panel : figure.panels) {
    geometry.rows = std::max(geometry.rows, panel.row + 1);
    geometry.columns = std::max(geometry.columns, panel.column + 1);
    inner_labels |= panel.column > 0 && panel.y.visible;
    inner_titles |=
        !panel.x.label.empty() || panel.x.visible || (panel.row > 0 && !panel.title.empty());
    geometry.square |= panel.square_cells;
    for (const CellDrawing& drawing : cell_drawings(panel, figure.colour_scales)) {
      aspect = static_cast<double>(drawing.cells.columns) /
               static_cast<double>(std::max<std::int64_t>(1, drawing.cells.rows));
    }
  }
  geometry.horizontal_gap_mm = inner_labels ? 12 : 2;
  geometry.vertical_gap_mm = !inner_titles ? 2 : geometry.square ? 7 : 12;
  const double left = 11, bottom = 9;
  const double bar = figure.colour_scales.empty() ? 2 : 13;
  const auto columns = static_cast<double>(geometry.columns);
  const auto rows = static_cast<double>(geometry.rows);
  geometry.panel_width_mm =
      (figure.width_mm - left - bar - (columns - 1) * geometry.horizontal_gap_mm) / columns;
  geometry.panel_width_mm = std::max(geometry.panel_width_mm, 4.0);
  geometry.panel_height_mm =
      geometry.square
          ? geometry.panel_width_mm / aspect
          : std::max(4.0, (figure.height_mm - bottom - 4 - (rows - 1) * geometry.vertical_gap_mm) /
                              rows);
  return geometry;
}

/// Writes the marks of one panel.
class PanelSource {
 public:
  /// `said`: labels that a shared legend has already; null if every panel has its own.
  PanelSource(const Figure& figure, const Geometry& geometry, std::set<std::string>* said,
              std::string& out)
      : figure_(figure), geometry_(geometry), said_(said), out_(out) {}

  void write(const Panel& panel) {
    out_ += "\\nextgroupplot[" + axis_options(panel) + "]\n";
    widest_ = panel.x.maximum.value_or(std::numeric_limits<double>::infinity());
    const std::vector<CellDrawing> drawings = cell_drawings(panel, figure_.colour_scales);
    auto drawing = drawings.begin();
    for (std::size_t index = 0; index < panel.marks.size(); ++index) {
      if (drawing != drawings.end() && drawing->first_mark == index) {
        add_cells(*drawing, panel.marks[index]);
        index += drawing->marks_used - 1;
        ++drawing;
      } else {
        std::visit([this](const auto& mark) { add(mark); }, panel.marks[index]);
      }
    }
  }

 private:
  [[nodiscard]] const ColourScale* scale_of(const Panel& panel) const {
    for (const Mark& mark : panel.marks) {
      if (const auto* map = std::get_if<HeatMap>(&mark)) {
        return &figure_.colour_scales.at(map->colour_scale);
      }
    }
    return nullptr;
  }

  /// Whether no later panel of the figure shows the scale: that one carries the bar.
  [[nodiscard]] bool carries_bar(const Panel& panel, const ColourScale* scale) const {
    const Panel* chosen = nullptr;
    for (const Panel& other : figure_.panels) {
      if (scale_of(other) != scale) continue;
      if (chosen == nullptr || other.row < chosen->row ||
          (other.row == chosen->row && other.column > chosen->column)) {
        chosen = &other;
      }
    }
    return chosen == &panel;
  }

  static void axis_keys(std::string& keys, const Axis& axis, const std::string& name) {
    if (!axis.label.empty()) keys += name + "label=" + option(axis.label) + ", ";
    if (axis.minimum) keys += name + "min=" + exact(*axis.minimum) + ", ";
    if (axis.maximum) keys += name + "max=" + exact(*axis.maximum) + ", ";
    if (axis.logarithmic) keys += name + "mode=log, ";
    if (!axis.visible) {
      keys += name + "tick=\\empty, ";
    } else if (!axis.ticks.empty()) {
      std::string places, labels;
      for (const Tick& tick : axis.ticks) {
        places += (places.empty() ? "" : ",") + exact(tick.value);
        labels += (labels.empty() ? "" : ",") + option(tick.label);
      }
      keys += name + "tick={" + places + "}, " + name + "ticklabels={" + labels + "}, ";
    }
  }

  [[nodiscard]] std::string axis_options(const Panel& panel) const {
    std::string keys;
    if (!panel.title.empty()) keys += "title={\\strut " + tex(panel.title) + "}, ";
    if (!panel.letter.empty()) {
      keys +=
          "extra description/.code={\\node[anchor=south east, font=\\sffamily\\bfseries] at "
          "(axis description cs:0,1) " +
          option(panel.letter) + ";}, ";
    }
    axis_keys(keys, panel.x, "x");
    axis_keys(keys, panel.y, "y");
    if (panel.reversed_y) keys += "y dir=reverse, ";
    if (panel.square_cells) {
      keys += "axis on top, enlargelimits=false, axis lines=box, tick style={draw=none}, ";
      double columns = 1, rows = 1;
      for (const Mark& mark : panel.marks) {
        if (const auto* picture = std::get_if<Picture>(&mark)) {
          columns = static_cast<double>(picture->image.width);
          rows = static_cast<double>(picture->image.height);
        } else if (const auto* map = std::get_if<HeatMap>(&mark)) {
          columns = static_cast<double>(map->columns);
          rows = static_cast<double>(map->rows);
        }
      }
      keys += "xmin=-0.5, xmax=" + exact(columns - 0.5) + ", ymin=-0.5, ymax=" + exact(rows - 0.5) +
              ", ";
    }
    switch (panel.legend) {
      case LegendPosition::none:
        break;
      case LegendPosition::top_left:
        keys += "legend pos=north west, ";
        break;
      case LegendPosition::top_right:
        keys += "legend pos=north east, ";
        break;
      case LegendPosition::bottom_left:
        keys += "legend pos=south west, ";
        break;
      case LegendPosition::bottom_right:
        keys += "legend pos=south east, ";
        break;
      case LegendPosition::below:
        keys += "legend style={at={(0.5,-0.2)}, anchor=north}, legend columns=2, ";
        break;
    }
    if (const ColourScale* scale = scale_of(panel)) keys += scale_keys(*scale, panel);
    return keys;
  }

  /// Values are drawn by their place in the scale's range, 0 to 1, whatever its norm.
  [[nodiscard]] std::string scale_keys(const ColourScale& scale, const Panel& panel) const {
    const ColourMap& map = find_colour_map(scale.colour_map);
    std::string keys = "point meta min=0, point meta max=1, colormap={attnscope}{";
    for (int step = 0; step <= 16; ++step) {
      const Colour c = colour_at(map, step / 16.0, scale.reversed);
      keys += "rgb255=(" + std::to_string(c.red) + "," + std::to_string(c.green) + "," +
              std::to_string(c.blue) + ") ";
    }
    keys += "}, ";
    if (!carries_bar(panel, &scale)) return keys;
    std::string places, labels;
    for (const double fraction : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      places += (places.empty() ? "" : ",") + exact(fraction);
      labels += (labels.empty() ? "" : ",") + option(rounded_text(value_at(scale, fraction), 3));
    }
    std::int64_t first = panel.row, last = panel.row;
    for (const Panel& other : figure_.panels) {
      if (scale_of(other) != &scale) continue;
      first = std::min(first, other.row);
      last = std::max(last, other.row);
    }
    const auto rows = static_cast<double>(last - first + 1);
    const double height_mm =
        rows * geometry_.panel_height_mm + (rows - 1) * geometry_.vertical_gap_mm;
    return keys + "colorbar, colorbar style={width=2mm, height=" + mm(height_mm) +
           ", ylabel=" + option(scale.label) + ", ytick={" + places + "}, yticklabels={" + labels +
           "}}, ";
  }

  /// What follows a plot of this label: its entry in the legend, unless that has it.
  struct LegendWords {
    std::string key, entry;
  };
  [[nodiscard]] LegendWords legend_words(const std::string& label) const {
    if (label.empty() || (said_ != nullptr && !said_->insert(label).second)) {
      return {", forget plot", ""};
    }
    return {"", "\\addlegendentry" + option(label) + "\n"};
  }

  void add(const Line& line) {
    const LegendWords legend = legend_words(line.label);
    out_ += "\\addplot[" + stroke(line.colour, line.style, line.width_pt) +
            marker(line.marker, line.colour) + legend.key + "]" + table(line.x, line.y) +
            legend.entry;
  }

  void add(const Band& band) {
    std::vector<double> x = band.x;
    std::vector<double> y = band.high;
    x.insert(x.end(), band.x.rbegin(), band.x.rend());
    y.insert(y.end(), band.low.rbegin(), band.low.rend());
    const LegendWords legend = legend_words(band.label);
    out_ += "\\addplot[draw=none, fill=" + rgb(band.colour) +
            ", fill opacity=" + rounded_text(band.colour.alpha / 255.0, 3) + ", area legend" +
            legend.key + "]" + table(x, y) + legend.entry;
  }

  void add(const PointMark& point) {
    const std::string at = exact(point.x);
    if (point.drop_lines) {
      out_ += "\\draw[" + stroke(point.colour, LineStyle::dashed, 0.6) + "] (axis cs:" + at + "," +
              exact(point.y) + ") -- ({axis cs:" + at + ",0} |- {rel axis cs:0,0});\n";
    }
    out_ += "\\addplot[forget plot, only marks" + marker(MarkerShape::circle, point.colour) + "]" +
            table({point.x}, {point.y});
    if (!point.text.empty()) {
      // Neighbouring texts stand on different levels.
      const bool at_right = point.x > 0.75 * widest_;
      out_ += std::string("\\node[anchor=south ") + (at_right ? "east" : "west") +
              ", inner sep=1pt, font=\\scriptsize\\sffamily, text=" + rgb(point.colour) +
              "] at ({axis cs:" + at + ",0} |- {rel axis cs:0," +
              rounded_text(0.01 + 0.07 * static_cast<double>(texts_++ % 5)) + "}) " +
              option(point.text) + ";\n";
    }
  }

  void add(const Rule& rule) {
    const std::string at = exact(rule.at);
    const std::string ends =
        rule.vertical ? "({axis cs:" + at + ",0} |- {rel axis cs:0,0}) -- ({axis cs:" + at +
                            ",0} |- {rel axis cs:0,1})"
                      : "({rel axis cs:0,0} |- {axis cs:0," + at +
                            "}) -- ({rel axis cs:1,0} |- {axis cs:0," + at + "})";
    out_ += "\\draw[" + stroke(rule.colour, rule.style, 0.6) + "] " + ends +
            (rule.text.empty() ? ""
                               : " node[pos=0.62, anchor=north, font=\\scriptsize\\sffamily] " +
                                     option(rule.text)) +
            ";\n";
  }

  void add(const Bars& bars) {
    // Forgotten plots would not be stacked.
    const LegendWords legend = legend_words(bars.label);
    out_ += "\\addplot[ybar stacked, bar width=" + exact(bars.width) +
            ", draw=none, fill=" + rgb(bars.colour) + "]" + table(bars.x, bars.heights) +
            legend.entry;
  }

  void add(const TextMark& text) {
    out_ += "\\node[font=\\scriptsize\\sffamily" +
            (text.colour ? ", text=" + rgb(*text.colour) : std::string()) +
            "] at (axis cs:" + exact(text.x) + "," + exact(text.y) + ") " + option(text.text) +
            ";\n";
  }

  // Both are cell drawings.
  void add(const HeatMap&) {}
  void add(const Picture&) {}

  void add_cells(const CellDrawing& drawing, const Mark& mark) {
    const auto* map = std::get_if<HeatMap>(&mark);
    if (map != nullptr && map->rows * map->columns <= most_cells_as_plot) {
      const ColourScale& scale = figure_.colour_scales.at(map->colour_scale);
      out_ +=
          "\\addplot[matrix plot*, point meta=explicit, mesh/cols=" + std::to_string(map->columns) +
          "] table[meta=place] {\nx y place value\n";
      std::size_t index = 0;
      for (std::int64_t row = 0; row < map->rows; ++row) {
        for (std::int64_t column = 0; column < map->columns; ++column) {
          const auto value = map->values[index++];
          const auto fraction = fraction_of(scale, static_cast<double>(value));
          out_ += std::to_string(column) + " " + std::to_string(row) + " " +
                  (fraction ? rounded_text(*fraction, 6) : "nan") + " " + exact(value) + "\n";
        }
      }
      out_ += "};\n";
      return;
    }
    out_ += "\\node[anchor=north west, inner sep=0pt] at (axis description cs:0,1) {" +
            embedded_image(drawing.cells, geometry_.panel_width_mm, geometry_.panel_height_mm) +
            "};\n";
  }

  const Figure& figure_;
  const Geometry& geometry_;
  std::set<std::string>* said_;
  std::string& out_;
  int texts_ = 0;
  double widest_ = 0;  ///< the panel's x maximum, where it is known
};

std::string comment_lines(const std::string& key, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? std::string() : "% " + key + ": " + text + "\n";
}

bool needs_image(const Figure& figure) {
  for (const Panel& panel : figure.panels) {
    for (const Mark& mark : panel.marks) {
      const auto* map = std::get_if<HeatMap>(&mark);
      if (std::holds_alternative<Picture>(mark) ||
          (map != nullptr && map->rows * map->columns > most_cells_as_plot)) {
        return true;
      }
    }
  }
  return false;
}

/// An image object whose data stands in the source, in hexadecimal; the last argument ends in >.
constexpr const char* image_macro =
    "\\ifdefined\\pdfobj\\else\\usepackage{luatex85}\\fi\n"
    "\\newcommand\\attnscopeimage[6]{%\n"
    "  \\begingroup\\pdfcompresslevel=0\\relax  % a second filter would hide the first\n"
    "  \\immediate\\pdfobj stream attr{/Type /XObject /Subtype /Image /Width #1 /Height #2\n"
    "    /ColorSpace #3 /BitsPerComponent 8 /Filter /ASCIIHexDecode}{#6}\\endgroup\n"
    "  \\edef\\attnscopeobject{\\the\\pdflastobj}%\n"
    "  \\setbox0=\\hbox to #4{\\vbox to #5{\\vfil\\hbox{\\pdfliteral{q\n"
    "    \\attnscopebp{#4} 0 0 \\attnscopebp{#5} 0 0 cm /Im0 Do Q}}}\\hfil}%\n"
    "  \\wd0=#4\\ht0=#5\\dp0=0pt\n"
    "  \\immediate\\pdfxform resources{/XObject <</Im0 \\attnscopeobject\\space 0 R>>}0%\n"
    "  \\pdfrefxform\\pdflastxform}\n"
    "\\makeatletter\n"
    "\\newcommand\\attnscopebp[1]{\\strip@pt\\dimexpr 0.99626401\\dimexpr#1\\relax\\relax}\n"
    "\\makeatother\n";

/// One figure without areas: a grid of axes.
void add_group_plot(const Figure& figure, std::set<std::string>* said, std::string& out) {
  const Geometry geometry = geometry_of(figure);
  out += "\\begin{groupplot}[group style={group size=" + std::to_string(geometry.columns) + " by " +
         std::to_string(geometry.rows) + ", horizontal sep=" + mm(geometry.horizontal_gap_mm) +
         ", vertical sep=" + mm(geometry.vertical_gap_mm) +
         "}, scale only axis, width=" + mm(geometry.panel_width_mm) +
         ", height=" + mm(geometry.panel_height_mm) +
         (geometry.square ? ", " : ", axis lines=left, axis line style={-}, ") +
         "tick align=outside, tick pos=left, enlarge y limits={upper, value=0.04}, "
         "tick label style={/pgf/number format/assume math mode=true}, legend style={draw=none, "
         "fill=none, "
         "font=\\scriptsize\\sffamily, cells={anchor=west}}, "
         "title style={yshift=-1ex, align=center}, "
         "label style={align=center}, unbounded coords=jump]\n";
  PanelSource source(figure, geometry, said, out);
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t column = 0; column < geometry.columns; ++column) {
      const auto panel =
          std::find_if(figure.panels.begin(), figure.panels.end(),
                       [&](const Panel& p) { return p.row == row && p.column == column; });
      if (panel == figure.panels.end()) {
        out += "\\nextgroupplot[group/empty plot]\n";
      } else {
        source.write(*panel);
      }
    }
  }
  out += "\\end{groupplot}\n";
}

/// One area of a page as a figure of its own.
Figure figure_of_area(const Figure& page, std::size_t index) {
  Figure figure;
  figure.width_mm = page.areas[index].width_mm;
  figure.height_mm = page.areas[index].height_mm;
  std::map<std::size_t, std::size_t> scales;
  for (Panel panel : page.panels) {
    if (panel.area != index) continue;
    for (Mark& mark : panel.marks) {
      auto* map = std::get_if<HeatMap>(&mark);
      if (map == nullptr) continue;
      const auto [place, added] = scales.emplace(map->colour_scale, figure.colour_scales.size());
      if (added) figure.colour_scales.push_back(page.colour_scales.at(map->colour_scale));
      map->colour_scale = place->second;
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace

std::string figure_as_tex(const Figure& figure) {
  std::string out = comment_lines("figure", figure.title) +
                    comment_lines("caption", figure.caption) +
                    comment_lines("command", figure.command);
  if (figure.table) return out + table_as_booktabs(*figure.table);
  out +=
      "\\documentclass[border=1pt]{standalone}\n\\usepackage[T1]{fontenc}\n"
      "\\usepackage[utf8]{inputenc}\n\\usepackage{pgfplots}\n\\usepgfplotslibrary{groupplots}\n"
      "\\pgfplotsset{compat=1.16}\n";
  if (needs_image(figure)) out += image_macro;
  const std::string size = rounded_text(figure.font_size_pt);
  const std::string leading = rounded_text(figure.font_size_pt * 1.2);
  out += "\\begin{document}\n\\begin{tikzpicture}[font=\\sffamily\\fontsize{" + size + "}{" +
         leading + "}\\selectfont]\n";
  std::set<std::string> said;
  std::set<std::string>* const shared = figure.shared_legend ? &said : nullptr;
  if (figure.areas.empty()) add_group_plot(figure, shared, out);
  for (std::size_t index = 0; index < figure.areas.size(); ++index) {
    const FigureArea& area = figure.areas[index];
    const Figure part = figure_of_area(figure, index);
    if (part.panels.empty()) continue;  // a bar that stands alone: here the maps carry theirs
    // Where the first axis has its lower left corner.
    const double left_mm = area.x_mm + 11;
    const double down_mm = area.y_mm + 4 + geometry_of(part).panel_height_mm;
    out += "\\begin{scope}[xshift=" + mm(left_mm) + ", yshift=" + mm(-down_mm) + "]\n";
    add_group_plot(part, shared, out);
    out += "\\end{scope}\n";
  }
  return out + "\\end{tikzpicture}\n\\end{document}\n";
}

}  // namespace attnscope
