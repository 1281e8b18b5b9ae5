// Exports a figure as a LaTeX document: the page, its styles, and its panels.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "analysis/figure/cells.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/polyline.h"
#include "analysis/figure/table.h"
#include "analysis/figure/tex/layout.h"
#include "analysis/figure/tex/text_places.h"
#include "analysis/figure/tex/words.h"
#include "analysis/figure/text_export.h"
#include "analysis/figure/text_layout.h"
#include "core/file/png_writer.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

// ---- a panel: its cells, its axis with the plotted marks, its texts ----

std::string table(const std::vector<double>& x, const std::vector<double>& y) {
  std::string out = " table {\nx y\n";
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    out += exact(x[i]) + " " + exact(y[i]) + "\n";
  }
  return out + "};\n";
}

/// Writes marks one after another; one overload per kind of mark.
class Marks {
 public:
  Marks(const TexPanel& placed, double font_size_pt)
      : placed_(placed),
        panel_(*placed.panel),
        small_mm_((font_size_pt - 0.75) * 25.4 / 72),
        window_{placed.range.x.lower, placed.range.x.upper, placed.range.y.lower,
                placed.range.y.upper, panel_.x.logarithmic, panel_.y.logarithmic} {}

  std::string write() {
    for (const Mark& mark : panel_.marks) {
      std::visit([this](const auto& one) { add(one); }, mark);
    }
    add_points();
    return std::move(out_);
  }

 private:
  void add(const Line& line) {
    const bool drawn = line.style != LineStyle::none;
    const Polyline shown =
        drawn ? cut(line.x, line.y, window_) : points_inside(line.x, line.y, window_);
    if (shown.x.empty()) return;
    // Markers are drawn only if all points are data, not ends of clipped segments.
    const bool is_whole = shown.x.size() == line.x.size();
    plot(tex_stroke(line.colour, line.style, line.width_pt) +
             (is_whole || !drawn ? tex_marker(line.marker, line.colour) : ", no markers"),
         shown);
    if (is_whole || !drawn || line.marker == MarkerShape::none) return;
    const Polyline points = points_inside(line.x, line.y, window_);
    if (!points.x.empty()) plot("only marks" + tex_marker(line.marker, line.colour), points);
  }

  void add(const Band& band) {
    const Polyline low = cut(band.x, band.low, window_), high = cut(band.x, band.high, window_);
    std::vector<double> x = high.x, y = high.y;
    x.insert(x.end(), low.x.rbegin(), low.x.rend());
    y.insert(y.end(), low.y.rbegin(), low.y.rend());
    std::vector<double> outline_x, outline_y;
    for (std::size_t i = 0; i < x.size(); ++i) {  // areas have no gaps
      if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
      outline_x.push_back(x[i]);
      outline_y.push_back(y[i]);
    }
    if (outline_x.empty()) return;
    out_ += "\\addplot[draw=none, no markers, fill=" + tex_colour(band.colour) +
            ", fill opacity=" + tex_number(band.colour.alpha / 255.0, 3) + "]" +
            table(outline_x, outline_y);
  }

  void add(const PointMark& point) { points_.push_back(&point); }

  void add(const Rule& rule) {
    const double share = rule.vertical ? across(rule.at) : up(rule.at);
    if (!(share >= 0 && share <= 1)) return;
    const std::string at = tex_number(share);
    const std::string from = rule.vertical ? at + ",0" : "0," + at;
    const std::string to = rule.vertical ? at + ",1" : "1," + at;
    out_ += "\\draw[" + tex_stroke(rule.colour, rule.style, 0.6) +
            "] (axis description cs:" + from + ") -- (axis description cs:" + to + ");\n";
    if (rule.text.empty()) return;
    if (rule.vertical) {
      write(rule.text, rule.colour, share, 1, "north west");
    } else {
      rules_.push_back({&rule, share});
    }
  }

