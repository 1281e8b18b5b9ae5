// Writing so that nothing half-written ever stands under the final name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// A file being written: beside its final place under another name, renamed by `commit`, removed
/// if it is destroyed before. What a killed process left is removed by the next that writes the
/// same file.
///
///     AtomicFile file("figure.pdf");
///     write_pdf(file.temporary());
///     file.commit();
class AtomicFile {
 public:
  /// Creates the empty temporary file in the folder of `final_path` (of what it links to, if it is
  /// a symbolic link). Throws Error(io) if there is no such folder or it cannot be written, or if
  /// `final_path` is a folder. Devices and pipes (/dev/stdout) are written directly.
  explicit AtomicFile(const std::filesystem::path& final_path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Where to write: has the extension of the final path.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// Brings the bytes to disk and gives the file its final name. Throws Error(io).
  void commit();

 private:
  std::filesystem::path final_path_;
  std::filesystem::path temporary_;
  int lock_ = -1;  ///< of the temporary file, open and locked while it is written
  bool direct_ = false;
  bool committed_ = false;
};

/// Whether `entry` is what a writer of `path`, a file of the same folder, left when it was killed:
/// its process is gone, and nobody holds the lock.
[[nodiscard]] bool is_abandoned(const std::filesystem::path& entry,
                                const std::filesystem::path& path);

/// Writes all of `bytes` so. Throws Error(io).
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// A file and all that is in it.
struct FileContent {
  std::filesystem::path path;
  std::string bytes;
};
/// Writes files that belong together: none gets its name before all are on the disk. Throws
/// Error(io).
void write_files(const std::vector<FileContent>& files);

}  // namespace attnscope
