#include <memory>
#include <utility>

#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/hdf5/hdf5_file.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

bool recognises_hdf5(const std::filesystem::path&, FileHead head) {
  constexpr unsigned char signature[4] = {0x89, 'H', 'D', 'F'};
  if (head.size() < 4) return false;
  for (std::size_t place = 0; place < 4; ++place) {
    if (head[place] != std::byte{signature[place]}) return false;
  }
  return true;
}

Checkpoint open_hdf5(const std::filesystem::path& path) {
  const auto file = std::make_shared<const Hdf5Id>(open_hdf5_file(path));
  try {
    std::map<std::string, std::string> metadata = hdf5_attributes(path, *file, "/");
    const auto format = metadata.find("format");
    const bool ours = format != metadata.end() && format->second == "attnscope-model";
    std::vector<std::string> skipped;
    // The whole file is walked even for our own layout: it must not hide a link to elsewhere.
    std::vector<StoredTensor> tensors = hdf5_data_sets(path, file, "/", skipped);
    if (ours) {
      const std::string group = "tensors/";
      std::erase_if(tensors, [&](const auto& tensor) { return !tensor.name.starts_with(group); });
      for (StoredTensor& tensor : tensors) tensor.name.erase(0, group.size());
      if (tensors.empty()) {
        throw Error(ErrorKind::damaged, "a model file without data sets under /tensors");
      }
    }
    if (!skipped.empty()) {
      metadata.emplace("data sets that are not numeric", name_list(skipped));
    }
    return {path, "hdf5", std::move(tensors), std::move(metadata)};
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

}  // namespace attnscope