  void add(const Bars& bars) {
    for (std::size_t i = 0; i < std::min(bars.x.size(), bars.heights.size()); ++i) {
      double& sum = stacks_[bars.x[i]];
      const double bottom = up(sum), top = up(sum + bars.heights[i]);
      sum += bars.heights[i];
      // On a logarithmic axis, which has no zero, bars start at the lower end.
      const double low = std::isfinite(bottom) ? std::clamp(bottom, 0.0, 1.0) : 0;
      const double high = std::isfinite(top) ? std::clamp(top, 0.0, 1.0) : 0;
      const double left = std::clamp(across(bars.x[i] - bars.width / 2), 0.0, 1.0);
      const double right = std::clamp(across(bars.x[i] + bars.width / 2), 0.0, 1.0);
      if (low == high || left == right) continue;
      out_ += "\\fill[fill=" + tex_colour(bars.colour) +
              "] (axis description cs:" + tex_number(left, 5) + "," + tex_number(low, 5) +
              ") rectangle (axis description cs:" + tex_number(right, 5) + "," +
              tex_number(high, 5) + ");  % " + exact(bars.x[i]) + " " + exact(bars.heights[i]) +
              "\n";
    }
  }

  void add(const TextMark& mark) {
    out_ += "\\node[attnscope small" +
            std::string(mark.align == TextAlign::start ? ", anchor=west" : "") +
            (lines_of(mark.text) == 1 ? ", attnscope line" : "") +
            (mark.colour ? ", text=" + tex_colour(*mark.colour) : std::string()) +
            "] at (axis description cs:" + tex_number(across(mark.x), 5) + "," +
            tex_number(up(mark.y), 5) + ") {" + tex_text(mark.text) + "};\n";
  }

  // Cells are drawn below the axis, by tex_panel.
  void add(const HeatMap&) {}
  void add(const Picture&) {}

  /// Adds drop lines, markers and texts of points, from left to right.
  void add_points() {
    std::stable_sort(points_.begin(), points_.end(),
                     [](const PointMark* a, const PointMark* b) { return a->x < b->x; });
    for (const PointMark* point : points_) {
      const std::string x = tex_number(across(point->x), 5);
      const std::string at = "(axis description cs:" + x + "," + tex_number(up(point->y), 5) + ")";
      if (point->drop_lines) {
        out_ += "\\draw[" + tex_stroke(point->colour, LineStyle::dashed, 0.6) + "] " + at +
                " -- (axis description cs:" + x + ",0);\n";
      }
      out_ += "\\draw plot[" + tex_marker(MarkerShape::circle, point->colour).substr(2) +
              "] coordinates {" + at + "};\n";
    }
    place_texts();
  }

  /// Places the texts of rules and points with the least overlap.
  void place_texts() {
    TextPlaces places(placed_.frame.width, placed_.frame.height, small_mm_);
    for (const Mark& mark : panel_.marks) {
      const auto* line = std::get_if<Line>(&mark);
      for (std::size_t i = 1; line != nullptr && i < std::min(line->x.size(), line->y.size());
           ++i) {
        places.avoid({x_mm(line->x[i - 1]), y_mm(line->y[i - 1])},
                     {x_mm(line->x[i]), y_mm(line->y[i])});
      }
    }
    for (const PointMark* point : points_) {
      if (!point->drop_lines) continue;
      places.avoid({x_mm(point->x), 0}, {x_mm(point->x), y_mm(point->y)});
    }
    for (const auto& [rule, share] : rules_) {
      write(places.along(rule->text, share * placed_.frame.height), rule->text, rule->colour);
    }
    for (const PointMark* point : points_) {
      if (point->text.empty()) continue;
      write(places.beside(point->text, x_mm(point->x)), point->text, point->colour);
    }
  }

  void write(const TextPlace& place, const std::string& said, const Colour& colour) {
    write(said, colour, (place.left + place.width / 2) / placed_.frame.width,
          place.bottom / placed_.frame.height, "south");
  }

  void write(const std::string& said, const Colour& colour, double x, double y,
             const std::string& anchor) {
    out_ +=
        "\\node[attnscope small, fill=white, fill opacity=0.75, text opacity=1, anchor=" + anchor +
        ", text=" + tex_colour(colour) + "] at (axis description cs:" + tex_number(x, 5) + "," +
        tex_number(y, 5) + ") {" + tex_text(said) + "};\n";
  }

