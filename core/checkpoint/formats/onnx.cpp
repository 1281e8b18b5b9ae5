// ONNX (.onnx): the initialisers of the graph, by name. Exporters rename the weights of matrix
// products ("onnx::MatMul_123") and transpose them: such a weight is named after the node that uses
// it ("blocks.0/attn/qkv/MatMul").
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/format.h"
#include "core/checkpoint/formats/protobuf.h"
#include "core/checkpoint/formats/readers.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

// ---- messages of the file; fields: onnx.proto ----

/// An element type (TensorProto.DataType), and the field that may hold the elements instead of
/// raw_data.
struct OnnxType {
  std::uint64_t number;
  std::string_view name;
  std::optional<DType> dtype;  ///< empty if not supported
  std::uint64_t typed_field;
};

/// Fields of TensorProto that hold elements.
constexpr std::uint64_t float_data = 4, int32_data = 5, int64_data = 7, double_data = 10,
                        uint64_data = 11;

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

/// Name and inputs of a NodeProto, as views into the message.
struct NodeRecord {
  std::string_view name;
  std::vector<std::string_view> inputs;
};

using Wire = ProtobufField::Wire;

void add_extent(TensorRecord& record, std::uint64_t extent) {
  constexpr std::size_t most_axes = 32;
  if (extent > std::uint64_t{1} << 62 || record.shape.size() == most_axes) {
    throw Error(ErrorKind::damaged, "the tensor's shape is impossible");
  }
  record.shape.push_back(static_cast<std::int64_t>(extent));
}

/// Reads a StringStringEntryProto: key and value.
std::pair<std::string, std::string> read_pair(std::span<const std::byte> message) {
  std::pair<std::string, std::string> pair;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) pair.first = field->text();
    if (field->number == 2) pair.second = field->text();
  }
  return pair;
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

/// The element type `number`; null if unknown.
const OnnxType* element_type(std::uint64_t number) {
  static constexpr OnnxType types[] = {{1, "float", DType::f32, float_data},
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

/// Reads a TensorProto. Throws Error(damaged) for an impossible shape.
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

// ---- the graph ----

using ByteSpan = std::span<const std::byte>;

Error wrong_size(const TensorRecord& record, std::int64_t bytes, std::uint64_t found) {
  return Error(ErrorKind::damaged, "the tensor's shape does not fit its bytes")
      .expected(to_string(record.shape) + ", " + std::to_string(bytes) + " bytes")
      .found(std::to_string(found));
}

template <class Number>
void append(std::vector<std::byte>& to, std::uint64_t value) {
  const auto number = static_cast<Number>(value);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), bytes, bytes + sizeof number);
}

/// Unpacks elements that are stored as variable-length numbers.
std::vector<std::byte> unpacked(const std::vector<ByteSpan>& pieces, DType dtype,
                                std::int64_t bytes) {
  std::vector<std::byte> elements;
  for (const ByteSpan piece : pieces) {
    ByteCursor cursor(piece);
    while (cursor.remaining() > 0) {
      const std::uint64_t value = read_varint(cursor);
      switch (size_of(dtype)) {
        case 1:
          append<std::uint8_t>(elements, value);
          break;
        case 2:
          append<std::uint16_t>(elements, value);
          break;
        case 4:
          append<std::uint32_t>(elements, value);
          break;
        default:
          append<std::uint64_t>(elements, value);
      }
    }
  }
  if (elements.size() != static_cast<std::uint64_t>(bytes)) {
    throw Error(ErrorKind::damaged, "the tensor's number of elements does not fit its shape")
        .expected(std::to_string(bytes) + " bytes")
        .found(std::to_string(elements.size()));
  }
  return elements;
}

std::vector<std::byte> joined(const std::vector<ByteSpan>& pieces) {
  std::vector<std::byte> elements;
  for (const ByteSpan piece : pieces) elements.insert(elements.end(), piece.begin(), piece.end());
  return elements;
}

TensorView view_over(DType dtype, const Shape& shape, const std::byte* data,
                     std::shared_ptr<const void> storage) {
  return {dtype, shape, TensorView::contiguous_strides(shape), data, std::move(storage)};
}

