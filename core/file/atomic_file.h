// Atomic writing of files: the final name never refers to a partial file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// A file being written under a temporary name next to its final path. `commit` renames it; the
/// destructor removes it if not committed. Files left by a killed process are removed by the next
/// writer of the same file.
///
///     AtomicFile file("figure.pdf");
///     write_pdf(file.temporary());
///     file.commit();
class AtomicFile {
 public:
  /// Creates the empty temporary file in the folder of `final_path` (of its target, if it is a
  /// symbolic link). Throws Error(io) if the folder is missing or not writable, or if `final_path`
  /// is a folder. Devices and pipes (/dev/stdout) are written directly.
  explicit AtomicFile(const std::filesystem::path& final_path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The path to write to, with the extension of the final path.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// Flushes the bytes to disk and renames the file to its final name. Throws Error(io).
  void commit();

 private:
  std::filesystem::path final_path_;
  std::filesystem::path temporary_;
  int lock_ = -1;  ///< descriptor of the temporary file, locked while it is written
  bool direct_ = false;
  bool committed_ = false;
};

/// True if `entry` is a temporary file of `path`, in the same folder, whose writer was killed: the
/// process is gone and nobody holds the lock.
[[nodiscard]] bool is_abandoned(const std::filesystem::path& entry,
                                const std::filesystem::path& path);

/// Writes `bytes` to a file atomically. Throws Error(io).
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// A file's path and content.
struct FileContent {
  std::filesystem::path path;
  std::string bytes;
};
/// Writes files that belong together. All are on disk before the first gets its final name. Throws
/// Error(io).
void write_files(const std::vector<FileContent>& files);

}  // namespace attnscope
