// One kind of model of Hugging Face's transformers: what the keys of its configuration do.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "core/architecture/configuration/config_reader.h"

namespace attnscope {

struct ModelType {
  std::string_view name;    ///< model_type: "llama"
  std::string_view family;  ///< of architecture_families()
  std::span<const ConfigKey> keys;
  /// Takes what one key alone does not say; may be null.
  void (*read)(ConfigReader& reader, NeighbourConfig& config) = nullptr;
};

// One line a file of this folder.
[[nodiscard]] std::span<const ModelType> vision_model_types();
[[nodiscard]] std::span<const ModelType> gpt2_model_types();
[[nodiscard]] std::span<const ModelType> llama_model_types();
[[nodiscard]] std::span<const ModelType> gemma_model_types();
[[nodiscard]] std::span<const ModelType> bert_model_types();

/// true or false; `usual` where the key is not there. Throws Error(damaged) naming it.
[[nodiscard]] bool truth(const nlohmann::json& value, bool usual, const char* key);

/// GPT-2's two switches of the scores: scale_attn_weights, scale_attn_by_inverse_layer_idx.
void read_score_scale(ConfigReader& reader, NeighbourConfig& config);

/// Rotary positions: rope_theta, rope_scaling, rope_parameters, partial_rotary_factor, and
/// max_position_embeddings, which with most scalings is the context. Throws Error(unsupported) for
/// a scaling that is not run, Error(damaged) for one without its numbers.
void read_rotary(ConfigReader& reader, NeighbourConfig& config);

/// Sliding windows of `window` tokens in the layers that layer_types says ("sliding_attention"), or
/// where it says nothing in every `every`-th from `first` on; 0: in none.
void read_sliding_window(ConfigReader& reader, NeighbourConfig& config, std::int64_t first,
                         std::int64_t every);

}  // namespace attnscope
