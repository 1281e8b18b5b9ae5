#include <algorithm>
#include <string_view>

#include "analysis/figure/style.h"
#include "analysis/figure/table.h"
#include "analysis/figure/text_export.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::string panel_name(const Figure& figure, const Panel& panel) {
  std::string name = figure.areas.empty() ? "" : panel_letter(panel.area) + " ";
  name += "(" + std::to_string(panel.row) + ", " + std::to_string(panel.column) + ")";
  return panel.title.empty() ? name : name + " " + panel.title;
}

/// Writes the rows of one panel's marks.
class Rows {
 public:
  Rows(std::string& out, const Figure& figure, const Panel& panel)
      : out_(out), panel_(csv_field(panel_name(figure, panel))) {}

  void operator()(const Line& line) {
    for (std::size_t i = 0; i < std::min(line.x.size(), line.y.size()); ++i) {
      row(line.label.empty() ? line.name : line.label, "line", exact(line.x[i]), exact(line.y[i]),
          "");
    }
  }
  void operator()(const Band& band) {
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      const std::string& name = band.label.empty() ? band.name : band.label;
      row(name, "low", exact(band.x[i]), exact(band.low.at(i)), "");
      row(name, "high", exact(band.x[i]), exact(band.high.at(i)), "");
    }
  }
  void operator()(const PointMark& point) {
    row(point.text, "point", exact(point.x), exact(point.y), "");
  }
  void operator()(const Rule& rule) {
    const std::string at = exact(rule.at);
    row(rule.text, "rule", rule.vertical ? at : "", rule.vertical ? "" : at, "");
  }
  void operator()(const HeatMap& map) {
    std::size_t index = 0;
    for (std::int64_t y = 0; y < map.rows; ++y) {
      for (std::int64_t x = 0; x < map.columns; ++x) {
        row("", "cell", std::to_string(x), std::to_string(y), exact(map.values[index++]));
      }
    }
  }
  void operator()(const Picture&) {}
  void operator()(const Bars& bars) {
    for (std::size_t i = 0; i < std::min(bars.x.size(), bars.heights.size()); ++i) {
      row(bars.label, "bar", exact(bars.x[i]), exact(bars.heights[i]), "");
    }
  }
  void operator()(const TextMark& text) {
    row(text.text, "text", exact(text.x), exact(text.y), "");
  }

 private:
  void row(const std::string& series, std::string_view kind, const std::string& x,
           const std::string& y, const std::string& value) {
    out_ += panel_ + "," + csv_field(series) + ",";
    out_ += kind;
    out_ += "," + x + "," + y + "," + value + "\n";
  }

  std::string& out_;
  std::string panel_;
};

std::string comment(std::string_view key, std::string text) {
  if (text.empty()) return {};
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "# " + std::string(key) + ": " + text + "\n";
}

}  // namespace

std::string figure_as_csv(const Figure& figure) {
  std::string out = comment("figure", figure.title) + comment("caption", figure.caption) +
                    comment("command", figure.command);
  for (const auto& [name, values] : figure.numbers) {
    std::string list;
    for (const double value : values) list += (list.empty() ? "" : " ") + exact(value);
    out += comment(name, list);
  }
  if (figure.table) return out + table_as_csv(*figure.table);
  out += "panel,series,kind,x,y,value\n";
  for (const Panel& panel : figure.panels) {
    Rows rows(out, figure, panel);
    for (const Mark& mark : panel.marks) std::visit(rows, mark);
  }
  return out;
}

}  // namespace attnscope
