#include "core/checkpoint/gguf/gguf_header.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "core/checkpoint/byte_cursor.h"
#include "core/error.h"

namespace attnscope {

namespace {

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

}  // namespace

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

}  // namespace attnscope
