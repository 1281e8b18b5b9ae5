#include "app/bridge/window_socket.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr mode_t kOfOthers = 077;  // the permissions of a group and of all others

/// A folder with a predictable name in a folder of all users: someone else may have made it.
std::filesystem::path own_temporary_folder() {
  const std::filesystem::path folder = "/tmp/attnscope-" + std::to_string(::geteuid());
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    throw Error(ErrorKind::io, std::string("the folder cannot be made: ") + std::strerror(errno))
        .in_file(folder);
  }
  return folder;
}

}  // namespace

std::filesystem::path window_socket() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool has_runtime = runtime != nullptr && runtime[0] == '/';
  const std::filesystem::path folder =
      has_runtime ? std::filesystem::path(runtime) : own_temporary_folder();
  struct stat found {};
  const bool is_own = ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                      found.st_uid == ::geteuid() && (found.st_mode & kOfOthers) == 0;
  if (!is_own) {
    throw Error(ErrorKind::io, "the folder of the window's socket must be the user's own")
        .in_file(folder)
        .expected("a folder of the user that others cannot enter (mode 0700)")
        .remedy("set XDG_RUNTIME_DIR to such a folder");
  }
  std::filesystem::path socket = folder / "attnscope.sock";
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 16;  // Qt's temporary name
  if (socket.native().size() > kLongest) {
    throw Error(ErrorKind::unsupported, "the path is too long for a socket")
        .in_file(socket)
        .expected("at most " + std::to_string(kLongest) + " bytes")
        .remedy("set XDG_RUNTIME_DIR to a folder with a shorter path");
  }
  return socket;
}

}  // namespace attnscope