/// The file with external data. It must be in the folder of the model.
std::filesystem::path external_file(const TensorRecord& record, const std::filesystem::path& path) {
  const auto location = record.place.find("location");
  const std::filesystem::path name = location == record.place.end() ? "" : location->second;
  if (name.empty() || name == "." || name == ".." || name.has_parent_path() ||
      name.native().find('\0') != std::string::npos) {
    throw Error(ErrorKind::unsupported, "external data must lie in the folder of the model")
        .found(name.string());
  }
  return path.parent_path() / name;
}

std::uint64_t stated_number(const TensorRecord& record, const char* key, std::int64_t otherwise) {
  const auto text = record.place.find(key);
  const std::optional<std::int64_t> number =
      text == record.place.end() ? otherwise : parse_whole(text->second);
  if (!number || *number < 0) {
    throw Error(ErrorKind::damaged,
                std::string("the ") + key + " of the external data is not a number of bytes")
        .found(text->second);
  }
  return static_cast<std::uint64_t>(*number);
}

/// True for names that exporters give to initialisers they created or changed: "onnx::MatMul_123",
/// "123", "val_45".
bool is_numbered(std::string_view name) {
  if (name.starts_with("onnx::")) return true;
  for (const std::string_view beginning : {"_val_", "val_"}) {
    if (name.starts_with(beginning)) name.remove_prefix(beginning.size());
  }
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Names for numbered initialisers.
class NodeNames {
 public:
  void add(NodeRecord node) {
    while (node.name.starts_with('/')) node.name.remove_prefix(1);
    if (!node.name.empty() && std::ranges::any_of(node.inputs, is_numbered)) {
      nodes_.push_back(std::move(node));
    }
  }

  /// Names each numbered initialiser after the first node that uses it, plus the input's index if
  /// that node uses several. A tensor keeps its name if two would get the same one.
  void give(std::vector<StoredTensor>& tensors) const {
    std::map<std::string, std::string, std::less<>> names;
    for (const StoredTensor& tensor : tensors) {
      if (is_numbered(tensor.name)) names.emplace(tensor.name, "");
    }
    for (const NodeRecord& node : nodes_) {
      const auto stored = [&](std::string_view input) { return names.contains(input); };
      const bool several = std::ranges::count_if(node.inputs, stored) > 1;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto found = names.find(node.inputs[i]);
        if (found == names.end() || !found->second.empty()) continue;
        found->second = std::string(node.name) + (several ? "." + std::to_string(i) : "");
      }
    }
    std::map<std::string, int> wanted;
    for (const auto& [number, name] : names) ++wanted[name];
    for (const StoredTensor& tensor : tensors) {
      if (!names.contains(tensor.name)) ++wanted[tensor.name];
    }
    for (StoredTensor& tensor : tensors) {
      const auto found = names.find(tensor.name);
      if (found == names.end() || found->second.empty() || wanted[found->second] > 1) continue;
      tensor.name = found->second;
    }
  }

 private:
  std::vector<NodeRecord> nodes_;  // nodes with numbered inputs, as views into the file
};

