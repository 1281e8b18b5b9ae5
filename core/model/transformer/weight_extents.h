// What a model's weights say of its extents beyond its ModelSpec.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

class Model;

struct WeightExtents {
  std::vector<std::int64_t> head;  ///< outputs of the head's layers; the last: classes or words
  bool head_biases = true;
  bool tied_head = false;  ///< the head's weight is the token embedding's
  bool query_key_value_biases = true;
  bool linear_biases = true;  ///< of output projections and MLPs
  bool layer_scales = false;  ///< what attention and MLP give is scaled, channel by channel
  std::int64_t pooling = 0;   ///< P of the attention pooling before the head; 0: none
};

/// Of a model that load_model gave.
[[nodiscard]] WeightExtents weight_extents(const Model& model);

}  // namespace attnscope
