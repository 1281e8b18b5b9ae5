#include "analysis/figure/figure_bytes.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::string_view sign = "attnscope figure ";
constexpr std::string_view version_line = "attnscope figure " ATTNSCOPE_VERSION "\n";

// The members of each type, in the order in which they are written.
auto members(Colour& c) { return std::tie(c.red, c.green, c.blue, c.alpha); }
auto members(Line& m) {
  return std::tie(m.label, m.x, m.y, m.colour, m.style, m.marker, m.width_pt, m.name, m.keys);
}
auto members(Band& m) { return std::tie(m.label, m.x, m.low, m.high, m.colour, m.name, m.keys); }
auto members(PointMark& m) { return std::tie(m.x, m.y, m.text, m.colour, m.drop_lines, m.keys); }
auto members(Rule& m) { return std::tie(m.at, m.vertical, m.text, m.colour, m.style); }
auto members(HeatMap& m) {
  return std::tie(m.rows, m.columns, m.values, m.colour_scale, m.opacity, m.missing, m.keys);
}
auto members(Picture& m) {
  return std::tie(m.image.width, m.image.height, m.image.channels, m.image.pixels);
}
auto members(Bars& m) { return std::tie(m.label, m.x, m.heights, m.width, m.colour, m.keys); }
auto members(TextMark& m) { return std::tie(m.x, m.y, m.text, m.colour, m.align); }
auto members(Tick& t) { return std::tie(t.value, t.label); }
auto members(Axis& a) {
  return std::tie(a.label, a.minimum, a.maximum, a.logarithmic, a.visible, a.ticks, a.turned_ticks,
                  a.key);
}
auto members(Panel& p) {
  return std::tie(p.row, p.column, p.title, p.letter, p.x, p.y, p.marks, p.legend, p.square_cells,
                  p.reversed_y, p.area, p.keys);
}
auto members(FigureArea& a) { return std::tie(a.x_mm, a.y_mm, a.width_mm, a.height_mm, a.title); }
auto members(ColourScale& s) {
  return std::tie(s.label, s.colour_map, s.minimum, s.maximum, s.norm, s.reversed, s.bar_area);
}
auto members(Table& t) { return std::tie(t.header, t.rows, t.text_columns); }
auto members(Figure& f) {
  return std::tie(f.name, f.title, f.show_title, f.width_mm, f.height_mm, f.font_family,
                  f.font_size_pt, f.panels, f.colour_scales, f.areas, f.shared_legend, f.table,
                  f.caption, f.command, f.models, f.numbers);
}

constexpr int last_of(LineStyle) { return static_cast<int>(LineStyle::dash_dotted); }
constexpr int last_of(MarkerShape) { return static_cast<int>(MarkerShape::cross); }
constexpr int last_of(TextAlign) { return static_cast<int>(TextAlign::start); }
constexpr int last_of(LegendPosition) { return static_cast<int>(LegendPosition::below); }
constexpr int last_of(ScaleNorm) { return static_cast<int>(ScaleNorm::symmetric_logarithmic); }

template <class T>
concept HasMembers = requires(T& value) {
  members(value);
};
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

constexpr int last_mark = static_cast<int>(std::variant_size_v<Mark>) - 1;

/// Appends values to bytes.
class FigureWriter {
 public:
  explicit FigureWriter(std::string& bytes) : bytes_(bytes) {}

