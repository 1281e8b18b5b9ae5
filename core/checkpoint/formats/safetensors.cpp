// safetensors: 8 bytes header length (little-endian), a JSON header
// {"name": {"dtype": "F32", "shape": [...], "data_offsets": [begin, end]}, "__metadata__": {...}},
// then the bytes the offsets refer to, without holes or overlaps. Only the header is read here.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/checkpoint/formats/readers.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

using nlohmann::json;

// Longest header in bytes, the limit of the reference implementation.
constexpr std::uint64_t longest_header = 100'000'000;
/// Limits for half a million tensors, at about eight JSON values each.
constexpr JsonLimits header_limits{.depth = 16, .elements = 4'000'000};

std::uint64_t header_length(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length;
}

std::optional<DType> dtype_named(std::string_view name) {
  constexpr std::pair<std::string_view, DType> names[] = {
      {"F64", DType::f64},     {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16},
      {"I64", DType::i64},     {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},
      {"U64", DType::u64},     {"U32", DType::u32}, {"U16", DType::u16}, {"U8", DType::u8},
      {"BOOL", DType::boolean}};
  for (const auto& [known, dtype] : names) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

struct Entry {
  std::string name;
  DType dtype;
  const BlockLayout* blocks;  // layout of 8-bit floating-point numbers, else null
  Shape shape;
  std::uint64_t begin, end;  // bytes after the header
};

/// The member `key` as a list of integers from 0 to 2^62, `count` of them unless `count` is
/// negative.
std::vector<std::int64_t> whole_numbers(const json& entry, const char* key, int count) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array() ||
      (count >= 0 && list->size() != static_cast<std::size_t>(count))) {
    throw Error(ErrorKind::damaged,
                std::string("'") + key + "' is missing or not a list of numbers");
  }
  std::vector<std::int64_t> numbers;
  for (const json& item : *list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > (std::uint64_t{1} << 62)) {
      throw Error(ErrorKind::damaged, std::string("'") + key + "' holds an impossible number")
          .found(item.dump());
    }
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

Entry read_entry(const std::string& name, const json& entry, std::uint64_t data_size) {
  if (!entry.is_object()) throw Error(ErrorKind::damaged, "its header entry is not an object");
  const auto dtype_name = entry.find("dtype");
  if (dtype_name == entry.end() || !dtype_name->is_string()) {
    throw Error(ErrorKind::damaged, "'dtype' is missing or not a string");
  }
  const auto& type = dtype_name->get_ref<const std::string&>();
  const BlockLayout* const blocks = type == kFloat8.name ? &kFloat8 : nullptr;
  const std::optional<DType> dtype = blocks ? DType::quantised : dtype_named(type);
  if (!dtype) {
    throw Error(ErrorKind::unsupported, "the element type is not supported")
        .found(type)
        .remedy("convert the tensor to F32, F16 or BF16");
  }
  Shape shape = whole_numbers(entry, "shape", -1);
  const std::vector<std::int64_t> offsets = whole_numbers(entry, "data_offsets", 2);
  const auto begin = static_cast<std::uint64_t>(offsets[0]);
  const auto end = static_cast<std::uint64_t>(offsets[1]);
  if (begin > end || end > data_size) {
    throw Error(ErrorKind::damaged, "the tensor's data lie outside the file")
        .expected("bytes 0 to " + std::to_string(data_size))
        .found(std::to_string(begin) + " to " + std::to_string(end))
        .remedy("the file may be truncated; fetch it again");
  }
  const std::int64_t bytes = blocks ? byte_count(shape, *blocks) : byte_count(shape, *dtype);
  if (static_cast<std::uint64_t>(bytes) != end - begin) {
    throw Error(ErrorKind::damaged, "shape and element type do not fit the number of bytes")
        .expected(to_string(shape) + " " + std::string(blocks ? blocks->name : name_of(*dtype)) +
                  ", " + std::to_string(bytes) + " bytes")
        .found(std::to_string(end - begin));
  }
  return {name, *dtype, blocks, std::move(shape), begin, end};
}

std::map<std::string, std::string> read_metadata(const json& entry) {
  std::map<std::string, std::string> metadata;
  if (!entry.is_object()) {
    throw Error(ErrorKind::damaged, "is not an object").about("__metadata__");
  }
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) {
      throw Error(ErrorKind::damaged, "'" + key + "' is not a string").about("__metadata__");
    }
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

/// Sorts by offset and refuses overlaps, and bytes that belong to no tensor.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_size) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t reached = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < reached) {
      throw Error(ErrorKind::damaged, "the tensor's data overlap those of another")
          .about(entry.name)
          .expected("a start at byte " + std::to_string(reached))
          .found(std::to_string(entry.begin));
    }
    if (entry.begin > reached) {
      throw Error(ErrorKind::damaged, "bytes before the tensor belong to none")
          .about(entry.name)
          .expected("a start at byte " + std::to_string(reached))
          .found(std::to_string(entry.begin));
    }
    reached = entry.end;
  }
  if (reached != data_size) {
    throw Error(ErrorKind::damaged, "bytes at the end belong to no tensor")
        .expected(std::to_string(reached) + " bytes of data")
        .found(std::to_string(data_size));
  }
}

}  // namespace

bool recognises_safetensors(const std::filesystem::path&, FileHead head) {
  return head.size() > 8 && head[8] == std::byte{'{'} && header_length(head) <= longest_header;
}

Checkpoint open_safetensors(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() < 9) {
    throw Error(ErrorKind::damaged, "the file is too short for a header")
        .found(std::to_string(bytes.size()) + " bytes");
  }
  const std::uint64_t length = header_length(bytes);
  if (length > longest_header) {
    throw Error(ErrorKind::damaged, "the header's length is absurd")
        .expected("at most " + std::to_string(longest_header) + " bytes")
        .found(std::to_string(length));
  }
  if (length > bytes.size() - 8) {
    throw Error(ErrorKind::damaged, "the file ends inside its header")
        .expected(std::to_string(length) + " bytes of header")
        .found(std::to_string(bytes.size() - 8))
        .remedy("fetch it again");
  }
  const std::uint64_t data_start = 8 + length;
  const std::uint64_t data_size = bytes.size() - data_start;
  const json header =
      parse_json({reinterpret_cast<const char*>(bytes.data()) + 8, length}, header_limits);
  if (!header.is_object()) throw Error(ErrorKind::damaged, "the header is not a JSON object");

  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      metadata = read_metadata(entry);
      continue;
    }
    try {
      entries.push_back(read_entry(name, entry, data_size));
    } catch (Error& error) {
      error.about(name);
      throw;
    }
  }
  check_layout(entries, data_size);

  std::vector<StoredTensor> tensors;
  tensors.reserve(entries.size());
  for (Entry& entry : entries) {
    auto view = [file, offset = data_start + entry.begin, dtype = entry.dtype,
                 blocks = entry.blocks, shape = entry.shape] {
      TensorView elements = view_of(file, offset, blocks ? DType::u8 : dtype, shape);
      if (blocks) elements.dtype = dtype;
      elements.blocks = blocks;
      return elements;
    };
    tensors.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape),
                       static_cast<std::int64_t>(entry.end - entry.begin), std::move(view),
                       entry.blocks});
  }
  return {path, "safetensors", std::move(tensors), std::move(metadata)};
}

}  // namespace attnscope
