// A folder for the files of one test, removed by the destructor.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace attnscope {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const {
    return path_ / name;
  }
  /// Writes `bytes` to `name` inside and returns its path.
  [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

/// All bytes of a file; empty if it cannot be read.
[[nodiscard]] std::string read_bytes(const std::filesystem::path& file);

/// The path of a committed reference file: tests/data/NAME.
[[nodiscard]] std::filesystem::path test_data(const std::string& name);

}  // namespace attnscope
