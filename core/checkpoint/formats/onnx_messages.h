// Reads the messages of an ONNX file. Fields: onnx.proto.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/formats/protobuf.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace attnscope::onnx {

/// An element type (TensorProto.DataType), and the field that may hold the elements instead of
/// raw_data.
struct ElementType {
  std::uint64_t number;
  std::string_view name;
  std::optional<DType> dtype;  ///< empty if not supported
  std::uint64_t typed_field;
};

/// Fields of TensorProto that hold elements.
inline constexpr std::uint64_t float_data = 4, int32_data = 5, int64_data = 7, double_data = 10,
                               uint64_data = 11;

/// The element type `number`; null if unknown.
[[nodiscard]] const ElementType* element_type(std::uint64_t number);

/// A TensorProto as stored in the file.
struct TensorRecord {
  std::string name;
  Shape shape;
  std::uint64_t type = 0;
  std::optional<std::span<const std::byte>> raw;
  std::map<std::uint64_t, std::vector<std::span<const std::byte>>> typed;  ///< pieces by field
  bool external = false, segmented = false;
  std::map<std::string, std::string> place;  ///< location of external data
};

/// Reads a TensorProto. Throws Error(damaged) for an impossible shape.
[[nodiscard]] TensorRecord read_tensor(std::span<const std::byte> message);

/// Name and inputs of a NodeProto, as views into the message.
struct NodeRecord {
  std::string_view name;
  std::vector<std::string_view> inputs;
};
[[nodiscard]] NodeRecord read_node(std::span<const std::byte> message);

/// Reads a StringStringEntryProto: key and value.
[[nodiscard]] std::pair<std::string, std::string> read_pair(std::span<const std::byte> message);

}  // namespace attnscope::onnx
