#include "core/file/overwrite.h"

#include <optional>
#include <sys/stat.h>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

using Identity = std::pair<dev_t, ino_t>;

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
    throw Error(ErrorKind::usage, "the output would replace what is read")
        .in_file(output)
        .found(same ? "the same file as " + input.string() : "a file inside " + input.string())
        .remedy("give the output another name");
  }
}

}  // namespace attnscope
