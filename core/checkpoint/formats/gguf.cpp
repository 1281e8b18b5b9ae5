// GGUF: the format of llama.cpp (ggml, docs/gguf.md). The header has keys and values, and the
// position of each tensor. A model may be split into several files; the first one has the keys.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/key_values.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

namespace {

struct GgufTensor {
  std::string name;
  DType dtype = DType::f32;
  const BlockLayout* blocks = nullptr;  ///< layout of dtype quantised, else null
  Shape shape;                          ///< slowest axis first; the file has the fastest first
  std::int64_t bytes = 0;
  std::uint64_t offset = 0;  ///< file offset; offset + bytes is inside the file
};

struct GgufHeader {
  std::shared_ptr<const KeyValues> keys;
  std::vector<GgufTensor> tensors;  ///< in the file's order
};

constexpr std::uint64_t longest_name = 1024;  // bytes; ggml allows 63
constexpr std::uint32_t most_axes = 8;        // ggml: 4

std::optional<DType> plain_type(std::uint32_t ggml_type) {
  constexpr std::pair<std::uint32_t, DType> types[] = {
      {0, DType::f32},  {1, DType::f16},  {24, DType::i8},  {25, DType::i16},
      {26, DType::i32}, {27, DType::i64}, {28, DType::f64}, {30, DType::bf16}};
  for (const auto& [number, dtype] : types) {
    if (number == ggml_type) return dtype;
  }
  return std::nullopt;
}

void check_start(ByteCursor& cursor) {
  const std::string magic(cursor.text(4));
  if (magic == "tjgg" || magic == "fmgg" || magic == "lmgg") {
    throw Error(ErrorKind::unsupported, "is a file of GGUF's predecessors (GGML, GGMF, GGJT)")
        .remedy("convert the model to GGUF again with a current llama.cpp");
  }
  const auto version = cursor.little<std::uint32_t>();
  if (magic == "FUGG" || (magic == "GGUF" && version != 0 && (version & 0xFFFF) == 0)) {
    throw Error(ErrorKind::unsupported, "is a big-endian GGUF file")
        .remedy("convert it with gguf_convert_endian.py of llama.cpp");
  }
  if (magic != "GGUF") throw Error(ErrorKind::not_this_format, "is not a GGUF file");
  if (version != 2 && version != 3) {
    throw Error(ErrorKind::unsupported, "the GGUF version is unknown")
        .expected("2 or 3")
        .found(std::to_string(version));
  }
}

/// Reads a tensor's record; `offset` is still relative to the start of the data.
GgufTensor read_tensor(ByteCursor& cursor) {
  GgufTensor tensor;
  const auto length = cursor.little<std::uint64_t>();
  if (length > longest_name) {
    throw Error(ErrorKind::damaged, "a tensor's name is absurdly long")
        .found(std::to_string(length) + " bytes");
  }
  tensor.name = cursor.text(length);
  try {
    const auto axes = cursor.little<std::uint32_t>();
    if (axes > most_axes) {
      throw Error(ErrorKind::damaged, "the tensor has too many axes").found(std::to_string(axes));
    }
    for (std::uint32_t axis = 0; axis < axes; ++axis) {
      const auto extent = cursor.little<std::uint64_t>();
      if (extent > std::uint64_t{1} << 62) {
        throw Error(ErrorKind::damaged, "a tensor is too large to exist")
            .found(std::to_string(extent));
      }
      tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(extent));
    }
    const auto type = cursor.little<std::uint32_t>();
    if (const std::optional<DType> plain = plain_type(type)) {
      tensor.dtype = *plain;
      tensor.bytes = byte_count(tensor.shape, *plain);
    } else if ((tensor.blocks = block_layout(type)) != nullptr) {
      tensor.dtype = DType::quantised;
      tensor.bytes = byte_count(tensor.shape, *tensor.blocks);
    } else {
      throw Error(ErrorKind::unsupported, "the element type is unknown")
          .found("ggml type " + std::to_string(type));
    }
    tensor.offset = cursor.little<std::uint64_t>();
  } catch (Error& error) {
    error.about(tensor.name);
    throw;
  }
  return tensor;
}

