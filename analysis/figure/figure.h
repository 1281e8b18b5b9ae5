// A figure as data, from which panels on the screen and exported files are drawn.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/input/image.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 255;
};

/// Metadata of numbers, name → value: {"model", "fashion-adder"}, {"layer", "3"}. Keys are columns
/// in tables of numbers and attributes of arrays; they are not drawn.
using Keys = std::vector<std::pair<std::string, std::string>>;

enum class LineStyle { none, solid, dashed, dotted, dash_dotted };
enum class MarkerShape { none, circle, square, triangle, diamond, cross };

/// A line y over x. Give each series its own style as well as its own colour, for prints in grey.
struct Line {
  std::string label;  ///< label in the legend; not listed if empty
  std::vector<double> x, y;
  Colour colour;
  LineStyle style = LineStyle::solid;
  MarkerShape marker = MarkerShape::none;
  double width_pt = 1.0;
  std::string name = {};  ///< name in tables of numbers if there is no label
  Keys keys = {};
};

/// The area between two curves over x, e.g. a quantile band.
struct Band {
  std::string label;
  std::vector<double> x, low, high;
  Colour colour;
  std::string name = {};  ///< name in tables of numbers if there is no label
  Keys keys = {};
};

/// A marked point with a drop line to the x axis and a short text next to that line.
struct PointMark {
  double x = 0, y = 0;
  std::string text;
  Colour colour;
  bool drop_lines = true;
  Keys keys = {};
};

/// A vertical or horizontal rule across the panel.
struct Rule {
  double at = 0;
  bool vertical = true;
  std::string text;
  Colour colour;
  LineStyle style = LineStyle::dashed;
};

/// A matrix drawn through a colour scale, filling the panel; row 0 on top. On the panel's axes the
/// centre of cell (row, column) is at x = column, y = row: set reversed_y.
struct HeatMap {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;     ///< rows × columns; NaN is drawn as "no value", never as a colour
  std::size_t colour_scale = 0;  ///< index into Figure::colour_scales
  double opacity = 1.0;          ///< below 1: mixed, cell by cell, with the Picture under it
  std::optional<Colour> missing = std::nullopt;  ///< colour of NaN; a light grey if absent
  Keys keys = {};
};

/// A picture under or instead of a heat map, filling the panel.
struct Picture {
  Image image;
};

/// Bars, stacked in the given order if they share an x.
struct Bars {
  std::string label;
  std::vector<double> x, heights;
  double width = 0.8;  ///< width of a bar in x units
  Colour colour;
  Keys keys = {};
};

/// Horizontal alignment of a text at its x; vertically it is centred at its y.
enum class TextAlign { middle, start };

struct TextMark {
  double x = 0, y = 0;
  std::string text;
  std::optional<Colour> colour = std::nullopt;  ///< the figure's text colour if absent
  TextAlign align = TextAlign::middle;
};

using Mark = std::variant<Line, Band, PointMark, Rule, HeatMap, Picture, Bars, TextMark>;

struct Tick {
  double value = 0;
  std::string label;
};

struct Axis {
  std::string label;                       ///< label with its unit
  std::optional<double> minimum, maximum;  ///< limits; taken from the data if absent
  bool logarithmic = false;
  bool visible = true;
  std::vector<Tick> ticks;    ///< automatic if empty
  bool turned_ticks = false;  ///< x labels read upwards, to avoid overlap
  std::string key = {};       ///< name of the axis in Keys, such as "layer"; none if empty
};

/// In a corner of the panel, or below it outside the axes.
enum class LegendPosition { none, top_left, top_right, bottom_left, bottom_right, below };

struct Panel {
  std::int64_t row = 0, column = 0;  ///< cell of the figure's grid
  std::string title;
  std::string letter;  ///< "a", "b": set by the composer
  Axis x, y;
  std::vector<Mark> marks;  ///< drawn in order
  LegendPosition legend = LegendPosition::none;
  bool square_cells = false;  ///< equal scale on both axes: maps and pictures
  bool reversed_y = false;    ///< row 0 on top
  std::size_t area = 0;       ///< index into Figure::areas, for pages of several figures
  Keys keys = {};             ///< keys of all marks
};

/// Area of one of the figures of a page; its panels form a grid of their own.
struct FigureArea {
  /// Position from the top left of the page, and size.
  double x_mm = 0, y_mm = 0, width_mm = 0, height_mm = 0;
  std::string title = {};  ///< title above the area; none if empty
};

enum class ScaleNorm { linear, logarithmic, symmetric_logarithmic };
inline constexpr EnumName<ScaleNorm> scale_norm_names[] = {
    {ScaleNorm::linear, "linear"},
    {ScaleNorm::logarithmic, "log"},
    {ScaleNorm::symmetric_logarithmic, "symlog"}};

/// A colour scale, always shown as a bar; shared by every heat map that refers to it.
struct ColourScale {
  std::string label;
  std::string colour_map = "viridis";
  double minimum = 0, maximum = 1;
  ScaleNorm norm = ScaleNorm::linear;
  bool reversed = false;
  /// Area that holds only the bar; next to the panels that share the scale if absent.
  std::optional<std::size_t> bar_area = std::nullopt;

  bool operator==(const ColourScale&) const = default;
};

/// Cells of text. An empty first cell continues the row above.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< each as long as the header
  std::size_t text_columns = 2;  ///< number of leading text columns; the others are numbers
};

struct Figure {
  std::string name;   ///< name of the recipe
  std::string title;  ///< not drawn unless show_title
  bool show_title = false;
  double width_mm = 84, height_mm = 60;
  std::string font_family = "DejaVu Sans";
  double font_size_pt = 7;
  std::vector<Panel> panels;
  std::vector<ColourScale> colour_scales;
  std::vector<FigureArea> areas;  ///< areas of a composite page; empty: one grid fills the figure
  bool shared_legend = false;     ///< one legend below the figure instead of one per panel
  /// Table that .tex and .csv exports contain instead of the panels, for figures that are tables.
  std::optional<Table> table;
  std::string caption;                   ///< a draft: model, input, threshold, program version
  std::string command;                   ///< command line that makes the same figure
  std::vector<std::string> models = {};  ///< files of the models and traces shown
  /// Numbers behind the figure for tables: name → values, such as "equivalent_rank/softmax".
  std::map<std::string, std::vector<double>> numbers;
};

/// Makes every text of `figure` that may come from an untrusted file safe to show: labels, titles,
/// tokens (shown_lines of core/shown_text.h). Applied once, when a figure is made, so that all
/// outputs have the same text.
void make_text_showable(Figure& figure);

/// The origin of a figure for all file formats: the pairs "Title", "Description" (the caption),
/// "Command", "Models" (files, joined by ", ") and "Software" ("attnscope 0.1.0"), in this order;
/// empty ones are omitted. Texts have no line breaks.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance_of(const Figure& figure);

}  // namespace attnscope
