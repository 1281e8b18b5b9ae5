// A temporary folder that is removed even when a signal ends the program. It keeps standard input
// and output that a library can only read or write as files, which may be large.
#pragma once

#include <cstddef>
#include <filesystem>

namespace attnscope {

/// A new folder in the system's folder of temporary files (TMPDIR). It is removed with its files on
/// destruction, and when SIGINT, SIGTERM, SIGHUP or SIGPIPE ends the program. The first object
/// installs handlers for those of the signals that have none and are not ignored. A signal's
/// handler removes at most four folders, and, except on Linux, only empty ones.
class ScratchFolder {
 public:
  /// Throws Error(io) if the folder cannot be created.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Absolute, unless TMPDIR is relative.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::size_t place_;  ///< index among the folders that the signal handler removes
};

}  // namespace attnscope
