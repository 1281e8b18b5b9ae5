#include <algorithm>
#include <cstdio>

#include "analysis/figure/text_export.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"

namespace attnscope {

namespace {

std::string numbered(const char* name, std::size_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "%s_%02zu", name, index);
  return text;
}

Shape list_of(std::size_t size) { return {static_cast<std::int64_t>(size)}; }

/// Writes one mark at its path; one overload a kind.
class MarkData {
 public:
  MarkData(Hdf5Writer& file, std::string path) : file_(file), path_(std::move(path)) {
    file_.group(path_);
  }

  void operator()(const Line& line) {
    kind("line", line.label);
    list("x", line.x);
    list("y", line.y);
  }
  void operator()(const Band& band) {
    kind("band", band.label);
    list("x", band.x);
    list("low", band.low);
    list("high", band.high);
  }
  void operator()(const PointMark& point) {
    kind("point", point.text);
    list("x", {point.x});
    list("y", {point.y});
  }
  void operator()(const Rule& rule) {
    kind("rule", rule.text);
    list(rule.vertical ? "x" : "y", {rule.at});
  }
  void operator()(const HeatMap& map) {
    kind("heat map", "");
    file_.data(path_ + "/values", {map.rows, map.columns}, std::span<const float>(map.values));
  }
  void operator()(const Picture& picture) {
    kind("picture", "");
    const Image& image = picture.image;
    file_.data(path_ + "/pixels", {image.height, image.width, image.channels},
               std::span<const std::uint8_t>(image.pixels));
  }
  void operator()(const Bars& bars) {
    kind("bars", bars.label);
    list("x", bars.x);
    list("y", bars.heights);
  }
  void operator()(const TextMark& text) {
    kind("text", text.text);
    list("x", {text.x});
    list("y", {text.y});
  }

 private:
  void kind(const char* name, const std::string& label) {
    file_.attribute(path_, "kind", std::string(name));
    if (!label.empty()) file_.attribute(path_, "label", label);
  }
  void list(const char* name, const std::vector<double>& values) {
    file_.data(path_ + "/" + name, list_of(values.size()), std::span<const double>(values));
  }

  Hdf5Writer& file_;
  std::string path_;
};

/// A part of a number's name as the name of a group: one that means something to HDF5, or is that
/// of the values themselves (a component of attention is called so), goes on with '_'.
std::string group_name(const std::string& part) {
  const std::string stem = part.substr(0, part.find_last_not_of('_') + 1);
  return stem.empty() || stem == "." || stem == "values" ? part + "_" : part;
}

/// A name as a path below /numbers.
std::string number_path(const std::string& name) {
  std::string path = "/numbers";
  for (std::size_t first = 0; first <= name.size();) {
    const std::size_t slash = std::min(name.find('/', first), name.size());
    path += "/" + group_name(name.substr(first, slash - first));
    first = slash + 1;
  }
  return path;
}

void write_panel(Hdf5Writer& file, const std::string& path, const Panel& panel) {
  file.group(path);
  file.attribute(path, "title", panel.title);
  if (!panel.letter.empty()) file.attribute(path, "letter", panel.letter);
  file.attribute(path, "area", static_cast<std::int64_t>(panel.area));
  file.attribute(path, "row", panel.row);
  file.attribute(path, "column", panel.column);
  file.attribute(path, "x_label", panel.x.label);
  file.attribute(path, "y_label", panel.y.label);
  for (std::size_t index = 0; index < panel.marks.size(); ++index) {
    std::visit(MarkData(file, path + "/" + numbered("mark", index)), panel.marks[index]);
  }
}

}  // namespace

std::string figure_as_hdf5(const Figure& figure) {
  Hdf5Writer file;
  file.attribute("/", "format", std::string("attnscope-figure"));
  file.attribute("/", "name", figure.name);
  file.attribute("/", "title", figure.title);
  file.attribute("/", "caption", figure.caption);
  file.attribute("/", "command", figure.command);
  for (std::size_t index = 0; index < figure.panels.size(); ++index) {
    write_panel(file, "/" + numbered("panel", index), figure.panels[index]);
  }
  for (const auto& [name, values] : figure.numbers) {
    // A number whose name goes on under another's is kept beside it.
    file.data(number_path(name) + "/values", list_of(values.size()),
              std::span<const double>(values));
  }
  if (figure.table) {
    const Table& table = *figure.table;
    std::vector<std::string> cells = table.header;
    for (const auto& row : table.rows) cells.insert(cells.end(), row.begin(), row.end());
    file.data("/table",
              {static_cast<std::int64_t>(table.rows.size()) + 1,
               static_cast<std::int64_t>(table.header.size())},
              cells);
  }
  return file.bytes();
}

}  // namespace attnscope
