#include "core/file/memory_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

MemoryFile::MemoryFile(std::span<const std::byte> bytes) {
  // Not memfd_create: HDF5 wants a real path, not a link in /proc.
  std::string name = "/dev/shm/attnscope-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  while (file >= 0 && !bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  const std::string reason = std::strerror(errno);
  if (file >= 0) {
    ::close(file);
    path_ = name;
  }
  if (file < 0 || !bytes.empty()) {
    remove();
    throw Error(ErrorKind::io, "there is no memory to unpack it to: " + reason)
        .expected("room in /dev/shm");
  }
}

MemoryFile::~MemoryFile() { remove(); }

void MemoryFile::remove() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace attnscope