std::uint64_t alignment_of(const KeyValues& keys) {
  const std::int64_t alignment = keys.whole("general.alignment").value_or(32);
  if (alignment < 1 || alignment > 1 << 30 ||
      !std::has_single_bit(static_cast<std::uint64_t>(alignment))) {
    throw Error(ErrorKind::damaged, "the alignment is not a power of two")
        .about("general.alignment")
        .found(std::to_string(alignment));
  }
  return static_cast<std::uint64_t>(alignment);
}

/// Makes the offset relative to the start of the file, after checking it.
void place(GgufTensor& tensor, std::uint64_t data, std::uint64_t alignment,
           std::uint64_t file_size) {
  const auto bytes = static_cast<std::uint64_t>(tensor.bytes);
  if (tensor.offset % alignment != 0) {
    throw Error(ErrorKind::damaged, "the tensor's offset is not aligned")
        .about(tensor.name)
        .expected("a multiple of " + std::to_string(alignment))
        .found(std::to_string(tensor.offset));
  }
  const std::uint64_t room = data > file_size ? 0 : file_size - data;
  if (tensor.offset > room || bytes > room - tensor.offset) {
    throw Error(ErrorKind::damaged, "the tensor's data lie outside the file")
        .about(tensor.name)
        .expected(std::to_string(bytes) + " bytes at " + std::to_string(tensor.offset) +
                  " of the data")
        .found(std::to_string(room) + " bytes of data")
        .remedy("the file may be truncated; fetch it again");
  }
  tensor.offset += data;
}

void check_overlaps(const std::vector<GgufTensor>& tensors) {
  std::vector<const GgufTensor*> sorted;
  for (const GgufTensor& tensor : tensors) {
    if (tensor.bytes > 0) sorted.push_back(&tensor);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const GgufTensor& before = *sorted[i - 1];
    if (before.offset + static_cast<std::uint64_t>(before.bytes) > sorted[i]->offset) {
      throw Error(ErrorKind::damaged, "the tensor's data overlap those of " + before.name)
          .about(sorted[i]->name);
    }
  }
}

/// Reads the header. Throws Error(damaged) for data that is truncated, outside the file,
/// overlapping or duplicate, and Error(unsupported) for big-endian files, version 1, GGUF's
/// predecessors and element types of unknown size.
GgufHeader read_gguf_header(const std::shared_ptr<const MappedFile>& file) {
  ByteCursor cursor(file->bytes());
  check_start(cursor);
  const auto tensors = cursor.little<std::uint64_t>();
  const auto keys = cursor.little<std::uint64_t>();
  GgufHeader header;
  header.keys = std::make_shared<const KeyValues>(KeyValues::read(file, cursor, keys));

  // Bytes of a name's length, axes, type and offset.
  constexpr std::size_t shortest = 8 + 4 + 4 + 8;
  if (tensors > cursor.remaining() / shortest) {
    throw Error(ErrorKind::damaged, "the file claims more tensors than fit into it")
        .found(std::to_string(tensors));
  }
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    header.tensors.push_back(read_tensor(cursor));
    if (!names.insert(header.tensors.back().name).second) {
      throw Error(ErrorKind::damaged, "two tensors have the same name")
          .about(header.tensors.back().name);
    }
  }
  const std::uint64_t alignment = alignment_of(*header.keys);
  const std::uint64_t data = (cursor.position() + alignment - 1) / alignment * alignment;
  for (GgufTensor& tensor : header.tensors) place(tensor, data, alignment, file->size());
  check_overlaps(header.tensors);
  return header;
}

constexpr std::int64_t most_parts = 4096;

StoredTensor stored(const std::filesystem::path& path,
                    const std::shared_ptr<const MappedFile>& file, GgufTensor&& tensor) {
  auto view = [path, file, offset = tensor.offset, dtype = tensor.dtype, blocks = tensor.blocks,
               shape = tensor.shape, name = tensor.name] {
    try {
      if (blocks != nullptr) check_readable(*blocks);
    } catch (Error& error) {
      error.in_file(path).about(name);
      throw;
    }
    return TensorView{
        dtype, shape, TensorView::contiguous_strides(shape), file->bytes().data() + offset,
        file,  blocks};
  };
  return {std::move(tensor.name), tensor.dtype,    std::move(tensor.shape),
          tensor.bytes,           std::move(view), tensor.blocks};
}

