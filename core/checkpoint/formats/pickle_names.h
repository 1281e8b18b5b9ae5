// Globals that a pickle may name: functions and types of Python, NumPy and PyTorch.
#pragma once

#include <optional>
#include <string_view>

#include "core/tensor/dtype.h"

namespace attnscope {

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

/// The global `name`; null if unknown.
[[nodiscard]] const PickleGlobal* find_pickle_global(std::string_view name);

}  // namespace attnscope
