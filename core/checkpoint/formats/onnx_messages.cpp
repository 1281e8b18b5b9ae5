#include "core/checkpoint/formats/onnx_messages.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope::onnx {

namespace {

using Wire = ProtobufField::Wire;

void add_extent(TensorRecord& record, std::uint64_t extent) {
  constexpr std::size_t most_axes = 32;
  if (extent > std::uint64_t{1} << 62 || record.shape.size() == most_axes) {
    throw Error(ErrorKind::damaged, "the tensor's shape is impossible");
  }
  record.shape.push_back(static_cast<std::int64_t>(extent));
}

void read_field(const ProtobufField& field, TensorRecord& record) {
  switch (field.number) {
    case 1:  // dims, packed or not
      if (field.wire == Wire::bytes) {
        ByteCursor cursor(field.bytes);
        while (cursor.remaining() > 0) add_extent(record, read_varint(cursor));
      } else {
        add_extent(record, field.value);
      }
      break;
    case 2:
      record.type = field.value;
      break;
    case 3:
      record.segmented = true;
      break;
    case float_data:
    case int32_data:
    case int64_data:
    case double_data:
    case uint64_data:
      record.typed[field.number].push_back(field.bytes);
      break;
    case 8:
      record.name = field.text();
      break;
    case 9:
      record.raw = field.bytes;
      break;
    case 13:
      record.place.insert(read_pair(field.bytes));
      break;
    case 14:
      record.external = field.value == 1;
      break;
    default:
      break;
  }
}

}  // namespace

const ElementType* element_type(std::uint64_t number) {
  static constexpr ElementType types[] = {{1, "float", DType::f32, float_data},
                                          {2, "uint8", DType::u8, int32_data},
                                          {3, "int8", DType::i8, int32_data},
                                          {4, "uint16", DType::u16, int32_data},
                                          {5, "int16", DType::i16, int32_data},
                                          {6, "int32", DType::i32, int32_data},
                                          {7, "int64", DType::i64, int64_data},
                                          {8, "string", std::nullopt, 6},
                                          {9, "bool", DType::boolean, int32_data},
                                          {10, "float16", DType::f16, int32_data},
                                          {11, "double", DType::f64, double_data},
                                          {12, "uint32", DType::u32, uint64_data},
                                          {13, "uint64", DType::u64, uint64_data},
                                          {14, "complex64", std::nullopt, float_data},
                                          {15, "complex128", std::nullopt, double_data},
                                          {16, "bfloat16", DType::bf16, int32_data},
                                          {17, "float8e4m3fn", std::nullopt, int32_data},
                                          {18, "float8e4m3fnuz", std::nullopt, int32_data},
                                          {19, "float8e5m2", std::nullopt, int32_data},
                                          {20, "float8e5m2fnuz", std::nullopt, int32_data},
                                          {21, "uint4", std::nullopt, int32_data},
                                          {22, "int4", std::nullopt, int32_data},
                                          {23, "float4e2m1", std::nullopt, int32_data}};
  const auto* const found = std::find_if(std::begin(types), std::end(types),
                                         [&](const auto& type) { return type.number == number; });
  return found == std::end(types) ? nullptr : found;
}

TensorRecord read_tensor(std::span<const std::byte> message) {
  TensorRecord record;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) read_field(*field, record);
  return record;
}

NodeRecord read_node(std::span<const std::byte> message) {
  NodeRecord record;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->wire != Wire::bytes) continue;
    if (field->number == 1) record.inputs.push_back(field->text());
    if (field->number == 3) record.name = field->text();
  }
  return record;
}

std::pair<std::string, std::string> read_pair(std::span<const std::byte> message) {
  std::pair<std::string, std::string> pair;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) pair.first = field->text();
    if (field->number == 2) pair.second = field->text();
  }
  return pair;
}

}  // namespace attnscope::onnx
