#include "core/file/overwrite.h"

#include <mutex>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <utility>

#include "core/error.h"
#include "core/platform/file_identity.h"

namespace attnscope {

namespace {

using Identity = std::pair<dev_t, ino_t>;

/// All files that this process has read.
struct FilesRead {
  std::mutex mutex;
  std::set<FileIdentity> files;
};
FilesRead& files_read_so_far() {
  static FilesRead all;
  return all;
}

Error would_replace(const std::filesystem::path& output, std::string found) {
  return Error(ErrorKind::usage, "the output would replace an input")
      .in_file(output)
      .found(std::move(found))
      .remedy("give the output another name");
}

/// Identity of the target of `path`; nullopt if it is neither a file nor a folder.
std::optional<Identity> identity_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

/// True if `file` is in `folder` or in one of its sub-folders.
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

void note_read(int descriptor) {
  const std::optional<FileIdentity> read = file_identity(descriptor);
  if (!read) return;
  FilesRead& all = files_read_so_far();
  const std::lock_guard lock(all.mutex);
  all.files.insert(*read);
}

void refuse_to_overwrite_read(const std::filesystem::path& output) {
  const std::optional<FileIdentity> written = file_identity(output);
  if (!written) return;
  FilesRead& all = files_read_so_far();
  const std::lock_guard lock(all.mutex);
  if (all.files.contains(*written)) throw would_replace(output, "a file that was read");
}

}  // namespace attnscope
