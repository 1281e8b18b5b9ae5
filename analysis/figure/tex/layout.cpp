#include "analysis/figure/tex/layout.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/shared_bars.h"
#include "analysis/figure/tex/words.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

constexpr double kGapMm = 1.8, kBarMm = 2.1, kBarGapMm = 1.8, kTickMm = 0.9, kPadMm = 0.5;
constexpr double kMmOfPt = 25.4 / 72;
constexpr double kTexFonts = 1.12;  // TeX's fonts are narrower than the measured widths

/// A row or column of the grid: the margin before its frames, the frames, the margin after them.
struct Track {
  double before = 0, after = 0, content = 0;
};

double sum_of_margins(const std::vector<Track>& tracks) {
  double sum = kGapMm * std::max(0.0, static_cast<double>(tracks.size()) - 1);
  for (const Track& track : tracks) sum += track.before + track.after;
  return sum;
}

class Layout {
 public:
  Layout(const Figure& figure, std::size_t area, const TexBox& room)
      : figure_(figure), area_(area), room_(room) {}

  TexLayout make() {
    for (const Panel& panel : figure_.panels) {
      if (panel.area == area_) add(panel);
    }
    if (layout_.panels.empty()) return std::move(layout_);
    bars_ = shared_bars(figure_, area_);
    measure();
    // Labels are broken by the heights of frames, which depend on the labels.
    share_room();
    if (break_labels()) {
      measure();
      share_room();
    }
    place();
    return std::move(layout_);
  }

 private:
  [[nodiscard]] double line_mm() const { return 1.25 * figure_.font_size_pt * kMmOfPt; }
  [[nodiscard]] double small_mm() const { return line_mm() - 0.9 * kMmOfPt; }
  [[nodiscard]] double width_of(const std::string& text, double pt) const {
    return text_ems(text) * pt * kMmOfPt;
  }
  [[nodiscard]] double small_width(const std::string& text) const {
    return width_of(text, figure_.font_size_pt - 0.75);
  }

  void add(const Panel& panel) {
    TexPanel placed;
    placed.panel = &panel;
    placed.range = range_of(panel);
    if (panel.x.visible) {
      placed.x_ticks = ticks_of(panel.x, placed.range.x.lower, placed.range.x.upper);
    }
    if (panel.y.visible) {
      placed.y_ticks = ticks_of(panel.y, placed.range.y.lower, placed.range.y.upper);
    }
    placed.title = panel.title;
    placed.y_label = panel.y.label;
    layout_.panels.push_back(std::move(placed));
    const auto grow = [](std::vector<Track>& tracks, std::int64_t index) {
      tracks.resize(std::max(tracks.size(), static_cast<std::size_t>(index) + 1));
    };
    grow(rows_, panel.row);
    grow(columns_, panel.column);
  }

  /// The bar's label; in two lines if it is longer than the rows next to the bar, once these are
  /// known.
  [[nodiscard]] std::string bar_label(std::size_t scale) const {
    const std::string& label = figure_.colour_scales[scale].label;
    for (const SharedBar& bar : bars_) {
      if (bar.colour_scale != scale || rows_.front().content == 0) continue;
      double height = -kGapMm;
      for (std::int64_t row = bar.first_row; row <= bar.last_row; ++row) {
        const Track& track = rows_[static_cast<std::size_t>(row)];
        height += track.before + track.content + track.after + kGapMm;
      }
      if (width_of(label, figure_.font_size_pt) > height) return in_two_lines(label);
    }
    return label;
  }

  [[nodiscard]] double bar_width(std::size_t scale) const {
    double widest = 0;
    for (const Tick& tick : bar_ticks(figure_.colour_scales[scale])) {
      widest = std::max(widest, small_width(tick.label));
    }
    const auto lines = static_cast<double>(lines_of(bar_label(scale)));
    return kBarGapMm + kBarMm + kTickMm + widest + lines * line_mm() + 2 * kPadMm;
  }