class GraphReader {
 public:
  GraphReader(std::filesystem::path path, std::shared_ptr<const MappedFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  void read(ByteSpan graph) {
    ProtobufReader reader(graph);
    NodeNames names;
    while (const auto field = reader.next()) {
      if (field->number == 1) names.add(read_node(field->bytes));
      if (field->number == 2) metadata.emplace("graph", field->text());
      if (field->number == 5) add(read_tensor(field->bytes));
      if (field->number == 15) skip("a sparse tensor", "sparse");
    }
    names.give(tensors);
    if (!skipped_.empty()) metadata.emplace("initialisers that are not read", skipped_);
  }

  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;

 private:
  void skip(const std::string& name, std::string_view type) {
    constexpr std::size_t longest = 4096;
    if (skipped_.size() > longest) return;
    skipped_ += (skipped_.empty() ? "" : ", ") + name + " (" + std::string(type) + ")";
  }

  void add(TensorRecord record) {
    try {
      const OnnxType* const type = element_type(record.type);
      if (type == nullptr) {
        throw Error(ErrorKind::unsupported, "the element type is unknown")
            .found(std::to_string(record.type));
      }
      if (record.segmented) {
        throw Error(ErrorKind::unsupported,
                    "the tensor is stored in segments, which is not supported");
      }
      if (!type->dtype) {
        skip(record.name, type->name);
        return;
      }
      const DType dtype = *type->dtype;
      const std::int64_t bytes = byte_count(record.shape, dtype);
      std::function<TensorView()> view = record.external ? external(record, dtype, bytes)
                                         : record.raw    ? raw(record, dtype, bytes)
                                                         : typed(record, *type, bytes);
      tensors.push_back({record.name, dtype, std::move(record.shape), bytes, std::move(view)});
    } catch (Error& error) {
      error.about(record.name);
      throw;
    }
  }

  std::function<TensorView()> raw(const TensorRecord& record, DType dtype, std::int64_t bytes) {
    if (record.raw->size() != static_cast<std::uint64_t>(bytes)) {
      throw wrong_size(record, bytes, record.raw->size());
    }
    return [file = file_, dtype, shape = record.shape, data = record.raw->data()] {
      return view_over(dtype, shape, data, file);
    };
  }

  std::function<TensorView()> typed(TensorRecord& record, const OnnxType& type,
                                    std::int64_t bytes) {
    std::vector<ByteSpan> pieces = std::move(record.typed[type.typed_field]);
    const DType dtype = *type.dtype;
    std::uint64_t stored = 0;
    for (const ByteSpan piece : pieces) stored += piece.size();
    const bool fixed = type.typed_field == float_data || type.typed_field == double_data;
    // A variable-length number has at least one byte, so the file's size bounds the claimed count.
    const auto count = static_cast<std::uint64_t>(element_count(record.shape));
    if (fixed ? stored != static_cast<std::uint64_t>(bytes) : stored < count) {
      throw wrong_size(record, bytes, stored);
    }
    return [file = file_, dtype, shape = record.shape, pieces = std::move(pieces), fixed, bytes] {
      if (fixed && pieces.size() == 1) return view_over(dtype, shape, pieces[0].data(), file);
      return read_unchanged(*file, [&] {
        const auto elements = std::make_shared<std::vector<std::byte>>(
            fixed ? joined(pieces) : unpacked(pieces, dtype, bytes));
        return view_over(dtype, shape, elements->data(), elements);
      });
    };
  }

  std::function<TensorView()> external(const TensorRecord& record, DType dtype,
                                       std::int64_t bytes) {
    const std::filesystem::path data = external_file(record, path_);
    const std::uint64_t offset = stated_number(record, "offset", 0);
    const std::uint64_t length = stated_number(record, "length", bytes);
    if (length != static_cast<std::uint64_t>(bytes)) throw wrong_size(record, bytes, length);
    return [data, dtype, shape = record.shape, offset, name = record.name] {
      try {
        return view_of(MappedFile::open(data), offset, dtype, shape);
      } catch (Error& error) {
        error.in_file(data).about(name);
        throw;
      }
    };
  }

  std::filesystem::path path_;
  std::shared_ptr<const MappedFile> file_;
  std::string skipped_;
};

}  // namespace

bool recognises_onnx(const std::filesystem::path& path, FileHead head) {
  // The only mark is field 1, the version of the format, which comes first.
  return path.extension() == ".onnx" && !head.empty() && head[0] == std::byte{0x08};
}

Checkpoint open_onnx(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  GraphReader graph(path, file);
  bool has_graph = false;
  ProtobufReader model(file->bytes());
  while (const auto field = model.next()) {
    if (field->number == 2) graph.metadata.insert_or_assign("producer", std::string(field->text()));
    if (field->number == 14 && graph.metadata.size() < most_metadata) {
      graph.metadata.insert(read_pair(field->bytes));
    }
    if (field->number != 7) continue;
    if (std::exchange(has_graph, true)) throw Error(ErrorKind::damaged, "the file has two graphs");
    graph.read(field->bytes);
  }
  if (!has_graph) throw Error(ErrorKind::damaged, "the file has no graph");
  return {path, "onnx", std::move(graph.tensors), std::move(graph.metadata)};
}

}  // namespace attnscope
