// Protocol Buffers' wire format from strangers: a message's fields, one after the other, in place.
// Format: protobuf.dev, "Encoding". Written here because libprotobuf copies all bytes of a message
// into objects of its own, where weights are to stay in the mapped file.
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
  std::uint64_t value = 0;           ///< of a varint
  std::span<const std::byte> bytes;  ///< what is stored: of a varint its own bytes too

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// Goes over the fields of one message.
///
///     ProtobufReader reader(bytes);
///     while (const auto field = reader.next()) { … }
class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) : cursor_(message) {}

  /// Null at the end. Throws Error(damaged) for a field that is cut off, of an unknown kind, or a
  /// number longer than 64 bits.
  std::optional<ProtobufField> next();

 private:
  ByteCursor cursor_;
};

/// The next variable-length number. Throws Error(damaged).
std::uint64_t read_varint(ByteCursor& cursor);

}  // namespace attnscope
