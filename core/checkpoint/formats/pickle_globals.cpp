// Results of the "calls" in a pickle. No Python code runs: a call is recognised by name, its
// arguments are checked, and a node that describes the result is made. The result of an unknown
// call is an opaque value.
#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/checkpoint/formats/pickle.h"
#include "core/error.h"
#include "core/tensor/dtype.h"

namespace attnscope {

namespace {

// ---- the globals that a pickle may name, of Python, NumPy and PyTorch ----

/// A global whose results are understood.
struct PickleGlobal {
  enum class Role {
    mapping,
    record,
    set,
    size,
    device,
    encoded_bytes,
    number_type,
    number,
    tensor,
    tensor_v2,
    tensor_v3,
    parameter,
    subclass,
    storage_type,
    untyped_storage,
    saved_storage,  // bytes of a legacy torch.save file that holds one storage
    element_type,
    inert  // a function or type of Python whose result is opaque
  };

  std::string_view name;
  Role role;
  std::optional<DType> dtype = std::nullopt;  ///< dtype of storages and element types
};

using Role = PickleGlobal::Role;

constexpr auto globals = std::to_array<PickleGlobal>({
    {"collections.OrderedDict", Role::mapping},
    {"collections.defaultdict", Role::mapping},
    {"argparse.Namespace", Role::record},  // training options next to the weights
    {"types.SimpleNamespace", Role::record},
    {"builtins.set", Role::set},
    {"__builtin__.set", Role::set},
    {"builtins.frozenset", Role::set},
    {"__builtin__.frozenset", Role::set},
    {"builtins.list", Role::inert},
    {"__builtin__.list", Role::inert},
    {"builtins.dict", Role::inert},
    {"__builtin__.dict", Role::inert},
    {"builtins.int", Role::inert},
    {"__builtin__.int", Role::inert},
    {"builtins.float", Role::inert},
    {"__builtin__.float", Role::inert},
    {"_codecs.encode", Role::encoded_bytes},
    // These make metrics computed by NumPy, stored next to the weights.
    {"numpy.dtype", Role::number_type},
    {"numpy.core.multiarray.scalar", Role::number},
    {"numpy._core.multiarray.scalar", Role::number},
    {"torch.Size", Role::size},
    {"torch.device", Role::device},
    {"torch._utils._rebuild_tensor", Role::tensor},
    {"torch._utils._rebuild_tensor_v2", Role::tensor_v2},
    {"torch._utils._rebuild_tensor_v3", Role::tensor_v3},
    {"torch._utils._rebuild_parameter", Role::parameter},
    {"torch._utils._rebuild_parameter_with_state", Role::parameter},
    {"torch._tensor._rebuild_from_type_v2", Role::subclass},
    {"torch.Tensor", Role::inert},
    {"torch.nn.parameter.Parameter", Role::inert},
    {"torch.nn.parameter.Buffer", Role::inert},
    {"torch.DoubleStorage", Role::storage_type, DType::f64},
    {"torch.FloatStorage", Role::storage_type, DType::f32},
    {"torch.HalfStorage", Role::storage_type, DType::f16},
    {"torch.BFloat16Storage", Role::storage_type, DType::bf16},
    {"torch.LongStorage", Role::storage_type, DType::i64},
    {"torch.IntStorage", Role::storage_type, DType::i32},
    {"torch.ShortStorage", Role::storage_type, DType::i16},
    {"torch.CharStorage", Role::storage_type, DType::i8},
    {"torch.ByteStorage", Role::storage_type, DType::u8},
    {"torch.BoolStorage", Role::storage_type, DType::boolean},
    {"torch.UntypedStorage", Role::untyped_storage, DType::u8},
    {"torch.storage.UntypedStorage", Role::untyped_storage, DType::u8},
    {"torch.storage._UntypedStorage", Role::untyped_storage, DType::u8},
    {"torch.storage._load_from_bytes", Role::saved_storage},
    {"torch.float64", Role::element_type, DType::f64},
    {"torch.float32", Role::element_type, DType::f32},
    {"torch.float16", Role::element_type, DType::f16},
    {"torch.bfloat16", Role::element_type, DType::bf16},
    {"torch.int64", Role::element_type, DType::i64},
    {"torch.int32", Role::element_type, DType::i32},
    {"torch.int16", Role::element_type, DType::i16},
    {"torch.int8", Role::element_type, DType::i8},
    {"torch.uint64", Role::element_type, DType::u64},
    {"torch.uint32", Role::element_type, DType::u32},
    {"torch.uint16", Role::element_type, DType::u16},
    {"torch.uint8", Role::element_type, DType::u8},
    {"torch.bool", Role::element_type, DType::boolean},
});

/// The global `name`; null if unknown.
const PickleGlobal* find_pickle_global(std::string_view name) {
  const auto* found = std::find_if(globals.begin(), globals.end(),
                                   [&](const PickleGlobal& global) { return global.name == name; });
  return found == globals.end() ? nullptr : found;
}

// ---- the calls ----

using Global = PickleGlobal;

Error unfit(const std::string& callee, std::string_view what) {
  return Error(ErrorKind::damaged,
               "the pickle gives '" + callee + "' invalid arguments: " + std::string(what));
}

std::int64_t integer_at(const PickleNode& arguments, std::size_t place, const std::string& callee) {
  const PickleNode& node = *arguments.items.at(place);
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (node.kind != NodeKind::integer || node.integer < 0 || node.integer > most) {
    throw unfit(callee, "an impossible number");
  }
  return node.integer;
}

std::vector<std::int64_t> integers(const PickleNode& list, const std::string& callee) {
  constexpr std::size_t most_axes = 64;
  if (list.kind != NodeKind::tuple && list.kind != NodeKind::list)
    throw unfit(callee, "not a tuple");
  if (list.items.size() > most_axes) throw unfit(callee, "too many axes");
  std::vector<std::int64_t> numbers;
  for (std::size_t place = 0; place < list.items.size(); ++place) {
    numbers.push_back(integer_at(list, place, callee));
  }
  return numbers;
}

/// Refuses a view that reaches beyond its storage, and one that repeats a small storage into a huge
/// array.
void check_view(const PickledTensor& view, const std::string& callee) {
  const std::int64_t count = element_count(view.shape);
  if (count == 0) return;
  const auto stored = static_cast<std::int64_t>(static_cast<std::uint64_t>(view.storage_count) *
                                                size_of(view.storage_dtype) / size_of(view.dtype));
  std::int64_t last = view.offset;
  for (std::size_t axis = 0; axis < view.shape.size() && last < stored; ++axis) {
    const std::int64_t steps = view.shape[axis] - 1, stride = view.strides[axis];
    if (steps > 0 && stride > (stored - 1 - last) / steps) {
      last = stored;
    } else {
      last += steps * stride;
    }
  }
  if (last >= stored) {
    throw Error(ErrorKind::damaged, "a tensor reaches beyond its storage")
        .expected("at most " + std::to_string(stored) + " elements")
        .found(to_string(view.shape) + " from element " + std::to_string(view.offset));
  }
  constexpr std::int64_t always_fine = 1 << 24;
  if (count > std::max(stored, always_fine)) {
    throw unfit(callee, "it repeats its storage too often");
  }
}

/// Fills a tensor from the arguments (storage, offset, size, stride, …) of torch's rebuild
/// functions.
void fill_tensor(PickleNode& result, const PickleNode& arguments, const std::string& callee,
                 std::optional<DType> dtype) {
  if (arguments.items.size() < 4 || arguments.items[0]->kind != NodeKind::storage) {
    throw unfit(callee, "not a storage");
  }
  const PickledTensor& storage = *arguments.items[0]->tensor;
  PickledTensor view = storage;
  view.shape = integers(*arguments.items[2], callee);
  view.strides = integers(*arguments.items[3], callee);
  if (view.shape.size() != view.strides.size()) {
    throw unfit(callee, "the numbers of strides and dimensions differ");
  }
  view.dtype = dtype.value_or(storage.storage_dtype);
  const std::int64_t offset = integer_at(arguments, 1, callee);
  if (offset > (std::int64_t{1} << 62) - storage.offset)
    throw unfit(callee, "its offset is too large");
  view.offset = storage.offset + offset;
  check_view(view, callee);
  result.kind = NodeKind::tensor;
  result.tensor = std::make_unique<PickledTensor>(std::move(view));
}

/// Fills a dict from the arguments of dict(), dict([[key, value], …]) or defaultdict(factory).
void fill_mapping(PickleNode& result, const PickleNode& arguments, const std::string& callee) {
  result.kind = NodeKind::dict;
  if (arguments.items.empty() || arguments.items[0]->kind == NodeKind::global) return;
  const PickleNode& pairs = *arguments.items[0];
  if (pairs.kind != NodeKind::list && pairs.kind != NodeKind::tuple)
    throw unfit(callee, "not a list");
  for (const PickleNode* pair : pairs.items) {
    if (pair->items.size() != 2 ||
        (pair->kind != NodeKind::list && pair->kind != NodeKind::tuple)) {
      throw unfit(callee, "not pairs");
    }
    result.items.insert(result.items.end(), pair->items.begin(), pair->items.end());
  }
}

/// Decodes bytes that protocol 2 writes as text: each character, given in UTF-8, is one byte
/// (Latin-1).
std::string latin1(const std::string& text, const std::string& callee) {
  std::string bytes;
  for (std::size_t place = 0; place < text.size(); ++place) {
    const auto first = static_cast<unsigned char>(text[place]);
    if (first < 0x80) {
      bytes += text[place];
      continue;
    }
    if ((first != 0xC2 && first != 0xC3) || place + 1 == text.size()) {
      throw unfit(callee, "a character is not a byte");
    }
    const auto second = static_cast<unsigned char>(text[++place]);
    bytes += static_cast<char>((first & 3U) << 6 | (second & 0x3FU));
  }
  return bytes;
}

/// Fills a number from scalar(dtype, bytes). Numbers of other sizes than 64 bits are ignored.
void fill_number(PickleNode& result, const PickleNode& arguments, const std::string& callee) {
  if (arguments.items.size() != 2 || arguments.items[0]->kind != NodeKind::record) {
    throw unfit(callee, "not a type");
  }
  const std::string& type = arguments.items[0]->text;
  const std::string& bytes = arguments.items[1]->text;
  if (arguments.items[1]->kind != NodeKind::bytes || bytes.size() != 8) return;
  if (type == "f8") {
    result.kind = NodeKind::real;
    std::memcpy(&result.real, bytes.data(), 8);
  } else if (type == "i8") {
    result.kind = NodeKind::integer;
    std::memcpy(&result.integer, bytes.data(), 8);
  }
}

/// True if `node` contains a tensor or storage within `levels` levels. `left` limits the visited
/// parts.
bool reaches_tensor(const PickleNode& node, int levels, std::size_t& left) {
  if (node.kind == NodeKind::tensor || node.kind == NodeKind::storage || node.made_of_tensors)
    return true;
  if (levels == 0) return false;
  for (const PickleNode* item : node.items) {
    if (left == 0) return false;
    --left;
    if (reaches_tensor(*item, levels - 1, left)) return true;
  }
  return false;
}

DType element_type_at(const PickleNode& arguments, std::size_t place, const std::string& callee) {
  if (arguments.items.size() > place && arguments.items[place]->kind == NodeKind::global) {
    const Global* global = find_pickle_global(arguments.items[place]->text);
    if (global != nullptr && global->role == Role::element_type) return *global->dtype;
  }
  throw unfit(callee, "not an element type");
}

}  // namespace

bool PickleGlobals::runs_something(std::string_view name) {
  constexpr std::string_view modules[] = {
      "os.",    "posix.",  "nt.",  "subprocess.", "sys.",      "socket.",     "shutil.",
      "runpy.", "ctypes.", "pty.", "importlib.",  "commands.", "webbrowser.", "code."};
  constexpr std::string_view functions[] = {"eval",       "exec", "execfile", "compile",
                                            "__import__", "open", "input",    "breakpoint"};
  for (const std::string_view module : modules) {
    if (name.starts_with(module)) return true;
  }
  for (const std::string_view builtins : {"builtins.", "__builtin__."}) {
    if (!name.starts_with(builtins)) continue;
    const std::string_view function = name.substr(builtins.size());
    return std::find(std::begin(functions), std::end(functions), function) != std::end(functions);
  }
  return false;
}

PickleNode& PickleGlobals::build(PickleReader& reader, PickleNode& callee, PickleNode& arguments) {
  if (callee.kind != NodeKind::global && callee.kind != NodeKind::opaque) {
    throw Error(ErrorKind::damaged, "the pickle calls a value that is not callable");
  }
  const Global* global =
      callee.kind == NodeKind::global ? find_pickle_global(callee.text) : nullptr;
  const std::string& name = callee.text;
  const auto opaque = [&]() -> PickleNode& {
    std::size_t most_parts = 4096;
    constexpr int levels = 4;
    PickleNode& result = reader.make(NodeKind::opaque);
    result.made_of_tensors = reaches_tensor(arguments, levels, most_parts);
    reader.charge(4096 - most_parts + name.size());
    // Protocols before 2 pass the class as the first argument of a generic constructor.
    const bool any = name == "copyreg._reconstructor" || name == "copy_reg._reconstructor";
    const bool has_class =
        any && !arguments.items.empty() && arguments.items[0]->kind == NodeKind::global;
    result.text = has_class ? arguments.items[0]->text : name;
    return result;
  };
  if (global == nullptr || global->role == Role::inert) return opaque();
  if (arguments.kind != NodeKind::tuple) throw unfit(name, "they are not a tuple");
  const auto is_first = [&](std::initializer_list<NodeKind> kinds) {
    return !arguments.items.empty() &&
           std::find(kinds.begin(), kinds.end(), arguments.items[0]->kind) != kinds.end();
  };
  for (const PickleNode* const item : arguments.items) {
    reader.charge(item->items.size() + item->text.size());
    if (item->tensor) reader.charge(sizeof(PickledTensor) + item->tensor->storage.size());
  }
  // A tensor of an unknown element type or kind remains the opaque value it is made from.
  if (is_first({NodeKind::opaque}) && arguments.items[0]->made_of_tensors)
    return *arguments.items[0];
  PickleNode& result = reader.make(NodeKind::none);
  switch (global->role) {
    case Role::mapping:
      fill_mapping(result, arguments, name);
      return result;
    case Role::record:
      result.kind = NodeKind::record;
      return result;
    case Role::set:
      result.kind = NodeKind::set;
      if (is_first({NodeKind::list, NodeKind::tuple})) result.items = arguments.items[0]->items;
      return result;
    case Role::size:
      if (!is_first({NodeKind::tuple, NodeKind::list})) throw unfit(name, "not a tuple");
      result.kind = NodeKind::tuple;
      result.items = arguments.items[0]->items;
      return result;
    case Role::device:
      if (!is_first({NodeKind::text})) throw unfit(name, "not a string");
      result.kind = NodeKind::text;
      result.text = arguments.items[0]->text;
      return result;
    case Role::encoded_bytes:
      if (!is_first({NodeKind::text})) throw unfit(name, "not a string");
      result.kind = NodeKind::bytes;
      result.text = latin1(arguments.items[0]->text, name);
      return result;
    case Role::number_type:
      if (!is_first({NodeKind::text})) throw unfit(name, "not a string");
      result.kind = NodeKind::record;
      result.text = arguments.items[0]->text;
      return result;
    case Role::number:
      fill_number(result, arguments, name);
      return result;
    case Role::tensor:
    case Role::tensor_v2:
      fill_tensor(result, arguments, name, std::nullopt);
      return result;
    case Role::tensor_v3:
      fill_tensor(result, arguments, name, element_type_at(arguments, 6, name));
      return result;
    case Role::parameter:
      if (!is_first({NodeKind::tensor})) throw unfit(name, "not a tensor");
      return *arguments.items[0];
    case Role::subclass:  // (function, type, arguments, state): as function(arguments)
      if (arguments.items.size() < 3 || !is_first({NodeKind::global}))
        throw unfit(name, "not a function");
      if (arguments.items[0]->text == name) throw unfit(name, "it names itself");
      return build(reader, *arguments.items[0], *arguments.items[2]);
    case Role::saved_storage:  // a tensor's elements as pickle.dump writes them
      if (!is_first({NodeKind::bytes})) throw unfit(name, "not bytes");
      result.kind = NodeKind::storage;
      result.tensor = std::make_unique<PickledTensor>(
          read_saved_storage(reader.bytes_, reader.start_, *arguments.items[0]));
      return result;
    case Role::storage_type:
    case Role::untyped_storage:
    case Role::element_type:
    case Role::inert:
      break;
  }
  throw Error(ErrorKind::unsupported, "the pickle calls '" + name + "', which is not supported")
      .remedy("save only the weights: torch.save(model.state_dict(), FILE)");
}

PickleNode& PickleGlobals::persistent(PickleReader& reader, const PickleNode& id) {
  const std::string callee = "storage";
  if (id.kind == NodeKind::tuple && id.items.size() >= 2 && id.items[0]->kind == NodeKind::text &&
      id.items[0]->text == "module" && id.items[1]->kind == NodeKind::global) {
    return *id.items[1];
  }
  if (id.kind != NodeKind::tuple || id.items.size() < 5 || id.items[0]->kind != NodeKind::text ||
      id.items[0]->text != "storage" || id.items[1]->kind != NodeKind::global ||
      id.items[2]->kind != NodeKind::text) {
    throw Error(ErrorKind::damaged, "the pickle refers to something that is not a storage");
  }
  const Global* type = find_pickle_global(id.items[1]->text);
  if (type == nullptr) {
    reader.charge(id.items[1]->text.size());
    PickleNode& result = reader.make(NodeKind::opaque);
    result.text = id.items[1]->text;
    result.made_of_tensors = true;
    return result;
  }
  if (type->role != Role::storage_type && type->role != Role::untyped_storage) {
    throw unfit(callee, "not a storage type");
  }
  PickleNode& result = reader.make(NodeKind::storage);
  reader.charge(sizeof(PickledTensor) + id.items[2]->text.size());
  result.tensor = std::make_unique<PickledTensor>();
  PickledTensor& tensor = *result.tensor;
  tensor.storage = id.items[2]->text;
  tensor.storage_dtype = tensor.dtype = *type->dtype;
  tensor.storage_count = integer_at(id, 4, callee);
  if (tensor.storage_count > (std::int64_t{1} << 58)) throw unfit(callee, "its size is too large");
  // The legacy container's view of a storage: (key, offset, size) or None.
  if (id.items.size() > 5 && id.items[5]->kind == NodeKind::tuple) {
    const PickleNode& view = *id.items[5];
    if (view.items.size() != 3) throw unfit(callee, "not a view");
    tensor.offset = integer_at(view, 1, callee);
    if (tensor.offset > tensor.storage_count ||
        integer_at(view, 2, callee) > tensor.storage_count - tensor.offset) {
      throw unfit(callee, "the view reaches beyond its storage");
    }
  }
  return result;
}

}  // namespace attnscope
