// Flax (flax_model.msgpack): nested maps whose leaves are arrays, as flax.serialization writes
// them. An array is an extension of type 1 (a scalar: 3) that holds (shape, name of the element
// type, bytes) in MessagePack; an array above 1 GiB is a map of its shape and its chunks.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/formats/readers.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

// ---- MessagePack ----
// The tree of an untrusted file's values, with byte arrays left in place. Format:
// github.com/msgpack/msgpack, spec.md. No library is used because the existing ones copy every
// array into their own values or need Boost.

struct MsgpackMember;

struct MsgpackValue {
  enum class Kind { nil, boolean, integer, real, text, binary, list, map, extension };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;  ///< also the value of a boolean and the type of an extension
  double real = 0;
  std::span<const std::byte> bytes;  ///< content of text, binary and extension, in place
  /// Members of lists and maps. Those of a list are named "0", "1", …
  std::vector<MsgpackMember> members;

  [[nodiscard]] const MsgpackValue* find(std::string_view name) const;
};

using MsgpackKind = MsgpackValue::Kind;

struct MsgpackMember {
  std::string name;
  MsgpackValue value;
};

constexpr int deepest_value = 32;
constexpr std::size_t most_values = 1'000'000;

Error broken_msgpack(const std::string& what) { return Error(ErrorKind::damaged, what); }

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : cursor_(bytes) {}

  MsgpackValue read(int depth) {
    if (depth > deepest_value) throw broken_msgpack("values are nested too deeply");
    if (++values_ > most_values) throw broken_msgpack("the file has too many values");
    const std::uint64_t tag = cursor_.big(1);
    if (tag <= 0x7F) return whole(static_cast<std::int64_t>(tag));
    if (tag <= 0x8F) return map(tag & 0x0F, depth);
    if (tag <= 0x9F) return list(tag & 0x0F, depth);
    if (tag <= 0xBF) return bytes(MsgpackKind::text, tag & 0x1F);
    if (tag >= 0xE0) return whole(static_cast<std::int64_t>(tag) - 256);
    const auto width = [tag](std::uint64_t first) { return std::size_t{1} << (tag - first); };
    switch (tag) {
      case 0xC0:
        return {};
      case 0xC2:
      case 0xC3:
        return {MsgpackKind::boolean, static_cast<std::int64_t>(tag - 0xC2), 0, {}, {}};
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return bytes(MsgpackKind::binary, cursor_.big(width(0xC4)));
      case 0xC7:
      case 0xC8:
      case 0xC9:
        return extension(cursor_.big(width(0xC7)));
      case 0xCA:
        return real(std::bit_cast<float>(static_cast<std::uint32_t>(cursor_.big(4))));
      case 0xCB:
        return real(std::bit_cast<double>(cursor_.big(8)));
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        return unsigned_whole(cursor_.big(width(0xCC)));
      case 0xD0:
        return whole(static_cast<std::int8_t>(cursor_.big(1)));
      case 0xD1:
        return whole(static_cast<std::int16_t>(cursor_.big(2)));
      case 0xD2:
        return whole(static_cast<std::int32_t>(cursor_.big(4)));
      case 0xD3:
        return whole(static_cast<std::int64_t>(cursor_.big(8)));
      case 0xD4:
      case 0xD5:
      case 0xD6:
      case 0xD7:
      case 0xD8:
        return extension(width(0xD4));
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return bytes(MsgpackKind::text, cursor_.big(width(0xD9)));
      case 0xDC:
      case 0xDD:
        return list(cursor_.big(2 * width(0xDC)), depth);
      case 0xDE:
      case 0xDF:
        return map(cursor_.big(2 * width(0xDE)), depth);
      default:
        throw broken_msgpack("a value has an unknown type byte");
    }
  }

  [[nodiscard]] bool at_end() const { return cursor_.remaining() == 0; }

 private:
  static MsgpackValue whole(std::int64_t value) { return {MsgpackKind::integer, value, 0, {}, {}}; }
  static MsgpackValue real(double value) { return {MsgpackKind::real, 0, value, {}, {}}; }
  static MsgpackValue unsigned_whole(std::uint64_t value) {
    return value >> 63 == 0 ? whole(static_cast<std::int64_t>(value))
                            : real(static_cast<double>(value));
  }
  MsgpackValue bytes(MsgpackKind kind, std::uint64_t count) {
    return {kind, 0, 0, cursor_.take(count), {}};
  }
  MsgpackValue extension(std::uint64_t count) {
    const auto type = static_cast<std::int8_t>(cursor_.big(1));
    return {MsgpackKind::extension, type, 0, cursor_.take(count), {}};
  }
  MsgpackValue list(std::uint64_t count, int depth) {
    MsgpackValue value{MsgpackKind::list, 0, 0, {}, {}};
    for (std::uint64_t i = 0; i < count; ++i) {
      value.members.push_back({std::to_string(i), read(depth + 1)});
    }
    return value;
  }
  MsgpackValue map(std::uint64_t count, int depth) {
    MsgpackValue value{MsgpackKind::map, 0, 0, {}, {}};
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < count; ++i) {
      const MsgpackValue key = read(depth + 1);
      if (key.kind != MsgpackKind::text && key.kind != MsgpackKind::integer)
        throw broken_msgpack("a key is neither a string nor an integer");
      std::string name =
          key.kind == MsgpackKind::integer
              ? std::to_string(key.integer)
              : std::string(reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size());
      if (!names.insert(name).second) throw broken_msgpack("a key occurs twice").about(name);
      MsgpackValue member = read(depth + 1);
      value.members.push_back({std::move(name), std::move(member)});
    }
    return value;
  }

  ByteCursor cursor_;
  std::size_t values_ = 0;
};