  void plot(const std::string& keys, const Polyline& line) {
    out_ += "\\addplot[" + keys + "]" + table(line.x, line.y);
  }

  [[nodiscard]] double x_mm(double x) const { return across(x) * placed_.frame.width; }
  [[nodiscard]] double y_mm(double y) const { return up(y) * placed_.frame.height; }

  /// Fraction of the frame's width or height, from its lower left corner.
  [[nodiscard]] double across(double x) const {
    return share(x, window_.x_low, window_.x_high, window_.log_x);
  }
  [[nodiscard]] double up(double y) const {
    const double found = share(y, window_.y_low, window_.y_high, window_.log_y);
    return panel_.reversed_y ? 1 - found : found;
  }
  static double share(double value, double low, double high, bool logarithmic) {
    return logarithmic ? std::log(value / low) / std::log(high / low)
                       : (value - low) / (high - low);
  }

  const TexPanel& placed_;
  const Panel& panel_;
  double small_mm_;
  PlotWindow window_;
  std::string out_;
  std::map<double, double> stacks_;  // sum of the heights at each x
  std::vector<const PointMark*> points_;
  // Horizontal rules with texts, and their relative heights.
  std::vector<std::pair<const Rule*, double>> rules_;
};

/// Source between \begin{axis} and \end{axis} for the panel's marks other than cells, in order.
/// Lines are clipped to the axes' ranges, stacked bars are rectangles, and texts of points and
/// rules are placed with the least overlap.
std::string tex_marks(const TexPanel& panel, double font_size_pt) {
  return Marks(panel, font_size_pt).write();
}

std::string axis_keys(const std::string& name, const Axis& axis, const AxisRange& range,
                      const std::vector<Tick>& ticks, const std::string& label) {
  std::string keys =
      name + "min=" + exact(range.lower) + ", " + name + "max=" + exact(range.upper) + ", ";
  if (axis.logarithmic) keys += name + "mode=log, ";
  if (!axis.visible) return keys + "axis " + name + " line=none, ";
  std::string places, labels;
  for (const Tick& tick : ticks) {
    places += (places.empty() ? "" : ",") + exact(tick.value);
    labels += (labels.empty() ? "{" : ",{") + tex_text(tick.label) + "}";
  }
  keys += "axis " + name + " line*=" + (name == "x" ? "bottom" : "left") + ", ";
  keys += name + "tick=" + (places.empty() ? "\\empty" : "{" + places + "}") + ", ";
  if (!places.empty()) keys += name + "ticklabels={" + labels + "}, ";
  if (axis.turned_ticks) keys += name + "ticklabel style={rotate=90, anchor=east}, ";
  if (!label.empty()) keys += name + "label={" + tex_text(label) + "}, ";
  return keys;
}

/// Keys of a plot whose values are fractions of the scale's range, 0 to 1, whatever its norm.
std::string colour_map_keys(const ColourScale& scale) {
  std::string keys = "\n  point meta min=0, point meta max=1, colormap={attnscope}{";
  for (const auto& [fraction, c] : colour_stops(scale)) {
    keys += "rgb255=(" + std::to_string(c.red) + "," + std::to_string(c.green) + "," +
            std::to_string(c.blue) + ") ";
  }
  return keys + "}";
}

std::string matrix_plot(const HeatMap& map, const ColourScale& scale) {
  std::string out =
      "\\addplot[matrix plot*, point meta=explicit, mesh/cols=" + std::to_string(map.columns) +
      "] table[meta=place] {\nx y place value\n";
  std::size_t index = 0;
  for (std::int64_t row = 0; row < map.rows; ++row) {
    for (std::int64_t column = 0; column < map.columns; ++column) {
      const float value = map.values[index++];
      const auto fraction = fraction_of(scale, static_cast<double>(value));
      out += std::to_string(column) + " " + std::to_string(row) + " " +
             (fraction ? tex_number(*fraction, 6) : "nan") + " " + exact(value) + "\n";
    }
  }
  return out + "};\n";
}

