// Sequential reader of a file's bytes with bounds checks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace attnscope {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }

  /// Takes the next `count` bytes. Throws Error(damaged) if fewer remain, like all members that
  /// read.
  std::span<const std::byte> take(std::uint64_t count);
  std::string_view text(std::uint64_t count);
  /// Takes a little-endian number.
  template <class Number>
  Number little() {
    Number number{};
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }
  /// Takes a big-endian unsigned number of `width` (at most 8) bytes.
  std::uint64_t big(std::size_t width);

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace attnscope
