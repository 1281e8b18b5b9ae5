// Composition of heads: how much of what one head writes another one reads (Elhage et al. 2021,
// "A Mathematical Framework for Transformer Circuits").
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/progress.h"

namespace attnscope {

/// The input of the later head that reads the earlier head's output, in rows: x W is the output.
enum class Composition {
  queries,  ///< W_OV W_QK
  keys,     ///< W_OV W_QKᵀ
  values    ///< W_OV W_OV′
};

struct HeadComposition {
  std::int64_t from_layer = 0, from_head = 0, to_layer = 0, to_head = 0;
  double value = 0;  ///< ‖A B‖ / (‖A‖ ‖B‖), Frobenius norms, from 0 to 1; NaN if one is 0
  /// 1/√D, the value of unrelated heads: the root mean square of ‖A U B‖ / (‖A‖ ‖B‖) over random
  /// rotations U.
  double baseline = 0;

  [[nodiscard]] double above_baseline() const { return value - baseline; }
};

/// Composition of every head with every head of later layers on the same residual stream
/// (layer_stages), in descending order; unknown values are last. A layer that attends to an encoder
/// reads only its queries from that stream. Throws like head_factors, and Error(usage) if no pair
/// is left; Cancelled.
[[nodiscard]] std::vector<HeadComposition> head_compositions(const Model& model, Composition kind,
                                                             const Progress& progress = {});

}  // namespace attnscope