std::string image(const Cells& cells, const TexBox& frame, const std::string& name,
                  std::vector<TexFigure::File>& images) {
  std::string number = std::to_string(images.size() + 1);
  if (number.size() < 2) number.insert(number.begin(), '0');
  const std::string file = name + "-" + number + ".png";
  images.push_back({file, png_of(cells.columns, cells.rows, cells.colours)});
  return tex_node("anchor=south west, inner sep=0, outer sep=0", frame.x, frame.y,
                  "\\includegraphics[width=" + tex_mm(frame.width) +
                      ", height=" + tex_mm(frame.height) + "]{" + file + "}");
}

/// Source of the title, the letter, and the labels of invisible axes.
std::string texts(const TexPanel& placed) {
  const Panel& panel = *placed.panel;
  const TexBox& frame = placed.frame;
  const double middle = frame.x + frame.width / 2, top = frame.y + frame.height;
  const double above = placed.title_mm;
  std::string out;
  if (!placed.title.empty()) {
    out += tex_node("attnscope text, anchor=south", middle, top + above, tex_text(placed.title));
  }
  if (!panel.letter.empty()) {
    out += tex_node("attnscope text, anchor=south west, inner xsep=0", frame.x - placed.left_mm,
                    top + above, "\\bfseries " + tex_text(panel.letter));
  }
  if (!panel.x.visible && !panel.x.label.empty()) {
    out += tex_node("attnscope text, anchor=north", middle, frame.y, tex_text(panel.x.label));
  }
  if (!panel.y.visible && !placed.y_label.empty()) {
    out += tex_node("attnscope text, anchor=south, rotate=90", frame.x, frame.y + frame.height / 2,
                    tex_text(placed.y_label));
  }
  return out;
}

/// The panel's source. Pictures that it includes are added to `images` as `name`-01.png and so on.
std::string tex_panel(const Figure& figure, const TexPanel& placed, bool cells_as_plot,
                      const std::string& name, std::vector<TexFigure::File>& images) {
  const Panel& panel = *placed.panel;
  const TexBox& frame = placed.frame;
  std::string out, plots, colours;
  for (const CellDrawing& drawing : cell_drawings(panel, figure.colour_scales)) {
    const auto* map = std::get_if<HeatMap>(&panel.marks[drawing.first_mark]);
    // PGFPlots does not support matrix plots of a single row or column.
    if (map != nullptr && cells_as_plot && map->rows > 1 && map->columns > 1) {
      const ColourScale& scale = figure.colour_scales.at(map->colour_scale);
      plots += matrix_plot(*map, scale);
      colours = colour_map_keys(scale);
    } else if (!drawing.cells.colours.empty()) {
      out += image(drawing.cells, frame, name, images);
    }
  }
  plots += tex_marks(placed, figure.font_size_pt);
  if (!plots.empty() || panel.x.visible || panel.y.visible) {
    out += "\\begin{axis}[attnscope, at={" + tex_place(frame.x, frame.y) +
           "}, width=" + tex_mm(frame.width) + ", height=" + tex_mm(frame.height) + ",\n  " +
           axis_keys("x", panel.x, placed.range.x, placed.x_ticks, panel.x.label) + "\n  " +
           axis_keys("y", panel.y, placed.range.y, placed.y_ticks, placed.y_label) +
           (panel.reversed_y ? "y dir=reverse, " : "") + colours + "]\n" + plots + "\\end{axis}\n";
  }
  if (panel.square_cells) {
    out += "\\draw[attnscope frame] " + tex_place(frame.x, frame.y) + " rectangle " +
           tex_place(frame.x + frame.width, frame.y + frame.height) + ";\n";
  }
  out += texts(placed);
  if (!figure.shared_legend) out += tex_legend(placed);
  return out;
}

// ---- the page ----

/// Maximum number of cells in a figure whose heat maps are drawn cell by cell from their values:
/// PGFPlots takes a second for a few thousand. Heat maps of larger figures are pictures.
constexpr std::int64_t most_cells_as_plot = 1500;