  template <Number T>
  void operator()(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(bool value) { bytes_ += value ? '\1' : '\0'; }
  template <class T>
  requires std::is_enum_v<T>
  void operator()(T value) { (*this)(static_cast<std::uint8_t>(value)); }
  void operator()(std::string& text) {
    (*this)(std::uint64_t{text.size()});
    bytes_ += text;
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    (*this)(std::uint64_t{values.size()});
    if constexpr (Number<T>) {
      bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    } else {
      for (T& value : values) (*this)(value);
    }
  }
  template <class First, class Second>
  void operator()(std::pair<First, Second>& pair) {
    (*this)(pair.first);
    (*this)(pair.second);
  }
  void operator()(std::map<std::string, std::vector<double>>& numbers) {
    (*this)(std::uint64_t{numbers.size()});
    for (auto& [name, values] : numbers) {
      std::string key = name;
      (*this)(key);
      (*this)(values);
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  void operator()(Mark& mark) {
    (*this)(static_cast<std::uint8_t>(mark.index()));
    std::visit(*this, mark);
  }
  template <HasMembers T>
  void operator()(T& value) {
    std::apply([this](auto&... member) { ((*this)(member), ...); }, members(value));
  }

 private:
  std::string& bytes_;
};

[[noreturn]] void refuse_bytes(const std::string& rule) {
  throw Error(ErrorKind::damaged, "the figure's bytes are damaged: " + rule);
}

/// Reads what FigureWriter wrote. Memory grows only by what the bytes hold.
class FigureReader {
 public:
  explicit FigureReader(std::string_view bytes) : bytes_(bytes) {}

  template <Number T>
  void operator()(T& value) {
    std::memcpy(&value, take(sizeof value), sizeof value);
  }
  void operator()(bool& value) { value = choice(1) != 0; }
  template <class T>
  requires std::is_enum_v<T>
  void operator()(T& value) { value = static_cast<T>(choice(last_of(T{}))); }
  void operator()(std::string& text) {
    const std::size_t size = count();
    text.assign(take(size), size);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    const std::size_t size = count();
    if constexpr (Number<T>) {
      if (size > bytes_.size() / sizeof(T)) refuse_bytes("they end early");
      values.resize(size);
      if (size > 0) std::memcpy(values.data(), take(size * sizeof(T)), size * sizeof(T));
    } else {
      for (std::size_t i = 0; i < size; ++i) (*this)(values.emplace_back());
    }
  }
  template <class First, class Second>
  void operator()(std::pair<First, Second>& pair) {
    (*this)(pair.first);
    (*this)(pair.second);
  }
  void operator()(std::map<std::string, std::vector<double>>& numbers) {
    const std::size_t size = count();
    for (std::size_t i = 0; i < size; ++i) {
      std::string name;
      (*this)(name);
      (*this)(numbers[name]);
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (choice(1) != 0) (*this)(value.emplace());
  }
  void operator()(Mark& mark) {
    make_mark(mark, static_cast<std::size_t>(choice(last_mark)),
              std::make_index_sequence<std::variant_size_v<Mark>>());
    std::visit(*this, mark);
  }
  template <HasMembers T>
  void operator()(T& value) {
    std::apply([this](auto&... member) { ((*this)(member), ...); }, members(value));
  }

  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }

 private:
  const char* take(std::size_t size) {
    if (size > bytes_.size()) refuse_bytes("they end early");
    const char* const start = bytes_.data();
    bytes_.remove_prefix(size);
    return start;
  }
  /// A number of elements, each of which takes at least one byte.
  std::size_t count() {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes_.size()) refuse_bytes("they end early");
    return static_cast<std::size_t>(size);
  }
  int choice(int last) {
    std::uint8_t value = 0;
    (*this)(value);
    if (value > last) refuse_bytes("a choice is unknown");
    return value;
  }
  template <std::size_t... kind>
  static void make_mark(Mark& mark, std::size_t index, std::index_sequence<kind...>) {
    ((index == kind ? void(mark.emplace<kind>()) : void()), ...);
  }

  std::string_view bytes_;
};

/// Checks the sizes and indices of one mark.
struct MarkCheck {
  const Figure& figure;

  void operator()(const Line& line) const { same(line.x.size(), line.y.size()); }
  void operator()(const Band& band) const {
    same(band.x.size(), band.low.size());
    same(band.x.size(), band.high.size());
  }
  void operator()(const Bars& bars) const { same(bars.x.size(), bars.heights.size()); }
  void operator()(const HeatMap& map) const {
    cells({map.rows, map.columns}, map.values.size());
    if (map.colour_scale >= figure.colour_scales.size()) refuse_bytes("a colour scale is missing");
  }
  void operator()(const Picture& picture) const {
    const Image& image = picture.image;
    if (image.channels != 1 && image.channels != 3) refuse_bytes("a picture has 1 or 3 channels");
    cells({image.width, image.height, image.channels}, image.pixels.size());
  }
  template <class Other>
  void operator()(const Other&) const {}

  static void same(std::size_t one, std::size_t other) {
    if (one != other) refuse_bytes("coordinates differ in number");
  }
  static void cells(std::initializer_list<std::int64_t> sizes, std::size_t held) {
    std::size_t product = 1;
    for (const std::int64_t size : sizes) {
      if (size < 1 || static_cast<std::size_t>(size) > held / product) {
        refuse_bytes("a size differs from the number of cells");
      }
      product *= static_cast<std::size_t>(size);
    }
    if (product != held) refuse_bytes("a size differs from the number of cells");
  }
};

void check_figure(const Figure& figure) {
  constexpr std::int64_t most_cells = 1000;  // rows or columns of panels
  const std::size_t areas = std::max<std::size_t>(figure.areas.size(), 1);
  for (const double length : {figure.width_mm, figure.height_mm, figure.font_size_pt}) {
    if (!(length > 0 && length < 100'000)) refuse_bytes("a length is out of range");
  }
  for (const Panel& panel : figure.panels) {
    if (panel.area >= areas) refuse_bytes("an area is missing");
    if (std::min(panel.row, panel.column) < 0 || std::max(panel.row, panel.column) > most_cells) {
      refuse_bytes("a panel is outside the grid");
    }
    for (const Mark& mark : panel.marks) std::visit(MarkCheck{figure}, mark);
  }
  for (const ColourScale& scale : figure.colour_scales) {
    if (scale.bar_area && *scale.bar_area >= areas) refuse_bytes("an area is missing");
  }
  if (!figure.table) return;
  for (const auto& row : figure.table->rows) {
    if (row.size() != figure.table->header.size()) refuse_bytes("a row has other columns");
  }
}

}  // namespace

std::string figure_as_bytes(Figure figure) {
  std::string bytes(version_line);
  FigureWriter{bytes}(figure);
  return bytes;
}

bool holds_figure(std::string_view bytes) { return bytes.starts_with(sign); }

Figure figure_of_bytes(std::string_view bytes) {
  if (!holds_figure(bytes)) refuse_bytes("they begin otherwise");
  if (!bytes.starts_with(version_line)) {
    const std::string_view line = bytes.substr(0, bytes.find('\n')).substr(0, 60);
    throw Error(ErrorKind::unsupported, "the figure was made by another version")
        .expected(ATTNSCOPE_VERSION)
        .found(std::string(line.substr(sign.size())))
        .remedy("install the Python package and the program of the same version");
  }
  FigureReader reader(bytes.substr(version_line.size()));
  Figure figure;
  reader(figure);
  if (!reader.is_at_end()) refuse_bytes("bytes follow its end");
  check_figure(figure);
  return figure;
}

}  // namespace attnscope
