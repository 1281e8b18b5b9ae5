#include "core/checkpoint/formats/pickle_names.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/checkpoint/formats/pickle.h"

namespace attnscope {

namespace {

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

}  // namespace

const PickleGlobal* find_pickle_global(std::string_view name) {
  const auto* found = std::find_if(globals.begin(), globals.end(),
                                   [&](const PickleGlobal& global) { return global.name == name; });
  return found == globals.end() ? nullptr : found;
}

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

}  // namespace attnscope
