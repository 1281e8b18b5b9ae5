// Identity of a file that outlives its path: links and other spellings lead to it, and a later file
// with the same inode is another one.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace attnscope {

/// A regular file from its creation to its deletion. The time of creation is needed because file
/// systems reuse the inodes of deleted files.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t created = 0;               ///< seconds since 1970; 0 if the system does not tell
  std::uint32_t created_nanoseconds = 0;  ///< beyond the seconds

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// The regular file at `path`, of which symbolic links are followed; nullopt if there is none.
/// Without a time of creation (only Linux's statx is asked for it), a file with the inode of a
/// deleted one counts as the same.
[[nodiscard]] std::optional<FileIdentity> file_identity(const std::filesystem::path& path);

/// The regular file of the open `descriptor`; nullopt if it is none.
[[nodiscard]] std::optional<FileIdentity> file_identity(int descriptor);

}  // namespace attnscope
