#include "analysis/sweep/content_hash.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <xxhash.h>

#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

/// XXH3 with 64 bits; as fast as memory is read.
class ContentHash {
 public:
  ContentHash() { XXH3_64bits_reset(state_.get()); }
  void add(const void* bytes, std::size_t count) { XXH3_64bits_update(state_.get(), bytes, count); }
  [[nodiscard]] std::string text() const {
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits_digest(state_.get())));
    return digits.data();
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_{XXH3_createState(),
                                                                  &XXH3_freeState};
};

void add_file(ContentHash& hash, const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  hash.add(file->bytes().data(), file->size());
  file->check_unchanged();
}

/// Adds the names, sizes and times of all files inside: reading a million pictures takes minutes.
void add_folder(ContentHash& hash, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      files.push_back(entry.path().lexically_relative(folder).string() + "\n" +
                      std::to_string(entry.file_size()) + "\n" +
                      std::to_string(entry.last_write_time().time_since_epoch().count()));
    }
  } catch (const fs::filesystem_error& problem) {
    throw Error(ErrorKind::io, "cannot be read: " + problem.code().message())
        .in_file(problem.path1().empty() ? folder : problem.path1());
  }
  std::ranges::sort(files);
  for (const std::string& file : files) hash.add(file.c_str(), file.size() + 1);
}

}  // namespace

std::string content_hash(const std::vector<std::filesystem::path>& paths) {
  ContentHash hash;
  for (const std::filesystem::path& path : paths) {
    if (std::filesystem::is_directory(path)) {
      add_folder(hash, path);
    } else {
      add_file(hash, path);
    }
  }
  return hash.text();
}

std::string content_hash(const std::vector<NamedTensors>& layers) {
  ContentHash hash;
  for (const NamedTensors& layer : layers) {
    for (const auto& [name, tensor] : layer) {
      hash.add(name.data(), name.size());
      hash.add(tensor.data(), static_cast<std::size_t>(tensor.size()) * sizeof(float));
    }
  }
  return hash.text();
}

std::string content_hash(const std::string& text) {
  ContentHash hash;
  hash.add(text.data(), text.size());
  return hash.text();
}

}  // namespace attnscope
