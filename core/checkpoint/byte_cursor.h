// Reading a file's bytes from front to back, each step checked against what is there.
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

  /// The next `count` bytes. Throws Error(damaged) if there are not as many, as all of these do.
  std::span<const std::byte> take(std::uint64_t count);
  std::string_view text(std::uint64_t count);
  /// The next byte, which stays the next.
  [[nodiscard]] std::uint8_t peek() const;
  /// A number stored with its lowest byte first.
  template <class Number>
  Number little() {
    Number number{};
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }
  /// An unsigned number of `width` (at most 8) bytes, the highest first.
  std::uint64_t big(std::size_t width);

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace attnscope
