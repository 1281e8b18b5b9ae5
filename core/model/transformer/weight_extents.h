// Shapes and options of a model that follow from its weights and not from its ModelSpec.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

class Model;

struct WeightExtents {
  std::vector<std::int64_t> head;  ///< outputs of the head's layers; the last: classes or tokens
  bool head_biases = true;
  bool tied_head = false;  ///< true if the head's weight is the token embedding's
  bool query_key_value_biases = true;
  bool key_biases = true;     ///< true if keys have a bias
  bool output_biases = true;  ///< true if the output projections of attention have a bias
  bool linear_biases = true;  ///< true if the first layer's MLP has biases
  bool layer_scales = false;  ///< true if attention and MLP outputs are scaled per channel
  /// Width of the norm of the queries, of a head or of all; 0: none. Keys have one, too.
  std::int64_t query_norm = 0;
  bool local_convolutions = false;  ///< true if layers add convolutions of the tokens (MLLA)
  bool mlp_norm = true;  ///< false if attention and MLP of a layer share the norm of their input
  std::int64_t pooling = 0;     ///< P of the additive pooling before the head; 0 for none
  bool patch_biases = true;     ///< true if the patch embedding has a bias
  bool router_biases = false;   ///< true if the routers of experts have a bias
  bool shared_gate = false;     ///< true for a gate of the MLP next to experts (Qwen2-MoE)
  bool embedding_norm = false;  ///< true for a norm of the tokens before the first layer
  bool head_norm = false;       ///< true for a norm of the head's input alone
  bool encoder_norm = false;    ///< true for a norm after an encoder's last layer, before a decoder
  bool final_norm = true;       ///< true for a norm of all tokens after the last layer
  /// True for each convolution before the patches that is followed by a LayerNorm. A norm by
  /// running statistics is part of the convolution.
  std::vector<bool> stem_norms = {};
};

/// Empty extents unless the model is a Transformer, as load_model returns it.
[[nodiscard]] WeightExtents weight_extents(const Model& model);

}  // namespace attnscope
