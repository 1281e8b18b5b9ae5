#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/figure/figure.h"
#include "analysis/figure/style.h"
#include "analysis/figure/table.h"
#include "analysis/figure/text_export.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

const Keys& mark_keys(const Mark& mark) {
  static const Keys none;
  return std::visit(
      [](const auto& one) -> const Keys& {
        if constexpr (requires { one.keys; }) return one.keys;
        return none;
      },
      mark);
}

/// Names of all keys, in the order of their first use in the figure.
std::vector<std::string> key_names(const Figure& figure) {
  std::vector<std::string> names;
  const auto add = [&names](const Keys& keys) {
    for (const auto& [name, value] : keys) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  };
  for (const Panel& panel : figure.panels) {
    add(panel.keys);
    for (const Mark& mark : panel.marks) add(mark_keys(mark));
    if (!panel.x.key.empty()) add({{panel.x.key, ""}});
  }
  return names;
}

/// A CSV field; line breaks of labels become spaces.
std::string field(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return csv_field(text);
}

/// Writes one line per value: those of every panel's marks, then the figure's numbers.
class Lines {
 public:
  explicit Lines(const Figure& figure) : figure_(figure), names_(key_names(figure)) {}

  std::string write() {
    for (const Panel& panel : figure_.panels) {
      panel_ = &panel;
      for (const Mark& mark : panel.marks) {
        keys_ = &mark_keys(mark);
        std::visit([this](const auto& one) { add(one); }, mark);
      }
    }
    for (const auto& [name, values] : figure_.numbers) add_number(name, values);
    return std::move(out_);
  }

 private:
  void add(const Line& line) {
    begin("line", line.label.empty() ? line.name : line.label, panel_->y.label);
    for (std::size_t i = 0; i < std::min(line.x.size(), line.y.size()); ++i) {
      add_at(line.x[i], line.y[i]);
    }
  }
  void add(const Band& band) {
    for (const auto& [mark, ends] : {std::pair("low", &band.low), std::pair("high", &band.high)}) {
      begin(mark, band.label.empty() ? band.name : band.label, panel_->y.label);
      for (std::size_t i = 0; i < band.x.size(); ++i) add_at(band.x[i], ends->at(i));
    }
  }
  void add(const PointMark& point) {
    begin("point", point.text, panel_->y.label);
    add_at(point.x, point.y);
  }
  void add(const Rule& rule) {
    begin("rule", rule.text, rule.vertical ? panel_->x.label : panel_->y.label);
    const std::string at = exact(rule.at);
    end(rule.vertical ? at : "", "", "", rule.vertical ? "" : at);
  }
  void add(const Bars& bars) {
    begin("bar", bars.label, panel_->y.label);
    for (std::size_t i = 0; i < std::min(bars.x.size(), bars.heights.size()); ++i) {
      add_at(bars.x[i], bars.heights[i]);
    }
  }
  void add(const HeatMap& map) {
    begin("cell", "", figure_.colour_scales.at(map.colour_scale).label);
    std::size_t index = 0;
    for (std::int64_t y = 0; y < map.rows; ++y) {
      for (std::int64_t x = 0; x < map.columns; ++x) {
        end(std::to_string(x), "", std::to_string(y), exact(map.values[index++]));
      }
    }
  }
  // Pictures and texts have no values.
  void add(const Picture&) {}
  void add(const TextMark&) {}

  /// Splits "equivalent_rank/softmax" into quantity and series, after the figure's letter on a
  /// page.
  void add_number(std::string name, const std::vector<double>& values) {
    std::string letter;
    for (std::size_t area = 0; area < figure_.areas.size() && letter.empty(); ++area) {
      const std::string start = panel_letter(area) + "/";
      if (!name.starts_with(start)) continue;
      letter = panel_letter(area);
      name.erase(0, start.size());
    }
    const std::size_t slash = std::min(name.find('/'), name.size());
    x_column_ = 0;
    start_ = letter + ",,,," + std::string(names_.size(), ',') + "number," +
             field(name.substr(std::min(slash + 1, name.size()))) + "," +
             field(name.substr(0, slash)) + ",";
    for (std::size_t i = 0; i < values.size(); ++i)
      end(std::to_string(i), "", "", exact(values[i]));
  }

