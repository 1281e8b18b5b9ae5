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
  bool key_biases = true;       ///< of those, that of the keys
  bool linear_biases = true;    ///< of output projections and MLPs
  bool layer_scales = false;    ///< what attention and MLP give is scaled, channel by channel
  std::int64_t pooling = 0;     ///< P of the attention pooling before the head; 0: none
  bool embedding_norm = false;  ///< of the tokens before the first layer, of each text
  bool encoder_norm = false;    ///< after an encoder's last layer, where a decoder follows
  bool final_norm = true;       ///< after the last layer, of all tokens
  /// Whether a LayerNorm is behind each convolution before the patches; one of running statistics
  /// is part of the convolution.
  std::vector<bool> stem_norms = {};
};

/// Of a model that load_model gave.
[[nodiscard]] WeightExtents weight_extents(const Model& model);

}  // namespace attnscope
