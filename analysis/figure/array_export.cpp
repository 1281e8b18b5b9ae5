#include "analysis/figure/array_export.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "analysis/figure/figure.h"

namespace attnscope {

namespace {

std::string numbered(const char* name, std::size_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "%s_%02zu", name, index);
  return text;
}

Shape list_of(std::size_t size) { return {static_cast<std::int64_t>(size)}; }

/// Writes one mark at its path; one overload per kind of mark.
class MarkArrays {
 public:
  MarkArrays(ArrayFile& file, const Figure& figure, const Panel& panel, std::string path)
      : file_(file), figure_(figure), panel_(panel), path_(std::move(path)) {}

  void operator()(const Line& line) {
    about("line", line.label.empty() ? line.name : line.label, line.keys);
    curve(line.x, "y", line.y);
  }
  void operator()(const Band& band) {
    about("band", band.label.empty() ? band.name : band.label, band.keys);
    list("low", band.low);
    curve(band.x, "high", band.high, {"low"});
  }
  void operator()(const PointMark& point) {
    about("point", point.text, point.keys);
    list("x", {point.x});
    list("y", {point.y});
  }
  void operator()(const Rule& rule) {
    about("rule", rule.text, {});
    list(rule.vertical ? "x" : "y", {rule.at});
  }
  void operator()(const HeatMap& map) {
    about("heat map", "", map.keys);
    file_.array(path_ + "/values", {map.rows, map.columns}, std::span<const float>(map.values));
    list("y", indices(map.rows));
    list("x", indices(map.columns));
    file_.plot(path_, "values", {}, {"y", "x"},
               {figure_.colour_scales.at(map.colour_scale).label, "row", "column"});
  }
  void operator()(const Picture& picture) {
    about("picture", "", {});
    const Image& image = picture.image;
    file_.array(path_ + "/pixels", {image.height, image.width, image.channels},
                std::span<const std::uint8_t>(image.pixels));
  }
  void operator()(const Bars& bars) {
    about("bars", bars.label, bars.keys);
    curve(bars.x, "y", bars.heights);
  }
  void operator()(const TextMark& text) {
    about("text", text.text, {});
    list("x", {text.x});
    list("y", {text.y});
  }

 private:
  void about(const char* kind, const std::string& label, const Keys& keys) {
    file_.text(path_, "kind", kind);
    if (!label.empty()) file_.text(path_, "label", label);
    for (const auto& [name, value] : keys) file_.text(path_, name, value);
  }

  void list(const std::string& name, const std::vector<double>& values) {
    file_.array(path_ + "/" + name, list_of(values.size()), std::span<const double>(values));
  }

  void curve(const std::vector<double>& x, const std::string& name, const std::vector<double>& y,
             const std::vector<std::string>& others = {}) {
    list("x", x);
    list(name, y);
    if (x.size() == y.size() && !x.empty()) {
      file_.plot(path_, name, others, {"x"}, {panel_.y.label, panel_.x.label});
    }
  }

  static std::vector<double> indices(std::int64_t count) {
    std::vector<double> list(static_cast<std::size_t>(count));
    std::iota(list.begin(), list.end(), 0.0);
    return list;
  }

  ArrayFile& file_;
  const Figure& figure_;
  const Panel& panel_;
  std::string path_;
};

/// Name of a group for a part of a number's name. A part that file formats reserve, or that is
/// "values" (a component of attention has that name), gets a trailing '_'.
std::string group_name(const std::string& part) {
  const std::string stem = part.substr(0, part.find_last_not_of('_') + 1);
  return stem.empty() || stem == "." || stem == "values" ? part + "_" : part;
}

/// Path of the number `name` in the group "numbers".
std::string number_path(const std::string& name) {
  std::string path = "numbers";
  for (std::size_t first = 0; first <= name.size();) {
    const std::size_t slash = std::min(name.find('/', first), name.size());
    path += "/" + group_name(name.substr(first, slash - first));
    first = slash + 1;
  }
  return path;
}

void write_panel(const Figure& figure, const Panel& panel, const std::string& path,
                 ArrayFile& file) {
  file.text(path, "title", panel.title);
  if (!panel.letter.empty()) file.text(path, "letter", panel.letter);
  file.number(path, "area", static_cast<std::int64_t>(panel.area));
  file.number(path, "row", panel.row);
  file.number(path, "column", panel.column);
  file.text(path, "x_label", panel.x.label);
  file.text(path, "y_label", panel.y.label);
  for (const auto& [name, value] : panel.keys) file.text(path, name, value);
  for (std::size_t index = 0; index < panel.marks.size(); ++index) {
    std::visit(MarkArrays(file, figure, panel, path + "/" + numbered("mark", index)),
               panel.marks[index]);
  }
}

/// Name of an attribute: "Models" → "models"; the description is the caption.
std::string attribute_name(std::string name) {
  if (name == "Description") return "caption";
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

}  // namespace

void write_arrays(const Figure& figure, ArrayFile& file) {
  file.text("", "format", "attnscope-figure");
  file.text("", "name", figure.name);
  for (const auto& [name, text] : provenance_of(figure)) file.text("", attribute_name(name), text);
  for (std::size_t index = 0; index < figure.panels.size(); ++index) {
    write_panel(figure, figure.panels[index], numbered("panel", index), file);
  }
  for (const auto& [name, values] : figure.numbers) {
    // "values" keeps a number apart from numbers whose names continue its own.
    file.array(number_path(name) + "/values", list_of(values.size()),
               std::span<const double>(values));
  }
  if (figure.table) {
    const Table& table = *figure.table;
    std::vector<std::string> cells = table.header;
    for (const auto& row : table.rows) cells.insert(cells.end(), row.begin(), row.end());
    file.array("table",
               {static_cast<std::int64_t>(table.rows.size()) + 1,
                static_cast<std::int64_t>(table.header.size())},
               cells);
  }
}

}  // namespace attnscope
