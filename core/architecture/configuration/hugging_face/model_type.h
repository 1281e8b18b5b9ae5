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
[[nodiscard]] std::span<const ModelType> tower_model_types();
[[nodiscard]] std::span<const ModelType> gpt2_model_types();
[[nodiscard]] std::span<const ModelType> llama_model_types();
[[nodiscard]] std::span<const ModelType> gemma_model_types();
[[nodiscard]] std::span<const ModelType> phi_model_types();
[[nodiscard]] std::span<const ModelType> eleuther_model_types();
[[nodiscard]] std::span<const ModelType> opt_model_types();
[[nodiscard]] std::span<const ModelType> bloom_model_types();
[[nodiscard]] std::span<const ModelType> bert_model_types();
[[nodiscard]] std::span<const ModelType> encoder_model_types();
[[nodiscard]] std::span<const ModelType> deberta_model_types();
[[nodiscard]] std::span<const ModelType> modernbert_model_types();
[[nodiscard]] std::span<const ModelType> nomic_model_types();
[[nodiscard]] std::span<const ModelType> t5_model_types();
[[nodiscard]] std::span<const ModelType> whisper_model_types();

[[nodiscard]] std::span<const ModelType> bart_model_types();

/// `object`, with what the class of `kind` has for keys that it leaves out.
[[nodiscard]] nlohmann::json with_class_defaults(const nlohmann::json& object,
                                                 std::string_view kind);

/// The token that the texts of an encoder–decoder's decoder begin with: decoder_start_token_id.
/// Throws Error(damaged).
void read_start_token(ConfigReader& reader, NeighbourConfig& config);

/// GPT-2's two switches of the scores: scale_attn_weights, scale_attn_by_inverse_layer_idx.
void read_score_scale(ConfigReader& reader, NeighbourConfig& config);

/// The keys of Llama and of those that share its layers: heads, extents, norms, activation.
[[nodiscard]] std::span<const ConfigKey> llama_keys();

/// Where a kind of models keeps what others keep under rope_theta and partial_rotary_factor.
struct RotaryKeys {
  const char* theta = "rope_theta";
  const char* part = nullptr;  ///< of a head's channels, those that turn; null: always all
};

/// Rotary positions: rope_theta, rope_scaling, rope_parameters, partial_rotary_factor, and
/// max_position_embeddings, which with most scalings is the context. Throws Error(unsupported) for
/// a scaling that is not run, Error(damaged) for one without its numbers.
void read_rotary(ConfigReader& reader, NeighbourConfig& config, const RotaryKeys& keys);
/// As Llama has them.
void read_rotary(ConfigReader& reader, NeighbourConfig& config);

/// What rope_scaling or rope_parameters says, found under the key `of`; `context` and `trained`:
/// max_position_embeddings and original_max_position_embeddings, or null. Throws as read_rotary.
void read_rope_scaling(const nlohmann::json& scaling, const char* of, const nlohmann::json& context,
                       const nlohmann::json& trained, NeighbourConfig& config);

/// Models of layers with windows and layers without, each with rotary positions of its own.
struct LocalLayers {
  const char* theta;        ///< key of θ of those without
  const char* local_theta;  ///< key of θ of those with
  const char* every;        ///< key of how often one is without, where layer_types does not say
  const char* window;       ///< key of how many tokens they see
  int least_window = 1;     ///< the fewest of them
  bool begins;              ///< the first layer is without; else the last of each `every`
  bool scales;              ///< rope_scaling is of those without
};

/// `differences` of such a model, layer.rotary, and the context; what is left out is not set.
/// Throws Error(damaged) where the number of layers is not said, Error(unsupported) for kinds of
/// layers and of rotary positions that are not run.
void read_local_layers(ConfigReader& reader, NeighbourConfig& config, const LocalLayers& keys);

/// sliding_window: a number of tokens, or null for none. Throws Error(damaged).
[[nodiscard]] nlohmann::json take_window(ConfigReader& reader);

/// Windows of `window` tokens in the layers that layer_types says ("sliding_attention"), or where
/// it says nothing in every `every`-th from `first` on. Throws Error(damaged) for layers that slide
/// without a window.
void read_sliding_layers(ConfigReader& reader, NeighbourConfig& config,
                         const nlohmann::json& window, std::int64_t first, std::int64_t every);

}  // namespace attnscope
