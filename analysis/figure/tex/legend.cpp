#include "analysis/figure/tex/legend.h"

#include <algorithm>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/shared_bars.h"
#include "analysis/figure/tex/words.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

struct Entry {
  std::string label, picture;
};

Entry entry_of(const Line& line) {
  std::string picture;
  if (line.style != LineStyle::none) {
    picture = "\\draw[" + tex_stroke(line.colour, line.style, line.width_pt) +
              "] (0,0.7mm) -- (5mm,0.7mm);";
  }
  if (line.marker != MarkerShape::none) {
    picture += "\\draw plot[" + tex_marker(line.marker, line.colour).substr(2) +
               "] coordinates {(2.5mm,0.7mm)};";
  }
  return {line.label, picture};
}

template <class Filled>
Entry filled_entry(const Filled& mark) {
  return {mark.label, "\\fill[fill=" + tex_colour(mark.colour) +
                          ", fill opacity=" + tex_number(mark.colour.alpha / 255.0, 3) +
                          "] (1mm,0) rectangle (4mm,1.6mm);"};
}

/// Adds the entries of the panel's legend; if `once`, without labels that `entries` already has.
void add_entries(const Panel& panel, std::vector<Entry>& entries, bool once) {
  if (panel.legend == LegendPosition::none) return;
  for (const Mark& mark : panel.marks) {
    Entry entry;
    if (const auto* line = std::get_if<Line>(&mark)) entry = entry_of(*line);
    if (const auto* band = std::get_if<Band>(&mark)) entry = filled_entry(*band);
    if (const auto* bars = std::get_if<Bars>(&mark)) entry = filled_entry(*bars);
    const bool known = std::any_of(entries.begin(), entries.end(),
                                   [&](const Entry& other) { return other.label == entry.label; });
    if (!entry.label.empty() && !(once && known)) entries.push_back(std::move(entry));
  }
}

std::string matrix(const std::vector<Entry>& entries, std::size_t rows, const std::string& anchor,
                   double x, double y, bool on_paper) {
  std::string out = "\\matrix[attnscope legend, anchor=" + anchor +
                    (on_paper ? ", fill=white, fill opacity=0.85, text opacity=1" : "") + "] at (" +
                    tex_mm(x) + "," + tex_mm(y) + ") {\n";
  for (std::size_t row = 0; row < rows; ++row) {
    // Filled column by column: consecutive entries are below each other.
    for (std::size_t i = row; i < entries.size(); i += rows) {
      if (i > row) out += " &[2mm] ";
      out += entries[i].picture + " & \\node{" + tex_text(entries[i].label) + "};";
    }
    out += " \\\\\n";
  }
  return out + "};\n";
}

/// Shortens labels that are wider than the legend's room.
void shorten(std::vector<Entry>& entries, double width_mm) {
  constexpr double icon_mm = 6.5, em_mm = 6.25 / 1.12 * 25.4 / 72;  // of TeX's narrower fonts
  for (Entry& entry : entries) {
    entry.label = elided_middle(entry.label, std::max(1.0, (width_mm - icon_mm) / em_mm));
  }
}

std::size_t rows_for(const std::vector<Entry>& entries, double width_mm) {
  std::vector<std::string> labels;
  labels.reserve(entries.size());
  for (const Entry& entry : entries) labels.push_back(entry.label);
  return legend_rows(labels, width_mm);
}

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

std::vector<std::string> legend_labels(const Panel& panel) {
  std::vector<std::string> labels;
  if (panel.legend == LegendPosition::none) return labels;
  for (const Mark& mark : panel.marks) {
    const std::string* label = nullptr;
    if (const auto* line = std::get_if<Line>(&mark)) label = &line->label;
    if (const auto* band = std::get_if<Band>(&mark)) label = &band->label;
    if (const auto* bars = std::get_if<Bars>(&mark)) label = &bars->label;
    if (label != nullptr && !label->empty()) labels.push_back(*label);
  }
  return labels;
}

std::string tex_legend(const TexPanel& placed) {
  std::vector<Entry> entries;
  add_entries(*placed.panel, entries, false);
  if (entries.empty()) return {};
  const TexBox& frame = placed.frame;
  const double left = frame.x + 0.7, right = frame.x + frame.width - 0.7;
  const double bottom = frame.y + 0.7, top = frame.y + frame.height - 0.7;
  switch (placed.panel->legend) {
    case LegendPosition::top_left:
      return matrix(entries, entries.size(), "north west", left, top, true);
    case LegendPosition::top_right:
      return matrix(entries, entries.size(), "north east", right, top, true);
    case LegendPosition::bottom_left:
      return matrix(entries, entries.size(), "south west", left, bottom, true);
    case LegendPosition::bottom_right:
      return matrix(entries, entries.size(), "south east", right, bottom, true);
    default:
      break;
  }
  const TexBox& room = placed.legend_room;
  shorten(entries, room.width);
  return matrix(entries, rows_for(entries, room.width), "south", room.x + room.width / 2, room.y,
                false);
}

std::string tex_shared_legend(const Figure& figure, const TexBox& room) {
  std::vector<Entry> entries;
  for (const Panel& panel : figure.panels) add_entries(panel, entries, true);
  if (entries.empty()) return {};
  shorten(entries, room.width);
  return matrix(entries, rows_for(entries, room.width), "south", room.x + room.width / 2, room.y,
                false);
}

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