/// A row of the table; cells of several lines are aligned at their last line.
std::string row_of(const std::vector<std::string>& cells, std::size_t text_columns) {
  std::string row = "  ";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string cell = tex_text(cells[i]);
    if (lines_of(cells[i]) > 1) {
      cell = std::string("\\shortstack[") + (i < text_columns ? "l" : "r") + "]{" + cell + "}";
    }
    row += (i == 0 ? "" : " & ") + cell;
  }
  return row + " \\\\\n";
}

std::int64_t cell_count(const Figure& figure) {
  std::int64_t count = 0;
  for (const Panel& panel : figure.panels) {
    for (const Mark& mark : panel.marks) {
      if (const auto* map = std::get_if<HeatMap>(&mark)) count += map->rows * map->columns;
    }
  }
  return count;
}

/// A name that TeX accepts in any context: letters, digits, dots and hyphens.
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-';
    plain += is_plain ? c : '-';
  }
  return plain.empty() ? "figure" : plain;
}

std::string comments(const Figure& figure) {
  std::string out;
  for (const auto& [name, text] : provenance_of(figure)) out += "% " + name + ": " + text + "\n";
  return out;
}

/// The preamble of a page of exactly the figure's size without headers and margins.
std::string page(const Figure& figure, const std::string& packages) {
  return "\\RequirePackage{fix-cm}  % type of any size\n\\documentclass{article}\n"
         "\\usepackage[utf8]{inputenc}\n\\usepackage[paperwidth=" +
         tex_mm(figure.width_mm) + ", paperheight=" + tex_mm(figure.height_mm) +
         ", margin=0mm]{geometry}\n" + packages +
         "\\pagestyle{empty}\\setlength\\parindent{0pt}\\setlength\\topskip{0pt}\n";
}

std::string font(double pt) {
  return "\\sffamily\\fontsize{" + tex_number(pt) + "}{" + tex_number(1.2 * pt) + "}\\selectfont";
}

std::string styles(const Figure& figure) {
  const double size = figure.font_size_pt;
  const std::string text = font(size);
  const double small_pt = std::max(std::min(6.0, size), size - 0.75);
  const std::string small = font(small_pt);
  return "\\pgfplotsset{compat=1.16}\n"
         "\\tikzset{\n"
         "  attnscope text/.style={font=" +
         text +
         ", inner sep=0.5mm, align=center},\n"
         "  attnscope small/.style={font=" +
         small +
         ", inner sep=0.3mm, align=center},\n"
         "  attnscope line/.style={text height=" +
         tex_number(0.72 * small_pt) +
         "pt, text depth=0pt},  % on one base line\n"
         "  attnscope frame/.style={draw=black!45, line width=0.35pt},\n"
         "  attnscope axis/.style={draw=black!80, line width=0.5pt},\n"
         "  attnscope legend/.style={inner sep=0.3mm, row sep=0.2mm, nodes={anchor=base west,\n"
         "    font=" +
         small +
         ", inner xsep=0.6mm, inner ysep=0.2mm}}}\n"
         "\\pgfplotsset{attnscope/.style={anchor=south west, scale only axis, clip=false,\n"
         "  tick align=outside, major tick length=0.7mm, scaled ticks=false,\n"
         "  unbounded coords=jump, axis line style={attnscope axis},\n"
         "  every tick/.style={attnscope axis}, label style={attnscope text, inner sep=0.3mm},\n"
         "  tick label style={attnscope small}}}\n"
         "% A character that no font of pdfTeX has: itself in XeTeX and LuaTeX, else its code.\n"
         "\\newcommand\\attnscopeglyph[2]{\\ifdefined\\Umathcode #1\\else"
         "{\\fboxsep=0.4pt\\fbox{\\tiny #2}}\\fi}\n";
}

