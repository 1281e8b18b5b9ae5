#include "core/file/overwrite.h"

#include <mutex>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

using Identity = std::pair<dev_t, ino_t>;

/// All files that this process has read.
struct FilesRead {
  std::mutex mutex;
  std::set<Identity> files;
};
FilesRead& files_read_so_far() {
  static FilesRead all;
  return all;
}

Error would_replace(const std::filesystem::path& output, std::string found) {
  return Error(ErrorKind::usage, "the output would replace what is read")
      .in_file(output)
      .found(std::move(found))
      .remedy("give the output another name");
}

/// Of what `path` leads to; nothing if that is neither a file nor a folder.
std::optional<Identity> identity_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

/// Whether `file` stands in `folder` or in a folder inside it.
bool lies_in(const std::filesystem::path& file, const Identity& folder) {
  std::error_code unknown;
  std::filesystem::path above = std::filesystem::weakly_canonical(file, unknown);
  while (!unknown && above.has_relative_path()) {
    above = above.parent_path();
    if (identity_of(above) == folder) return true;
  }
  return false;
}

}  // namespace

void refuse_to_overwrite(const std::filesystem::path& output,
                         std::span<const std::filesystem::path> inputs) {
  const std::optional<Identity> written = identity_of(output);
  if (!written) return;
  for (const std::filesystem::path& input : inputs) {
    const std::optional<Identity> read = identity_of(input);
    if (!read) continue;
    const bool same = read == written;
    if (!same && !(std::filesystem::is_directory(input) && lies_in(output, *read))) continue;
    throw would_replace(output, (same ? "the same file as " : "a file inside ") + input.string());
  }
}

void note_read(const struct stat& status) {
  FilesRead& all = files_read_so_far();
  const std::lock_guard lock(all.mutex);
  all.files.emplace(status.st_dev, status.st_ino);
}

void refuse_to_overwrite_read(const std::filesystem::path& output) {
  const std::optional<Identity> written = identity_of(output);
  if (!written) return;
  FilesRead& all = files_read_so_far();
  const std::lock_guard lock(all.mutex);
  if (all.files.contains(*written)) throw would_replace(output, "a file that was read");
}

}  // namespace attnscope
