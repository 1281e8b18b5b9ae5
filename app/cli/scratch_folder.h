// A folder for what only passes through: standard input, output on its way to a pipe.
#pragma once

#include <cstddef>
#include <filesystem>

namespace attnscope {

/// A folder of this process's own. It is removed with the files in it when the object is destroyed,
/// and when the program ends by SIGINT, SIGTERM, SIGHUP or SIGPIPE.
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
  std::size_t place_;  ///< among those that a signal removes
};

}  // namespace attnscope