/// Source of the panels and bars of one area, or of the whole figure.
std::string area_source(const Figure& figure, std::size_t index, TexBox room,
                        const std::string& title, bool cells_as_plot, const std::string& name,
                        std::vector<TexFigure::File>& images) {
  for (std::size_t scale = 0; scale < figure.colour_scales.size(); ++scale) {
    if (figure.colour_scales[scale].bar_area == index) {
      return tex_bar(figure, {scale,
                              {room.x + 0.8, room.y + 2.2, 2.1, room.height - 4.4},
                              figure.colour_scales[scale].label});
    }
  }
  std::string out;
  if (!title.empty()) {
    out += tex_node("attnscope text, anchor=north", room.x + room.width / 2, room.y + room.height,
                    "\\bfseries " + tex_text(title));
    room.height -= 1.6 * figure.font_size_pt * 25.4 / 72;
  }
  const TexLayout layout = tex_layout(figure, index, room);
  for (const TexPanel& placed : layout.panels) {
    out += tex_panel(figure, placed, cells_as_plot, name, images);
  }
  for (const TexBar& bar : layout.bars) out += tex_bar(figure, bar);
  return out;
}

/// Margin at the page's edges that stays white.
constexpr double edge_mm = 0.4;

/// A document with the table, scaled down if it is wider than the figure, so that its rules fit.
TexFigure table_document(const Figure& figure) {
  return {comments(figure) + page(figure, "\\usepackage{booktabs}\n\\usepackage{graphicx}\n") +
              "\\begin{document}" + font(figure.font_size_pt) +
              "\\setlength\\tabcolsep{0.6em}%\n\\vspace*{\\fill}\\centering\n"
              "\\newdimen\\room \\room=\\textwidth \\advance\\room by -" +
              tex_mm(2 * edge_mm) +
              "\n\\resizebox{\\ifdim\\width>\\room \\room\\else\\width\\fi}{!}{%\n" +
              table_as_tex(broken_table(*figure.table, figure.width_mm)) +
              "\\unskip}\\par\n\\vspace*{\\fill}\n\\end{document}\n",
          {}};
}

}  // namespace

std::string table_as_tex(const Table& table) {
  std::string out = "\\begin{tabular}{";
  for (std::size_t i = 0; i < table.header.size(); ++i) out += i < table.text_columns ? 'l' : 'r';
  out += "}\n  \\toprule\n" + row_of(table.header, table.text_columns) + "  \\midrule\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i > 0 && !table.rows[i][0].empty() && table.rows[i - 1][0].empty()) {
      out += "  \\addlinespace\n";
    }
    out += row_of(table.rows[i], table.text_columns);
  }
  return out + "  \\bottomrule\n\\end{tabular}\n";
}

TexFigure figure_as_tex(const Figure& figure, const std::string& name) {
  if (figure.table) return table_document(figure);
  TexFigure out;
  const std::string images = plain_name(name);
  const bool cells_as_plot = cell_count(figure) <= most_cells_as_plot;
  TexBox room{0, 0, figure.width_mm, figure.height_mm};
  std::string panels;
  if (figure.shared_legend) {
    panels += tex_shared_legend(figure, {edge_mm, edge_mm, room.width - 2 * edge_mm, 0});
    room.y = legend_mm(figure, figure.width_mm);
    room.height -= room.y;
  }
  if (figure.areas.empty()) {
    panels += area_source(
        figure, 0, {edge_mm, room.y + edge_mm, room.width - 2 * edge_mm, room.height - 2 * edge_mm},
        figure.show_title ? figure.title : std::string(), cells_as_plot, images, out.images);
  }
  double bottom = 1e-9;
  for (const FigureArea& area : figure.areas) bottom = std::max(bottom, area.y_mm + area.height_mm);
  for (std::size_t index = 0; index < figure.areas.size(); ++index) {
    const FigureArea& area = figure.areas[index];
    const double scale = room.height / bottom;
    panels += area_source(
        figure, index,
        {area.x_mm + edge_mm, room.y + (bottom - area.y_mm - area.height_mm) * scale + edge_mm,
         area.width_mm - 2 * edge_mm, area.height_mm * scale - 2 * edge_mm},
        area.title, cells_as_plot, images, out.images);
  }
  out.source = comments(figure) + page(figure, "\\usepackage{pgfplots}\n") + styles(figure) +
               "\\begin{document}%\n\\begin{tikzpicture}\n\\useasboundingbox (0,0) rectangle " +
               tex_place(figure.width_mm, figure.height_mm) + ";\n" + panels +
               "\\end{tikzpicture}%\n\\end{document}\n";
  return out;
}

}  // namespace attnscope