const MsgpackValue* MsgpackValue::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

/// Reads `bytes` as a single value. Throws Error(damaged) if it is truncated or followed by further
/// bytes, nested more than 32 deep, has more than a million values, or has keys that are duplicate
/// or not text.
MsgpackValue read_msgpack(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  MsgpackValue value = reader.read(0);
  if (!reader.at_end()) throw broken_msgpack("bytes follow after the last value");
  return value;
}

constexpr std::string_view chunked_mark = "__msgpack_chunked_array__";

std::string_view text_of(const MsgpackValue& value) {
  return {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
}

DType flax_dtype(std::string_view name) {
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
        DType::i8, DType::u64, DType::u32, DType::u16, DType::u8, DType::boolean}) {
    if (name_of(dtype) == name) return dtype;
  }
  throw Error(ErrorKind::unsupported, "the element type is not supported")
      .found(std::string(name))
      .remedy("save it as float32");
}

std::int64_t extent_of(const MsgpackValue& value) {
  if (value.kind != MsgpackKind::integer || value.integer < 0) {
    throw Error(ErrorKind::damaged, "the array's shape is not a list of dimensions");
  }
  return value.integer;
}

struct Array {
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> elements;
};

void check_size(const Shape& shape, DType dtype, std::uint64_t found) {
  const std::int64_t bytes = byte_count(shape, dtype);
  if (static_cast<std::uint64_t>(bytes) != found) {
    throw Error(ErrorKind::damaged, "the array's shape does not fit its bytes")
        .expected(to_string(shape) + " " + std::string(name_of(dtype)) + ", " +
                  std::to_string(bytes) + " bytes")
        .found(std::to_string(found));
  }
}

Array read_array(std::span<const std::byte> bytes) {
  const MsgpackValue parts = read_msgpack(bytes);
  const auto is_text = [](const MsgpackValue& value) {
    return value.kind == MsgpackKind::text || value.kind == MsgpackKind::binary;
  };
  if (parts.kind != MsgpackKind::list || parts.members.size() != 3 ||
      parts.members[0].value.kind != MsgpackKind::list || !is_text(parts.members[1].value) ||
      !is_text(parts.members[2].value)) {
    throw Error(ErrorKind::damaged, "the array is not (shape, type, bytes)");
  }
  Array array;
  for (const auto& [place, extent] : parts.members[0].value.members) {
    array.shape.push_back(extent_of(extent));
  }
  array.dtype = flax_dtype(text_of(parts.members[1].value));
  array.elements = parts.members[2].value.bytes;
  check_size(array.shape, array.dtype, array.elements.size());
  return array;
}

/// The members "0", "1", … of a map, which is how Flax writes a tuple.
std::vector<const MsgpackValue*> tuple(const MsgpackValue* map) {
  constexpr std::size_t longest = 4096;
  std::vector<const MsgpackValue*> items;
  if (map != nullptr && map->members.size() > longest) {
    throw Error(ErrorKind::damaged, "the array has absurdly many chunks");
  }
  for (std::size_t i = 0; map != nullptr && i < map->members.size(); ++i) {
    items.push_back(map->find(std::to_string(i)));
    if (items.back() == nullptr) break;
  }
  if (map == nullptr || (!items.empty() && items.back() == nullptr)) {
    throw Error(ErrorKind::damaged, "the array's chunks are incomplete");
  }
  return items;
}

