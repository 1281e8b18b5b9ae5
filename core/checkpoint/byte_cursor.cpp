#include "core/checkpoint/byte_cursor.h"

#include <string>

#include "core/error.h"

namespace attnscope {

static_assert(std::endian::native == std::endian::little, "`little` copies bytes as they are");

namespace {

Error cut_off(std::uint64_t wanted, std::size_t there) {
  return Error(ErrorKind::damaged, "the file ends inside its header")
      .expected(std::to_string(wanted) + " more bytes")
      .found(std::to_string(there))
      .remedy("the file may be truncated; fetch it again");
}

}  // namespace

std::span<const std::byte> ByteCursor::take(std::uint64_t count) {
  if (count > remaining()) throw cut_off(count, remaining());
  const std::span<const std::byte> taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

std::string_view ByteCursor::text(std::uint64_t count) {
  const std::span<const std::byte> taken = take(count);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::uint64_t ByteCursor::big(std::size_t width) {
  std::uint64_t number = 0;
  for (const std::byte byte : take(width)) {
    number = number << 8 | std::to_integer<std::uint64_t>(byte);
  }
  return number;
}

}  // namespace attnscope
