#include "core/file/read_file.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

bool is_entry(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  if (file->size() > most) {
    throw Error(ErrorKind::damaged, "the file is too large")
        .in_file(path)
        .expected("at most " + std::to_string(most) + " bytes")
        .found(std::to_string(file->size()));
  }
  return read_unchanged(*file, [&] {
    return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  });
}

nlohmann::json read_json_file(const std::filesystem::path& path, std::size_t most,
                              const JsonLimits& limits) {
  const std::string text = read_file(path, most);
  return with_file(path, [&] { return parse_json(text, limits); });
}

std::string name_of_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
  } catch (const std::filesystem::filesystem_error& problem) {
    throw Error(ErrorKind::io, "cannot be read: " + problem.code().message())
        .in_file(problem.path1());
  }
  std::ranges::sort(folders);
  return folders;
}

}  // namespace attnscope