class ArrayCollector {
 public:
  explicit ArrayCollector(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  void visit(const MsgpackValue& value, const std::string& name) {
    try {
      if (value.kind == MsgpackKind::extension && (value.integer == 1 || value.integer == 3)) {
        add(name, read_array(value.bytes));
      } else if (value.kind == MsgpackKind::map && value.find(chunked_mark) != nullptr) {
        add_chunked(name, value);
      } else if (value.kind == MsgpackKind::map || value.kind == MsgpackKind::list) {
        for (const auto& [key, member] : value.members) {
          visit(member, name.empty() ? key : name + "/" + key);
        }
      } else {
        note(name, value);
      }
    } catch (Error& error) {
      if (error.subject().empty()) error.about(name);
      throw;
    }
  }

  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;

 private:
  void add(const std::string& name, Array array) {
    const auto bytes = static_cast<std::int64_t>(array.elements.size());
    auto view = [file = file_, array] {
      return TensorView{array.dtype, array.shape, TensorView::contiguous_strides(array.shape),
                        array.elements.data(), file};
    };
    tensors.push_back({name, array.dtype, std::move(array.shape), bytes, std::move(view)});
  }

  void add_chunked(const std::string& name, const MsgpackValue& value) {
    Array whole;
    for (const MsgpackValue* extent : tuple(value.find("shape"))) {
      whole.shape.push_back(extent_of(*extent));
    }
    std::vector<std::span<const std::byte>> chunks;
    std::uint64_t bytes = 0;
    for (const MsgpackValue* item : tuple(value.find("chunks"))) {
      if (item->kind != MsgpackKind::extension || item->integer != 1) {
        throw Error(ErrorKind::damaged, "a chunk is not an array");
      }
      const Array chunk = read_array(item->bytes);
      if (!chunks.empty() && chunk.dtype != whole.dtype) {
        throw Error(ErrorKind::damaged, "the array's chunks have different element types");
      }
      whole.dtype = chunk.dtype;
      chunks.push_back(chunk.elements);
      bytes += chunk.elements.size();
    }
    check_size(whole.shape, whole.dtype, bytes);
    auto view = [file = file_, whole, chunks, bytes] {
      return read_unchanged(*file, [&] {
        auto joined = std::make_shared<std::vector<std::byte>>();
        joined->reserve(bytes);
        for (const auto& chunk : chunks) joined->insert(joined->end(), chunk.begin(), chunk.end());
        return TensorView{whole.dtype, whole.shape, TensorView::contiguous_strides(whole.shape),
                          joined->data(), joined};
      });
    };
    tensors.push_back(
        {name, whole.dtype, whole.shape, static_cast<std::int64_t>(bytes), std::move(view)});
  }

  void note(const std::string& name, const MsgpackValue& value) {
    constexpr std::size_t longest = 4096;
    if (metadata.size() >= most_metadata) return;
    switch (value.kind) {
      case MsgpackKind::boolean:
        metadata.emplace(name, value.integer != 0 ? "true" : "false");
        break;
      case MsgpackKind::integer:
        metadata.emplace(name, std::to_string(value.integer));
        break;
      case MsgpackKind::real:
        metadata.emplace(name, rounded_text(value.real, 9));
        break;
      case MsgpackKind::text:
        metadata.emplace(name, text_of(value).substr(0, longest));
        break;
      case MsgpackKind::extension:
        if (value.integer == 2) {
          metadata.emplace(name, "a complex number");
          break;
        }
        throw Error(ErrorKind::unsupported, "the value's type is not supported")
            .found("extension type " + std::to_string(value.integer));
      default:
        break;
    }
  }

  std::shared_ptr<const MappedFile> file_;
};

}  // namespace

bool recognises_flax(const std::filesystem::path& path, FileHead head) {
  if (head.empty() || path.extension() != ".msgpack") return false;
  const auto first = std::to_integer<unsigned>(head[0]);
  return (first >= 0x80 && first <= 0x8F) || first == 0xDE || first == 0xDF;
}

Checkpoint open_flax(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const MsgpackValue root = read_msgpack(file->bytes());
  if (root.kind != MsgpackKind::map) {
    throw Error(ErrorKind::not_this_format, "is MessagePack, but not a map of named arrays");
  }
  ArrayCollector collector(file);
  collector.visit(root, "");
  return {path, "flax", std::move(collector.tensors), std::move(collector.metadata)};
}

}  // namespace attnscope
