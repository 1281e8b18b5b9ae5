// A temporary folder for standard input and for output on its way to a pipe.
#pragma once

#include <cstddef>
#include <filesystem>

namespace attnscope {

/// A temporary folder of this process. It is removed with its files on destruction, and when
/// SIGINT, SIGTERM, SIGHUP or SIGPIPE ends the program.
class ScratchFolder {
 public:
  /// Throws Error(io).
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::size_t place_;  ///< index among the folders that the signal handler removes
};

}  // namespace attnscope