  /// Sets the columns that all values of a mark share.
  void begin(std::string_view mark, const std::string& series, const std::string& quantity) {
    x_column_ = 0;
    start_ = (figure_.areas.empty() ? "" : panel_letter(panel_->area)) + "," +
             std::to_string(panel_->row) + "," + std::to_string(panel_->column) + "," +
             field(panel_->title) + ",";
    for (const std::string& name : names_) {
      for (const Keys* keys : {keys_, &panel_->keys}) {
        const auto found = std::find_if(keys->begin(), keys->end(),
                                        [&](const auto& key) { return key.first == name; });
        if (found == keys->end()) continue;
        start_ += field(found->second);
        break;
      }
      if (name == panel_->x.key) x_column_ = start_.size();
      start_ += ",";
    }
    start_ += mark;
    start_ += "," + field(series) + "," + field(quantity) + ",";
  }

  void end(const std::string& x, const std::string& x_label, const std::string& y,
           const std::string& value) {
    std::string start = start_;
    if (x_column_ > 0) start.insert(x_column_, x);  // the column of the x axis's key
    out_ += start + x + "," + x_label + "," + y + "," + value + "\n";
  }

  void add_at(double x, double value) {
    std::string label;
    for (const Tick& tick : panel_->x.ticks) {
      if (tick.value == x && tick.label != rounded_text(x, 6)) label = field(tick.label);
    }
    end(exact(x), label, "", exact(value));
  }

  const Figure& figure_;
  std::vector<std::string> names_;
  const Panel* panel_ = nullptr;
  const Keys* keys_ = nullptr;  // keys of the current mark
  std::string start_, out_;
  std::size_t x_column_ = 0;  // position in start_ of the x axis's key column; 0: none
};

struct Column {
  std::string name, meaning;
};

std::vector<Column> csv_columns(const Figure& figure) {
  std::vector<Column> columns = {
      {"figure", "letter of the figure on a page; empty where there is but one"},
      {"panel_row", "place of the panel in its figure's grid, from 0; empty for numbers"},
      {"panel_column", "as panel_row"},
      {"panel", "title of the panel"}};
  for (const std::string& name : key_names(figure)) columns.push_back({name, "what it belongs to"});
  columns.insert(columns.end(),
                 {{"mark",
                   "line, low and high (of a band), point, rule, bar, cell (of a map) or "
                   "number (printed in tables)"},
                  {"series", "label of the line, band, bars, point or rule"},
                  {"quantity", "what the value is, with its unit"},
                  {"x", "place on the x axis; of a cell its column, of a number its index, from 0"},
                  {"x_label", "label of this position on the x axis, if it is not numeric"},
                  {"y", "of a cell its row, from 0"},
                  {"value", "the number"}});
  return columns;
}

}  // namespace

std::string figure_as_csv(const Figure& figure) {
  if (figure.table) return table_as_csv(*figure.table);
  std::string header;
  for (const Column& column : csv_columns(figure)) {
    header += (header.empty() ? "" : ",") + csv_field(column.name);
  }
  return header + "\n" + Lines(figure).write();
}

std::string csv_comments(const Figure& figure) {
  std::string out;
  for (const auto& [name, text] : provenance_of(figure)) out += "# " + name + ": " + text + "\n";
  return out;
}

std::string csv_metadata(const Figure& figure, const std::string& file_name) {
  Json json = {{"@context", "http://www.w3.org/ns/csvw"},
               {"url", file_name},
               {"dc:title", figure.title},
               {"dc:description", figure.caption}};
  for (const auto& [name, text] : provenance_of(figure)) json["notes"][name] = text;
  Json& columns = json["tableSchema"]["columns"] = Json::array();
  if (figure.table) {
    for (const std::string& heading : figure.table->header)
      columns.push_back({{"titles", heading}});
  } else {
    for (const Column& column : csv_columns(figure)) {
      columns.push_back({{"titles", column.name}, {"dc:description", column.meaning}});
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
