// Finds NaN and infinite elements in the tensors of a file.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct TensorScan {
  TensorView::NonFinite counts;
  std::string error;  ///< reason why the elements cannot be read, else empty
};

/// One result per tensor, in order. Reads every element of the file on all cores.
[[nodiscard]] std::vector<TensorScan> scan_tensors(const Checkpoint& checkpoint);

}  // namespace attnscope
