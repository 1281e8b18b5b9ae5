// Which tensors of a file hold numbers that are none.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct TensorScan {
  TensorView::NonFinite counts;
  std::string error;  ///< why the elements cannot be read; empty if they can
};

/// One per tensor, in their order. Reads every element of the file, on all cores.
[[nodiscard]] std::vector<TensorScan> scan_tensors(const Checkpoint& checkpoint);

}  // namespace attnscope
