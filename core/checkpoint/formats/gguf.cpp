// GGUF: the format of llama.cpp. A model may be split into several files; the first one has the
// keys.
#include <memory>
#include <utility>

#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/gguf/gguf_header.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

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
