#include "core/file/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

namespace {

Error cannot_write(const std::filesystem::path& path, const std::string& why) {
  Error error = Error(ErrorKind::io, "cannot be written: " + why).in_file(path);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    error.remedy("the existing file is unchanged");
  }
  return error;
}

/// Temporary files are named ".STEM.PROCESS-NUMBER.part.EXTENSION".
std::string start_of_temporary_name(const std::filesystem::path& path) {
  return "." + path.stem().string() + ".";
}

/// The process id in the name of a temporary file of `path`; nullopt for other names.
std::optional<pid_t> writer_of(const std::string& name, const std::filesystem::path& path) {
  const std::string start = start_of_temporary_name(path);
  const std::string end = ".part" + path.extension().string();
  if (!name.starts_with(start) || !name.ends_with(end)) return std::nullopt;
  pid_t writer = 0;
  unsigned number = 0;
  const char* const last = name.data() + name.size();
  const auto [dash, problem] = std::from_chars(name.data() + start.size(), last, writer);
  if (problem != std::errc() || writer <= 0 || dash == last || *dash != '-') return std::nullopt;
  const auto [stop, no_number] = std::from_chars(dash + 1, last, number);
  if (no_number != std::errc() || std::string_view(stop, last) != end) return std::nullopt;
  return writer;
}

/// Opens and locks `entry` if it is a temporary file of a killed writer of `path`: the process is
/// gone, and nobody holds the lock (a writer in another container may have the same process id).
/// Returns −1 otherwise.
int take_abandoned(const std::filesystem::path& entry, const std::filesystem::path& path) {
  const std::optional<pid_t> writer = writer_of(entry.filename().string(), path);
  if (!writer || ::kill(*writer, 0) == 0 || errno != ESRCH) return -1;
  const int file = ::open(entry.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  ::close(file);
  return -1;
}

/// Removes temporary files of killed writers of `path`.
void remove_abandoned(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const int file = take_abandoned(entry->path(), path);
    if (file < 0) continue;
    ::unlink(entry->path().c_str());
    ::close(file);
  }
}

struct NewFile {
  std::filesystem::path path;
  int descriptor;
};

/// Creates and locks a new file next to `path` under an unused name.
NewFile create_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::filesystem::path candidate = path;
    candidate.replace_filename(start_of_temporary_name(path) + std::to_string(::getpid()) + "-" +
                               std::to_string(counter++) + ".part" + path.extension().string());
    const int descriptor = ::open(candidate.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      // A failure is ignored because some file systems have no locks.
      ::flock(descriptor, LOCK_EX | LOCK_NB);
      return {candidate, descriptor};
    }
    if (errno != EEXIST) throw cannot_write(path, std::strerror(errno));
  }
  throw cannot_write(path, "no free name for a temporary file");
}

}  // namespace

bool is_abandoned(const std::filesystem::path& entry, const std::filesystem::path& path) {
  const int file = take_abandoned(entry, path);
  if (file >= 0) ::close(file);
  return file >= 0;
}

AtomicFile::AtomicFile(const std::filesystem::path& final_path) : final_path_(final_path) {
  if (final_path.filename().empty()) throw cannot_write(final_path, "it names no file");
  std::error_code ignored;
  const auto status = std::filesystem::status(final_path, ignored);
  if (std::filesystem::is_directory(status)) throw cannot_write(final_path, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    direct_ = true;
    temporary_ = final_path;
    return;
  }
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(final_path, ignored))) {
    final_path_ = std::filesystem::weakly_canonical(final_path, ignored);
    if (ignored) throw cannot_write(final_path, ignored.message());
  }
  remove_abandoned(final_path_);
  const NewFile created = create_beside(final_path_);
  temporary_ = created.path;
  lock_ = created.descriptor;
}

AtomicFile::~AtomicFile() {
  if (!committed_ && !direct_) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
  if (lock_ >= 0) ::close(lock_);
}

void AtomicFile::commit() {
  if (direct_ || committed_) return;
  const int descriptor = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw cannot_write(final_path_, std::strerror(errno));
  const int synced = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  if (synced != 0) throw cannot_write(final_path_, std::strerror(reason));
  // HDF5 refuses locked files, so the lock is released before the file gets its final name.
  if (lock_ >= 0) ::flock(lock_, LOCK_UN);
  std::error_code error;
  std::filesystem::rename(temporary_, final_path_, error);
  if (error) throw cannot_write(final_path_, error.message());
  committed_ = true;
}

namespace {

/// Writes `bytes` to the temporary file of `path`.
void fill(const AtomicFile& file, const std::filesystem::path& path, std::string_view bytes) {
  errno = 0;
  std::ofstream stream(file.temporary(), std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) {
    throw cannot_write(path, errno != 0 ? std::strerror(errno) : "the disk may be full");
  }
}

/// Adds to an error in writing several files that the existing ones are unchanged, if the failed
/// one does not exist.
void say_unchanged(Error& error, const std::filesystem::path& failed,
                   const std::vector<FileContent>& files) {
  std::error_code ignored;
  // In this case, cannot_write has already added the remark.
  if (std::filesystem::is_regular_file(failed, ignored)) return;
  for (const FileContent& file : files) {
    if (!std::filesystem::is_regular_file(file.path, ignored)) continue;
    error.remedy(file.path.filename().string() + " is unchanged");
    return;
  }
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  fill(file, path, bytes);
  file.commit();
}

void write_files(const std::vector<FileContent>& files) {
  std::vector<std::unique_ptr<AtomicFile>> filled;
  for (const FileContent& file : files) {
    try {
      filled.push_back(std::make_unique<AtomicFile>(file.path));
      fill(*filled.back(), file.path, file.bytes);
    } catch (Error& error) {
      say_unchanged(error, file.path, files);
      throw;
    }
  }
  for (const std::unique_ptr<AtomicFile>& file : filled) file->commit();
}

}  // namespace attnscope
