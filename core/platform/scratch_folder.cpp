#include "core/platform/scratch_folder.h"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::array kEndings = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

/// Fixed buffers for paths that a signal handler can read; a first character of 0 marks a free
/// entry.
using TemporaryPlace = std::array<char, PATH_MAX>;
std::array<TemporaryPlace, 4> folders{};

/// Removes a folder and the files in it with system calls only, as a signal handler must.
void remove_folder(const char* path) {
#ifdef __linux__
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> entries{};
  long count = 0;
  while ((count = ::syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0) {
    for (long at = 0; at < count;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      ::unlinkat(folder, entry->d_name, 0);  // fails for . and ..
      at += entry->d_reclen;
    }
  }
  ::close(folder);
#endif
  ::rmdir(path);
}

/// Removes the folders, then lets the signal end the program.
void clean_up(int signal) {
  for (const TemporaryPlace& folder : folders) {
    if (folder[0] != 0) remove_folder(folder.data());
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Installs the handler for signals with the default action; ignored and handled signals are left
/// as they are.
void watch_signals() {
  for (const int signal : kEndings) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = clean_up;
    ::sigaction(signal, &action, nullptr);
  }
}

std::size_t remember(const std::string& path) {
  for (std::size_t place = 0; place < folders.size(); ++place) {
    if (folders[place][0] != 0 || path.size() >= folders[place].size()) continue;
    std::memcpy(folders[place].data(), path.c_str(), path.size() + 1);
    return place;
  }
  return folders.size();
}

}  // namespace

ScratchFolder::ScratchFolder() {
  static std::once_flag once;
  std::call_once(once, watch_signals);
  std::string pattern = (std::filesystem::temp_directory_path() / "attnscope-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ErrorKind::io, "no temporary folder can be made")
        .in_file(pattern)
        .found(std::strerror(errno));
  }
  path_ = pattern;
  place_ = remember(pattern);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (place_ < folders.size()) folders[place_][0] = 0;
}

}  // namespace attnscope
