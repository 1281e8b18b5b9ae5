#include "analysis/figure/tex/panel.h"

#include "analysis/figure/cells.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/tex/colour_bar.h"
#include "analysis/figure/tex/legend.h"
#include "analysis/figure/tex/marks.h"
#include "analysis/figure/tex/words.h"
#include "core/file/png_writer.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

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

}  // namespace

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

}  // namespace attnscope
