#include "core/checkpoint/formats/protobuf.h"

#include "core/error.h"

namespace attnscope {

std::uint64_t read_varint(ByteCursor& cursor) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = cursor.big(1);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw Error(ErrorKind::damaged, "a number is longer than 64 bits");
}

std::optional<ProtobufField> ProtobufReader::next() {
  using Wire = ProtobufField::Wire;
  if (cursor_.remaining() == 0) return std::nullopt;
  const std::uint64_t tag = read_varint(cursor_);
  ProtobufField field;
  field.number = tag >> 3;
  switch (tag & 7) {
    case 0: {
      ByteCursor start = cursor_;
      field.value = read_varint(cursor_);
      field.bytes = start.take(cursor_.position() - start.position());
      break;
    }
    case 1:
      field.wire = Wire::fixed64;
      field.bytes = cursor_.take(8);
      break;
    case 2:
      field.wire = Wire::bytes;
      field.bytes = cursor_.take(read_varint(cursor_));
      break;
    case 5:
      field.wire = Wire::fixed32;
      field.bytes = cursor_.take(4);
      break;
    default:
      throw Error(ErrorKind::damaged, "a field has an unknown wire type")
          .found("type " + std::to_string(tag & 7));
  }
  if (field.number == 0) throw Error(ErrorKind::damaged, "a field has no number");
  return field;
}

}  // namespace attnscope
