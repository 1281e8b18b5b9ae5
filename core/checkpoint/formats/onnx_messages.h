// Messages of ONNX as they stand in the file. Their fields: onnx.proto.
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

/// TensorProto.DataType: what the elements are, and the field that may hold them instead of
/// raw_data.
struct ElementType {
  std::uint64_t number;
  std::string_view name;
  std::optional<DType> dtype;  ///< none: not read
  std::uint64_t typed_field;
};

/// Fields of TensorProto that hold elements.
inline constexpr std::uint64_t float_data = 4, int32_data = 5, int64_data = 7, double_data = 10,
                               uint64_data = 11;

/// Null for a number that is not known.
[[nodiscard]] const ElementType* element_type(std::uint64_t number);

/// A TensorProto as it stands in the file.
struct TensorRecord {
  std::string name;
  Shape shape;
  std::uint64_t type = 0;
  std::optional<std::span<const std::byte>> raw;
  std::map<std::uint64_t, std::vector<std::span<const std::byte>>> typed;  ///< by field: its pieces
  bool external = false, segmented = false;
  std::map<std::string, std::string> place;  ///< of external data
};

/// Throws Error(damaged) for a shape that no tensor has.
[[nodiscard]] TensorRecord read_tensor(std::span<const std::byte> message);

/// Of a NodeProto what it is called and what it reads; both lie in the message.
struct NodeRecord {
  std::string_view name;
  std::vector<std::string_view> inputs;
};
[[nodiscard]] NodeRecord read_node(std::span<const std::byte> message);

/// A StringStringEntryProto: key and value.
[[nodiscard]] std::pair<std::string, std::string> read_pair(std::span<const std::byte> message);

}  // namespace attnscope::onnx
