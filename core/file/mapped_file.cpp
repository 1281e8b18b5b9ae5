#include "core/file/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/error.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

Error refused_by_system(const std::filesystem::path& path, int number) {
  return Error(ErrorKind::io, std::string("cannot be read: ") + std::strerror(number))
      .in_file(path);
}

struct FileDescriptor {
  int number = -1;
  ~FileDescriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK keeps a named pipe, which is refused below, from blocking the program.
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) throw refused_by_system(path, errno);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) throw refused_by_system(path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::io, S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file")
        .in_file(path)
        .remedy("choose a file");
  }
  note_read(file.number);
  return std::shared_ptr<const MappedFile>(new MappedFile(file.number, path));
}

TensorView view_of(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset, DType dtype,
                   Shape shape) {
  return view_of(file->bytes(), file, offset, dtype, std::move(shape));
}

TensorView view_of(std::span<const std::byte> file, std::shared_ptr<const void> storage,
                   std::uint64_t offset, DType dtype, Shape shape) {
  const auto bytes = static_cast<std::uint64_t>(byte_count(shape, dtype));
  if (offset > file.size() || bytes > file.size() - offset) {
    throw Error(ErrorKind::damaged, "the tensor's data lie outside the file")
        .expected(std::to_string(bytes) + " bytes at " + std::to_string(offset))
        .found("a file of " + std::to_string(file.size()) + " bytes")
        .remedy("the file may be truncated; fetch it again");
  }
  std::vector<std::int64_t> strides = TensorView::contiguous_strides(shape);
  return {dtype, std::move(shape), std::move(strides), file.data() + offset, std::move(storage)};
}

std::int64_t byte_count(const Shape& shape, DType dtype) {
  const std::int64_t count = element_count(shape);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  if (count > (std::int64_t{1} << 62) / size) {
    throw Error(ErrorKind::damaged, "a tensor is too large to exist").found(to_string(shape));
  }
  return count * size;
}

}  // namespace attnscope
