#include "core/checkpoint/formats/npy_header.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/platform/file_mapping.h"

namespace attnscope {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

Error broken_header(std::string_view what) {
  return Error(ErrorKind::damaged, "the array's header is broken: " + std::string(what));
}

/// Reads the header, which is a Python dictionary: {'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 4), }
class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_spaces();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) throw broken_header(std::string("'") + wanted + "' is missing");
  }
  std::string_view quoted() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"'))
      throw broken_header("a quoted string is missing");
    const char quote = rest_[0];
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) throw broken_header("a quoted string is not closed");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(std::strlen(word));
      return value;
    }
    throw broken_header("fortran_order is neither True nor False");
  }
  Shape tuple() {
    constexpr std::size_t most_axes = 32;  // NumPy's own limit
    Shape shape;
    expect('(');
    while (!take(')')) {
      skip_spaces();
      std::int64_t extent = -1;
      const auto [end, problem] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (problem != std::errc() || extent < 0) throw broken_header("an impossible dimension");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      shape.push_back(extent);
      if (shape.size() > most_axes) throw broken_header("too many axes");
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  /// True if the element type is a list (a record type), for the error message.
  [[nodiscard]] bool at_list() {
    skip_spaces();
    return rest_.starts_with('[');
  }

 private:
  void skip_spaces() {
    const std::size_t start = rest_.find_first_not_of(" \n\t\r");
    rest_.remove_prefix(std::min(start, rest_.size()));
  }
  std::string_view rest_;
};

std::optional<DType> dtype_of(char kind, std::string_view size) {
  constexpr std::pair<std::string_view, DType> types[] = {
      {"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i8", DType::i64},
      {"i4", DType::i32}, {"i2", DType::i16}, {"i1", DType::i8},  {"u8", DType::u64},
      {"u4", DType::u32}, {"u2", DType::u16}, {"u1", DType::u8},  {"b1", DType::boolean},
      {"V2", DType::bf16}};  // JAX's bfloat16, which NumPy stores as two raw bytes
  for (const auto& [name, dtype] : types) {
    if (name[0] == kind && name.substr(1) == size) return dtype;
  }
  return std::nullopt;
}

void read_element_type(std::string_view text, NpyHeader& header) {
  const bool has_order = !text.empty() && std::string_view("<>|=").find(text[0]) != text.npos;
  const std::string_view type = has_order ? text.substr(1) : text;
  if (type.starts_with('O')) {
    throw Error(ErrorKind::unsupported, "the array holds Python objects, which are pickled code")
        .found("dtype object")
        .remedy("save it as an array of numbers");
  }
  const std::optional<DType> dtype =
      type.empty() ? std::nullopt : dtype_of(type[0], type.substr(1));
  if (!dtype) {
    throw Error(ErrorKind::unsupported, "the element type is not supported")
        .found("dtype '" + std::string(text) + "'")
        .remedy("save it as float32");
  }
  header.dtype = *dtype;
  header.big_endian = text.starts_with('>') && size_of(*dtype) > 1;
}

}  // namespace

bool is_npy(std::span<const std::byte> start) {
  return start.size() >= magic.size() && std::memcmp(start.data(), magic.data(), magic.size()) == 0;
}

NpyHeader read_npy_header(std::span<const std::byte> start) {
  if (!is_npy(start)) throw Error(ErrorKind::damaged, "is not a .npy array");
  if (start.size() < 12) throw broken_header("it is truncated");
  const unsigned version = std::to_integer<unsigned>(start[6]);
  if (version < 1 || version > 3) {
    throw Error(ErrorKind::unsupported, "the .npy version is unknown")
        .found(std::to_string(version));
  }
  const std::size_t length_width = version == 1 ? 2 : 4;
  std::uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, length_width);
  const std::size_t text_start = 8 + length_width;
  if (length > 65536) throw broken_header("its length is absurd, " + std::to_string(length));
  if (length > start.size() - text_start) throw broken_header("it is truncated");

  NpyHeader header;
  header.data_offset = text_start + length;
  DictionaryReader reader(
      {reinterpret_cast<const char*>(start.data()) + text_start, std::size_t{length}});
  bool has_type = false, has_order = false, has_shape = false;
  reader.expect('{');
  while (!reader.take('}')) {
    const std::string_view key = reader.quoted();
    reader.expect(':');
    bool* seen = nullptr;
    if (key == "descr") {
      if (reader.at_list()) {
        throw Error(ErrorKind::unsupported, "the array holds records, not numbers")
            .remedy("save each field as an array of its own");
      }
      read_element_type(reader.quoted(), header);
      seen = &has_type;
    } else if (key == "fortran_order") {
      header.fortran_order = reader.truth();
      seen = &has_order;
    } else if (key == "shape") {
      header.shape = reader.tuple();
      seen = &has_shape;
    } else {
      throw broken_header("an unknown key '" + std::string(key) + "'");
    }
    if (std::exchange(*seen, true)) throw broken_header("a key occurs twice");
    if (!reader.take(',')) {
      reader.expect('}');
      break;
    }
  }
  if (!has_type || !has_order || !has_shape) throw broken_header("a key is missing");
  return header;
}

TensorView view_npy(const NpyHeader& header, std::span<const std::byte> elements,
                    std::shared_ptr<const void> storage) {
  const std::int64_t bytes = byte_count(header.shape, header.dtype);
  if (static_cast<std::uint64_t>(bytes) != elements.size()) {
    throw Error(ErrorKind::damaged, "the array's shape does not fit its bytes")
        .expected(to_string(header.shape) + " " + std::string(name_of(header.dtype)) + ", " +
                  std::to_string(bytes) + " bytes")
        .found(std::to_string(elements.size()))
        .remedy("the file may be truncated; fetch it again");
  }
  TensorView view{header.dtype, header.shape, TensorView::contiguous_strides(header.shape),
                  elements.data(), std::move(storage)};
  if (header.fortran_order) {
    view.strides = TensorView::contiguous_strides({header.shape.rbegin(), header.shape.rend()});
    std::reverse(view.strides.begin(), view.strides.end());
  }
  if (header.big_endian) {
    auto turned = std::make_shared<std::vector<std::byte>>(elements.begin(), elements.end());
    const auto width = static_cast<std::ptrdiff_t>(size_of(header.dtype));
    for (auto element = turned->begin(); element != turned->end(); element += width) {
      std::reverse(element, element + width);
    }
    check_unchanged(elements.data());
    view.data = turned->data();
    view.storage = std::move(turned);
  }
  return view;
}

}  // namespace attnscope
