// Keras 3 (.keras): a zip archive of config.json (the model's layers), metadata.json, and
// model.weights.h5, whose data sets are the tensors.
#include <utility>

#include "core/checkpoint/formats/keras_names.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/hdf5/hdf5_file.h"
#include "core/error.h"
#include "core/file/zip_archive.h"

namespace attnscope {

namespace {

constexpr const char* weights_name = "model.weights.h5";

/// Adds a text of the archive to the metadata, under the attribute name of Keras's older HDF5
/// files.
void add_text(const ZipArchive& archive, const char* entry_name, const char* key,
              std::map<std::string, std::string>& metadata) {
  constexpr std::uint64_t longest = 16 << 20;  // bytes
  const ZipEntry* const entry = archive.find(entry_name);
  if (entry == nullptr) return;
  if (entry->size > longest) {
    throw Error(ErrorKind::damaged, "is absurdly long")
        .about(entry_name)
        .found(std::to_string(entry->size) + " bytes");
  }
  const ZipBytes text = archive.read(*entry);
  metadata.insert_or_assign(
      key, std::string(reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()));
}

/// Replaces the file's paths by the names of the user's layers.
void take_names(Hdf5File& file) {
  const auto config = file.metadata.find("model_config");
  if (config == file.metadata.end()) return;
  std::vector<std::string> paths;
  for (const StoredTensor& tensor : file.tensors) paths.push_back(tensor.name);
  const std::vector<std::string> names = keras_names(paths, config->second);
  for (std::size_t i = 0; i < names.size(); ++i) file.tensors[i].name = names[i];
}

}  // namespace

bool recognises_keras(const std::filesystem::path& path, FileHead head) {
  return is_zip(head) && path.extension() == ".keras";
}

Checkpoint open_keras(const std::filesystem::path& path) {
  const ZipArchive archive(MappedFile::open(path));
  const ZipEntry* const weights = archive.find(weights_name);
  if (weights == nullptr) {
    throw Error(ErrorKind::not_this_format, "is a zip archive, but not one that Keras wrote")
        .expected(std::string("an entry ") + weights_name);
  }
  const ZipBytes file = archive.read(*weights);
  Hdf5File inner = read_hdf5(file.bytes, file.storage, path);
  add_text(archive, "config.json", "model_config", inner.metadata);
  add_text(archive, "metadata.json", "keras", inner.metadata);
  take_names(inner);
  return {path, "keras", std::move(inner.tensors), std::move(inner.metadata)};
}

}  // namespace attnscope