  void measure() {
    for (std::vector<Track>* tracks : {&rows_, &columns_}) {
      for (Track& track : *tracks) track.before = track.after = 0;
    }
    for (TexPanel& placed : layout_.panels) {
      const Panel& panel = *placed.panel;
      Track& column = columns_[static_cast<std::size_t>(panel.column)];
      Track& row = rows_[static_cast<std::size_t>(panel.row)];
      double left = kPadMm, right = kPadMm;
      if (!placed.y_label.empty()) {
        left += kPadMm + line_mm() * static_cast<double>(lines_of(placed.y_label));
      }
      double widest = 0;
      for (const Tick& tick : placed.y_ticks) widest = std::max(widest, small_width(tick.label));
      if (widest > 0) left += kTickMm + 2 * kPadMm + widest;
      // A label at an end of the axis extends beyond the frame by half its width.
      if (!placed.x_ticks.empty() && !panel.x.turned_ticks) {
        left = std::max(left, small_width(placed.x_ticks.front().label) / 2);
        right = std::max(right, small_width(placed.x_ticks.back().label) / 2);
      }
      placed.left_mm = left;
      column.before = std::max(column.before, left);
      column.after = std::max(column.after, right);

      const bool heading = !placed.title.empty() || !panel.letter.empty();
      const auto title_lines =
          static_cast<double>(std::max<std::size_t>(lines_of(placed.title), heading ? 1 : 0));
      row.before =
          std::max(row.before, (panel.y.visible ? small_mm() / 2 : 0.3) + title_lines * line_mm());
      double below = panel.x.visible ? kTickMm + tick_height(placed) + kPadMm : 0.3;
      below += line_mm() * static_cast<double>(lines_of(panel.x.label));
      row.after = std::max(row.after, below + legend_height(panel));
    }
    bar_widths_.clear();
    for (const SharedBar& bar : bars_) {
      bar_widths_.resize(std::max(bar_widths_.size(), bar.rank + 1));
      bar_widths_[bar.rank] = std::max(bar_widths_[bar.rank], bar_width(bar.colour_scale));
      const Clipping clipping = clipping_of(figure_, bar.colour_scale);
      Track& first = rows_[static_cast<std::size_t>(bar.first_row)];
      Track& last = rows_[static_cast<std::size_t>(bar.last_row)];
      first.before = std::max(first.before, clipping.above ? 2.2 : small_mm() / 2);
      last.after = std::max(last.after, clipping.below ? 2.2 : small_mm() / 2);
    }
  }

  /// Height of the tick labels below a panel.
  [[nodiscard]] double tick_height(const TexPanel& placed) const {
    double height = small_mm();
    if (!placed.panel->x.turned_ticks) return height;
    for (const Tick& tick : placed.x_ticks) height = std::max(height, small_width(tick.label));
    return height;
  }

  /// Distance of a row's titles from the frames: they are above the upper half of the top tick
  /// label.
  [[nodiscard]] double title_mm(std::int64_t row) const {
    constexpr double half_label_mm = 0.8;
    for (const TexPanel& other : layout_.panels) {
      if (other.panel->row == row && other.panel->y.visible) return half_label_mm;
    }
    return 0;
  }

  [[nodiscard]] double legend_height(const Panel& panel) const {
    if (panel.legend != LegendPosition::below || figure_.shared_legend) return 0;
    const std::vector<std::string> labels = legend_labels(panel);
    if (labels.empty()) return 0;
    return static_cast<double>(legend_rows(labels, legend_width(panel))) * (small_mm() + 0.3) + 1;
  }

  /// Width available for a legend: the whole area, or a column's share if the row has several
  /// legends.
  [[nodiscard]] double legend_width(const Panel& panel) const {
    double width = room_.width;
    for (const TexPanel& other : layout_.panels) {
      if (other.panel != &panel && other.panel->row == panel.row &&
          other.panel->legend == LegendPosition::below) {
        width = room_.width / static_cast<double>(columns_.size());
      }
    }
    return width;
  }

  [[nodiscard]] static std::optional<double> aspect_of(const TexPanel& placed) {
    if (!placed.panel->square_cells) return std::nullopt;
    return (placed.range.x.upper - placed.range.x.lower) /
           (placed.range.y.upper - placed.range.y.lower);
  }

