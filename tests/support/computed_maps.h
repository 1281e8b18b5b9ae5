// Maps computed from copies of an input's queries and keys.
#pragma once

#include "core/model/layer_run.h"

namespace attnscope {

/// Computed maps that own copies of the queries and keys, for inputs with a shorter lifetime.
[[nodiscard]] inline ImpliedMaps computed_from(const Mechanism& mechanism,
                                               const AttentionInput& input) {
  const auto copy = [](ConstMatrixMap rows) {
    Tensor tensor({rows.rows(), rows.cols()});
    tensor.matrix() = rows;
    return tensor;
  };
  return computed_maps(mechanism, input, copy(input.queries), copy(input.keys));
}

}  // namespace attnscope
