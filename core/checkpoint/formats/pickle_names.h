// The names that a pickle may call by: functions and types of Python, NumPy and PyTorch.
#pragma once

#include <optional>
#include <string_view>

#include "core/tensor/dtype.h"

namespace attnscope {

/// One whose results are understood.
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
    saved_storage,  // bytes: a legacy file of torch.save that holds one storage
    element_type,
    inert  // a function or type of Python's own: what it makes is opaque
  };

  std::string_view name;
  Role role;
  std::optional<DType> dtype = std::nullopt;  ///< of storages and element types
};

/// Null for a name that is not in the list.
[[nodiscard]] const PickleGlobal* find_pickle_global(std::string_view name);

}  // namespace attnscope
