#include "core/platform/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace attnscope {

namespace {

/// The file at `path`, or the descriptor `folder` if `path` is empty.
std::optional<FileIdentity> regular_file(int folder, const char* path) {
#ifdef __linux__
  struct statx status {};
  const int flags = *path == '\0' ? AT_EMPTY_PATH : 0;
  if (::statx(folder, path, flags, STATX_TYPE | STATX_INO | STATX_BTIME, &status) != 0) {
    return std::nullopt;
  }
  if (!S_ISREG(status.stx_mode)) return std::nullopt;
  const bool known = (status.stx_mask & STATX_BTIME) != 0;
  const std::uint64_t device = std::uint64_t{status.stx_dev_major} << 32U | status.stx_dev_minor;
  return FileIdentity{.device = device,
                      .inode = status.stx_ino,
                      .created = known ? status.stx_btime.tv_sec : 0,
                      .created_nanoseconds = known ? status.stx_btime.tv_nsec : 0};
#else
  struct stat status {};
  const bool there =
      (*path == '\0' ? ::fstat(folder, &status) : ::fstatat(folder, path, &status, 0)) == 0;
  if (!there || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{.device = static_cast<std::uint64_t>(status.st_dev),
                      .inode = static_cast<std::uint64_t>(status.st_ino)};
#endif
}

}  // namespace

std::optional<FileIdentity> file_identity(const std::filesystem::path& path) {
  // An empty path would mean the descriptor.
  return path.empty() ? std::nullopt : regular_file(AT_FDCWD, path.c_str());
}

std::optional<FileIdentity> file_identity(int descriptor) { return regular_file(descriptor, ""); }

}  // namespace attnscope