GgufHeader header_of(const std::filesystem::path& path, std::shared_ptr<const MappedFile>& file) {
  return with_file(path, [&] {
    file = MappedFile::open(path);
    return read_unchanged(*file, [&] { return read_gguf_header(file); });
  });
}

/// Paths of all parts, in order.
std::vector<std::filesystem::path> parts_of(const std::filesystem::path& path,
                                            const KeyValues& keys, std::int64_t parts) {
  const std::int64_t here = keys.whole("split.no").value_or(0) + 1;  // counted from 0 in the file
  if (parts > most_parts || here < 1 || here > parts) {
    throw Error(ErrorKind::damaged, "the part number is out of range")
        .found("part " + std::to_string(here) + " of " + std::to_string(parts));
  }
  const std::optional<PartName> name = part_name(path.filename().string());
  if (!name || name->part != here || name->parts != parts) {
    throw Error(ErrorKind::unsupported, "the file is one part of a split model, but was renamed")
        .expected("a name that ends with " + PartName{"", here, parts}.text())
        .remedy("restore the names of all parts, or merge them with gguf-split --merge");
  }
  std::vector<std::filesystem::path> paths = part_paths(path);
  for (const std::filesystem::path& part : paths) {
    std::error_code ignored;
    if (!std::filesystem::exists(part, ignored)) {
      throw Error(ErrorKind::io, "a part of the split model is missing")
          .expected(part.filename().string())
          .remedy("fetch all parts into one folder");
    }
  }
  return paths;
}

void check_part(const KeyValues& keys, std::int64_t part, std::int64_t parts) {
  const std::int64_t number = keys.whole("split.no").value_or(-1);
  const std::int64_t count = keys.whole("split.count").value_or(-1);
  if (number == part && count == parts) return;
  throw Error(ErrorKind::damaged, "the part does not belong to the others")
      .expected("split.no " + std::to_string(part) + " of " + std::to_string(parts))
      .found(std::to_string(number) + " of " + std::to_string(count));
}

}  // namespace

bool recognises_gguf(const std::filesystem::path&, FileHead head) {
  if (head.size() < 8) return false;
  const std::string_view magic(reinterpret_cast<const char*>(head.data()), 4);
  return magic == "GGUF" || magic == "FUGG" || magic == "tjgg" || magic == "fmgg" ||
         magic == "lmgg";
}

Checkpoint open_gguf(const std::filesystem::path& path) {
  std::shared_ptr<const MappedFile> file;
  GgufHeader header = header_of(path, file);
  const std::int64_t parts = header.keys->whole("split.count").value_or(1);
  std::vector<StoredTensor> tensors;
  if (parts <= 1) {
    for (GgufTensor& tensor : header.tensors) {
      tensors.push_back(stored(path, file, std::move(tensor)));
    }
  } else {
    const std::vector<std::filesystem::path> paths = parts_of(path, *header.keys, parts);
    std::shared_ptr<const KeyValues> keys;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::filesystem::path& part_path = paths[static_cast<std::size_t>(part)];
      GgufHeader each = header_of(part_path, file);
      with_file(part_path, [&] { check_part(*each.keys, part, parts); });
      if (part == 0) keys = each.keys;
      for (GgufTensor& tensor : each.tensors) {
        tensors.push_back(stored(part_path, file, std::move(tensor)));
      }
    }
    header.keys = std::move(keys);
    const std::int64_t expected =
        header.keys->whole("split.tensors.count").value_or(std::ssize(tensors));
    if (expected != std::ssize(tensors)) {
      throw Error(ErrorKind::damaged,
                  "the parts' number of tensors differs from split.tensors.count")
          .expected(std::to_string(expected))
          .found(std::to_string(tensors.size()));
    }
  }
  std::map<std::string, std::string> metadata;
  for (const std::string& key : header.keys->keys()) metadata.emplace(key, header.keys->shown(key));
  Checkpoint checkpoint(path, "gguf", std::move(tensors), std::move(metadata));
  checkpoint.hold_key_values(std::move(header.keys));
  return checkpoint;
}

}  // namespace attnscope