  /// Distributes the space: frames share the width; rows of square cells get the height that they
  /// require, the others share the rest.
  void share_room() {
    bars_mm_ = 0;
    for (const double width : bar_widths_) bars_mm_ += width;
    const double across = std::max(1.0, room_.width - bars_mm_ - sum_of_margins(columns_));
    const double down = std::max(1.0, room_.height - sum_of_margins(rows_));
    for (Track& column : columns_) column.content = across / static_cast<double>(columns_.size());
    std::vector<double> wanted(rows_.size(), 0);
    std::vector<bool> free(rows_.size(), false);
    for (const TexPanel& placed : layout_.panels) {
      const auto row = static_cast<std::size_t>(placed.panel->row);
      const std::optional<double> aspect = aspect_of(placed);
      const auto column = static_cast<std::size_t>(placed.panel->column);
      if (aspect) wanted[row] = std::max(wanted[row], columns_[column].content / *aspect);
      if (!aspect) free[row] = true;
    }
    double fixed = 0;
    int free_rows = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (free[row]) wanted[row] = 0;
      fixed += wanted[row];
      free_rows += wanted[row] == 0 ? 1 : 0;
    }
    const double for_fixed = down * (1 - free_rows / static_cast<double>(rows_.size()));
    if (fixed > for_fixed) {
      for (Track& column : columns_) column.content *= for_fixed / fixed;
      for (double& height : wanted) height *= for_fixed / fixed;
      fixed = for_fixed;
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].content = wanted[row] > 0 ? wanted[row] : (down - fixed) / free_rows;
    }
  }

  bool break_labels() {
    bool changed = false;
    for (TexPanel& placed : layout_.panels) {
      const Track& row = rows_[static_cast<std::size_t>(placed.panel->row)];
      const Track& column = columns_[static_cast<std::size_t>(placed.panel->column)];
      const double along = row.content + kGapMm;
      if (width_of(placed.y_label, figure_.font_size_pt) > along) {
        placed.y_label = elided_middle(in_two_lines(placed.y_label),
                                       kTexFonts * along / (figure_.font_size_pt * kMmOfPt));
      }
      const double beside = std::min(column.before, column.after) + kGapMm / 2;
      placed.title = elided_middle(placed.title, kTexFonts * (column.content + 2 * beside) /
                                                     (figure_.font_size_pt * kMmOfPt));
      changed |= placed.y_label != placed.panel->y.label;
    }
    for (const SharedBar& bar : bars_) {
      changed |= bar_label(bar.colour_scale) != figure_.colour_scales[bar.colour_scale].label;
    }
    return changed;
  }

  void place() {
    double used_width = bars_mm_ + sum_of_margins(columns_), used_height = sum_of_margins(rows_);
    for (const Track& column : columns_) used_width += column.content;
    for (const Track& row : rows_) used_height += row.content;
    const auto starts = [](const std::vector<Track>& tracks, double start) {
      std::vector<double> list;
      for (const Track& track : tracks) {
        list.push_back(start + track.before);
        start += track.before + track.content + track.after + kGapMm;
      }
      return list;
    };
    const double left = room_.x + (room_.width - used_width) / 2;
    const double down = (room_.height - used_height) / 2;  // distance from the top of the area
    const std::vector<double> xs = starts(columns_, left), tops = starts(rows_, down);
    const double top = room_.y + room_.height;
    for (TexPanel& placed : layout_.panels) {
      const auto c = static_cast<std::size_t>(placed.panel->column);
      const auto r = static_cast<std::size_t>(placed.panel->row);
      TexBox frame{xs[c], top - tops[r] - rows_[r].content, columns_[c].content, rows_[r].content};
      if (const std::optional<double> aspect = aspect_of(placed)) {
        const double width = std::min(frame.width, frame.height * *aspect);
        const double height = width / *aspect;
        frame = {frame.x + (frame.width - width) / 2, frame.y + (frame.height - height) / 2, width,
                 height};
      }
      placed.frame = frame;
      placed.title_mm = title_mm(placed.panel->row);
      const double width = legend_width(*placed.panel);
      placed.legend_room = {room_.x, frame.y - rows_[r].after, width, legend_height(*placed.panel)};
      if (width < room_.width) placed.legend_room.x += static_cast<double>(c) * width;
    }
    const double bars_left = left + used_width - bars_mm_;
    for (const SharedBar& bar : bars_) {
      double x = bars_left + kBarGapMm;
      for (std::size_t rank = 0; rank < bar.rank; ++rank) x += bar_widths_[rank];
      const auto first = static_cast<std::size_t>(bar.first_row);
      const auto last = static_cast<std::size_t>(bar.last_row);
      const double bottom = top - tops[last] - rows_[last].content;
      layout_.bars.push_back({bar.colour_scale,
                              {x, bottom, kBarMm, top - tops[first] - bottom},
                              bar_label(bar.colour_scale)});
    }
  }

  const Figure& figure_;
  std::size_t area_;
  TexBox room_;
  TexLayout layout_;
  std::vector<Track> rows_, columns_;
  std::vector<SharedBar> bars_;
  std::vector<double> bar_widths_;
  double bars_mm_ = 0;
};

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
  constexpr double icon_mm = 6.5, em_mm = 6.25 / 1.12 * 25.4 / 72;  // em of TeX's narrower fonts
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

TexLayout tex_layout(const Figure& figure, std::size_t area, const TexBox& room) {
  return Layout(figure, area, room).make();
}

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
