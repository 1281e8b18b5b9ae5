// llama2.c's .bin, as its export.py writes it: seven integers, then the weights of a Llama as
// float32, each weight for all layers in turn. Version 0 begins with the integers. Version 1 begins
// with "24ka", the version and the integers, and has the weights from byte 256 on. Names are
// Meta's, as in the exporting model. Version 2 has quantised weights and is refused.
#include <array>
#include <cstring>
#include <optional>

#include "core/checkpoint/formats/readers.h"
#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

constexpr std::uint32_t kMagic = 0x616b3432;
constexpr std::int64_t kHeader = 256;       // bytes, version 1
constexpr std::int64_t kLegacyHeader = 28;  // bytes, version 0
constexpr std::int64_t kGreatestExtent = 1 << 22, kMostLlamaLayers = 1024;

/// Dimensions from the header.
struct LlamaExtents {
  std::int64_t width, hidden, layers, heads, key_heads, vocabulary, context;
  bool shares_head = false;  ///< the output head shares the embedding table

  [[nodiscard]] bool possible() const {
    for (const std::int64_t extent :
         {width, hidden, layers, heads, key_heads, vocabulary, context}) {
      if (extent < 1 || extent > kGreatestExtent) return false;
    }
    return width % (2 * heads) == 0 && heads % key_heads == 0 && layers <= kMostLlamaLayers;
  }
};

struct LlamaTensor {
  std::string name;
  Shape shape;
};

std::int32_t whole_at(FileHead bytes, std::size_t offset) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

LlamaExtents extents_at(FileHead bytes, std::size_t offset) {
  std::array<std::int64_t, 7> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = whole_at(bytes, offset + 4 * i);
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]};
}

/// The tensors in the order of the file.
std::vector<LlamaTensor> layout_of(const LlamaExtents& e, bool legacy) {
  std::vector<LlamaTensor> tensors;
  const auto of_layers = [&](const std::string& name, const Shape& shape) {
    for (std::int64_t layer = 0; layer < e.layers; ++layer) {
      tensors.push_back({"layers." + std::to_string(layer) + "." + name + ".weight", shape});
    }
  };
  const std::int64_t head_width = e.width / e.heads, key_width = e.key_heads * head_width;
  const auto attention = [&] {
    of_layers("attention.wq", {e.width, e.width});
    of_layers("attention.wk", {key_width, e.width});
    of_layers("attention.wv", {key_width, e.width});
    of_layers("attention.wo", {e.width, e.width});
  };
  const auto mlp = [&] {
    of_layers("feed_forward.w1", {e.hidden, e.width});
    of_layers("feed_forward.w2", {e.width, e.hidden});
    of_layers("feed_forward.w3", {e.hidden, e.width});
  };
  const LlamaTensor embedding{"tok_embeddings.weight", {e.vocabulary, e.width}};
  const LlamaTensor last_norm{"norm.weight", {e.width}};
  if (legacy) tensors.push_back(embedding);
  of_layers("attention_norm", {e.width});
  if (legacy) attention();
  of_layers("ffn_norm", {e.width});
  if (legacy) mlp();
  tensors.push_back(last_norm);
  if (legacy) {
    for (const char* name : {"freqs_cos", "freqs_sin"}) {
      tensors.push_back({name, {e.context, head_width / 2}});
    }
  } else {
    tensors.push_back(embedding);
    attention();
    mlp();
  }
  if (!e.shares_head) tensors.push_back({"output.weight", {e.vocabulary, e.width}});
  return tensors;
}

std::uint64_t bytes_of(const std::vector<LlamaTensor>& tensors) {
  std::uint64_t sum = 0;
  for (const LlamaTensor& tensor : tensors) {
    sum += static_cast<std::uint64_t>(byte_count(tensor.shape, DType::f32));
  }
  return sum;
}

/// Dimensions of a version 0 file, where a negative vocabulary size means a separate output head.
/// Empty unless the file has the length that the dimensions imply, because version 0 has no magic
/// number.
std::optional<LlamaExtents> legacy_extents(FileHead bytes, std::uint64_t file_size) {
  if (bytes.size() < kLegacyHeader) return std::nullopt;
  LlamaExtents extents = extents_at(bytes, 0);
  extents.shares_head = extents.vocabulary > 0;
  extents.vocabulary = std::abs(extents.vocabulary);
  if (!extents.possible()) return std::nullopt;
  const bool fits = bytes_of(layout_of(extents, true)) + kLegacyHeader == file_size;
  return fits ? std::optional(extents) : std::nullopt;
}

bool has_magic(FileHead bytes) {
  return bytes.size() >= 8 && whole_at(bytes, 0) == static_cast<std::int32_t>(kMagic);
}

LlamaExtents headed_extents(FileHead bytes) {
  const std::int32_t version = whole_at(bytes, 4);
  if (version != 1) {
    throw Error(ErrorKind::unsupported, "this version of llama2.c's format is not supported")
        .expected("0 or 1, which have float32 weights")
        .found(std::to_string(version) + (version == 2 ? ", whose weights are quantised" : ""))
        .remedy("export it by export.py --version 1");
  }
  if (bytes.size() < kHeader) throw Error(ErrorKind::damaged, "the file ends inside its header");
  LlamaExtents extents = extents_at(bytes, 8);
  extents.shares_head = bytes[36] != std::byte{0};
  if (!extents.possible()) {
    throw Error(ErrorKind::damaged, "the dimensions in the header are impossible");
  }
  const std::uint64_t expected = bytes_of(layout_of(extents, false)) + kHeader;
  if (expected != bytes.size()) {
    throw Error(ErrorKind::damaged, "the dimensions in the header do not fit the number of bytes")
        .expected(std::to_string(expected) + " bytes")
        .found(std::to_string(bytes.size()))
        .remedy("the file may be truncated; fetch it again");
  }
  return extents;
}

}  // namespace

bool recognises_llama2c(const std::filesystem::path& path, FileHead head) {
  if (has_magic(head)) return true;
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  return !failure && legacy_extents(head, size).has_value();
}

Checkpoint open_llama2c(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const FileHead bytes = file->bytes();
  const bool legacy = !has_magic(bytes);
  std::optional<LlamaExtents> extents;
  if (legacy) {
    extents = legacy_extents(bytes, bytes.size());
  } else {
    extents = headed_extents(bytes);
  }
  if (!extents) throw Error(ErrorKind::not_this_format, "is not a file that llama2.c exported");
  std::vector<StoredTensor> tensors;
  std::uint64_t offset = legacy ? kLegacyHeader : kHeader;
  const auto add = [&](const std::string& name, const Shape& shape, std::uint64_t start) {
    tensors.push_back({name, DType::f32, shape, byte_count(shape, DType::f32),
                       [file, start, shape] { return view_of(file, start, DType::f32, shape); }});
  };
  std::uint64_t embedding = 0;
  for (const LlamaTensor& tensor : layout_of(*extents, legacy)) {
    if (tensor.name == "tok_embeddings.weight") embedding = offset;
    add(tensor.name, tensor.shape, offset);
    offset += static_cast<std::uint64_t>(byte_count(tensor.shape, DType::f32));
  }
  // The exported model has both names for the shared tensor.
  if (extents->shares_head) {
    add("output.weight", {extents->vocabulary, extents->width}, embedding);
  }
  return {path,
          "llama2c",
          std::move(tensors),
          {{"version", legacy ? "0" : "1"},
           {"n_heads", std::to_string(extents->heads)},
           {"n_kv_heads", std::to_string(extents->key_heads)},
           {"max_seq_len", std::to_string(extents->context)}}};
}

}  // namespace attnscope
