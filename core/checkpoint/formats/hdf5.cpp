#include <map>
#include <string>
#include <utility>

#include "core/checkpoint/format_version.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/hdf5/hdf5_file.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Throws Error(unsupported) for a file of the program's own in another version of its format.
void check_format_version(const std::map<std::string, std::string>& attributes) {
  const auto format = attributes.find("format"), version = attributes.find("format_version");
  if (format == attributes.end() || !format->second.starts_with("attnscope-")) return;
  const std::string expected = std::to_string(kFormatVersion);
  if (version == attributes.end() || version->second == expected) return;
  throw Error(ErrorKind::unsupported, "the file was written in another version of its format")
      .about("format_version")
      .expected(expected)
      .found(version->second)
      .remedy("open it with the version of attnscope that wrote it");
}

}  // namespace

bool recognises_hdf5(const std::filesystem::path&, FileHead head) {
  constexpr unsigned char signature[4] = {0x89, 'H', 'D', 'F'};
  if (head.size() < 4) return false;
  for (std::size_t place = 0; place < 4; ++place) {
    if (head[place] != std::byte{signature[place]}) return false;
  }
  return true;
}

Checkpoint open_hdf5(const std::filesystem::path& path) {
  // The whole file is listed even for our own layout, so that it cannot hide a link to another
  // file.
  Hdf5File file = read_hdf5(path);
  check_format_version(file.metadata);
  const auto format = file.metadata.find("format");
  if (format != file.metadata.end() && format->second == "attnscope-model") {
    const std::string group = "tensors/";
    std::erase_if(file.tensors,
                  [&](const StoredTensor& tensor) { return !tensor.name.starts_with(group); });
    for (StoredTensor& tensor : file.tensors) tensor.name.erase(0, group.size());
    if (file.tensors.empty()) {
      throw Error(ErrorKind::damaged, "the model file has no data sets under /tensors");
    }
  }
  return {path, "hdf5", std::move(file.tensors), std::move(file.metadata)};
}

}  // namespace attnscope
