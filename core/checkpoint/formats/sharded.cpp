// A checkpoint in several files, listed in an index: {"metadata": {...}, "weight_map": {"name":
// "file"}}, or, without one, by the numbers in the files' names.
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/checkpoint/formats/readers.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/shown_text.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr std::size_t longest_index = 100'000'000;  // bytes
constexpr std::size_t most_shards = 4096;

/// Allows only files in the folder of the index, because an untrusted index must not reach
/// elsewhere.
void check_shard_name(const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty() || name == "." || name == ".." || path.has_parent_path() ||
      name.find('\0') != std::string::npos || name.find('\\') != std::string::npos) {
    throw Error(ErrorKind::damaged, "a shard must lie in the folder of its index").found(name);
  }
  if (name.ends_with(".json")) {
    throw Error(ErrorKind::damaged, "a shard cannot be an index itself").found(name);
  }
}

}  // namespace

bool recognises_sharded(const std::filesystem::path& path, FileHead head) {
  return path.string().ends_with(".index.json") && !head.empty() && head[0] == std::byte{'{'};
}

Checkpoint open_sharded(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  if (file->size() > longest_index) {
    throw Error(ErrorKind::damaged, "the index is absurdly long")
        .expected("at most " + std::to_string(longest_index) + " bytes")
        .found(std::to_string(file->size()));
  }
  const json index =
      parse_json({reinterpret_cast<const char*>(file->bytes().data()), file->size()});
  const auto weight_map = index.find("weight_map");
  if (weight_map == index.end() || !weight_map->is_object()) {
    throw Error(ErrorKind::not_this_format, "the JSON file has no 'weight_map'")
        .remedy("open the weight file itself");
  }
  std::map<std::string, Checkpoint> shards;
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
  for (const auto& [name, shard_name] : weight_map->items()) {
    if (!shard_name.is_string()) {
      throw Error(ErrorKind::damaged, "its file is not a string").about(name);
    }
    const auto& shard_file = shard_name.get_ref<const std::string&>();
    check_shard_name(shard_file);
    auto shard = shards.find(shard_file);
    if (shard == shards.end()) {
      if (shards.size() == most_shards) throw Error(ErrorKind::damaged, "it names too many files");
      shard = shards.emplace(shard_file, open_one_file(path.parent_path() / shard_file)).first;
      metadata.insert(shard->second.metadata().begin(), shard->second.metadata().end());
    }
    const StoredTensor* tensor = shard->second.find(shown_text(name));
    if (tensor == nullptr) {
      throw Error(ErrorKind::damaged, "the shard '" + shard_file + "' has no such tensor")
          .about(name);
    }
    tensors.push_back(*tensor);
  }
  return {path, "sharded", std::move(tensors), std::move(metadata)};
}

Checkpoint open_shards(const std::filesystem::path& path,
                       const std::vector<std::filesystem::path>& shards) {
  constexpr std::size_t shown = 8;
  std::vector<std::string> missing;
  for (const std::filesystem::path& shard : shards) {
    std::error_code ignored;
    if (std::filesystem::exists(shard, ignored)) continue;
    if (missing.size() == shown) missing.emplace_back("…");
    if (missing.size() < shown) missing.push_back(shard.filename().string());
  }
  if (!missing.empty()) {
    throw Error(ErrorKind::io, "the file is one shard of a model, and others are missing")
        .in_file(path)
        .expected("next to it " + name_list(missing))
        .remedy("fetch all " + std::to_string(shards.size()) + " shards into one folder");
  }
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
  for (const std::filesystem::path& shard : shards) {
    const Checkpoint part = open_one_file(shard);
    tensors.insert(tensors.end(), part.tensors().begin(), part.tensors().end());
    metadata.insert(part.metadata().begin(), part.metadata().end());
  }
  metadata["shards"] = std::to_string(shards.size()) + ", opened together by their names";
  return {path, "sharded", std::move(tensors), std::move(metadata)};
}

}  // namespace attnscope
