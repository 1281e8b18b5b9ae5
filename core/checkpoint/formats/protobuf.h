// Reader of untrusted Protocol Buffers: a message's fields in order and in place. Format:
// protobuf.dev, "Encoding". libprotobuf is not used because it copies all bytes of a message,
// whereas weights should stay in the mapped file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/checkpoint/byte_cursor.h"

namespace attnscope {

struct ProtobufField {
  enum class Wire { varint, fixed64, bytes, fixed32 };

  std::uint64_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;           ///< value of a varint
  std::span<const std::byte> bytes;  ///< stored bytes, for a varint too

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// Iterates over the fields of one message.
///
///     ProtobufReader reader(bytes);
///     while (const auto field = reader.next()) { … }
class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) : cursor_(message) {}

  /// The next field; nullopt at the end. Throws Error(damaged) for truncated fields, unknown wire
  /// types and numbers of more than 64 bits.
  std::optional<ProtobufField> next();

 private:
  ByteCursor cursor_;
};

/// Takes the next variable-length number. Throws Error(damaged).
std::uint64_t read_varint(ByteCursor& cursor);

}  // namespace attnscope
