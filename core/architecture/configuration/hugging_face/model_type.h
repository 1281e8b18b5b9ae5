// Model types of Hugging Face's transformers and the effect of their configuration keys.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "core/architecture/configuration/config_reader.h"

namespace attnscope {

struct ModelType {
  std::string_view name;    ///< model_type: "llama"
  std::string_view family;  ///< id in architecture_families()
  std::span<const ConfigKey> keys;
  /// Reads settings that depend on more than one key; may be null.
  void (*read)(ConfigReader& reader, NeighbourConfig& config) = nullptr;
};

// One function per file of this folder.
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

/// `object` with the defaults of the class of `kind` for missing keys.
[[nodiscard]] nlohmann::json with_class_defaults(const nlohmann::json& object,
                                                 std::string_view kind);

/// Reads decoder_start_token_id, the first token of a text in the decoder of an encoder–decoder.
/// Throws Error(damaged).
void read_start_token(ConfigReader& reader, NeighbourConfig& config);

/// Reads GPT-2's two switches of the scores: scale_attn_weights, scale_attn_by_inverse_layer_idx.
void read_score_scale(ConfigReader& reader, NeighbourConfig& config);

/// Keys of Llama and of models that share its layers: heads, sizes, norms, activation.
[[nodiscard]] std::span<const ConfigKey> llama_keys();

/// Keys that a model type uses for rope_theta and partial_rotary_factor.
struct RotaryKeys {
  const char* theta = "rope_theta";
  const char* part = nullptr;  ///< fraction of a head's channels that are rotated; null: always all
};

/// Reads rotary positions: rope_theta, rope_scaling, rope_parameters, partial_rotary_factor, and
/// max_position_embeddings, which is the context except with dynamic scaling. Throws
/// Error(unsupported) for a scaling that is not supported, Error(damaged) for a scaling that lacks
/// a number.
void read_rotary(ConfigReader& reader, NeighbourConfig& config, const RotaryKeys& keys);
/// Reads rotary positions with Llama's keys.
void read_rotary(ConfigReader& reader, NeighbourConfig& config);

/// Reads rope_scaling or rope_parameters, found under the key `of`. `context` and `trained` are
/// max_position_embeddings and original_max_position_embeddings, or null. Throws like read_rotary.
void read_rope_scaling(const nlohmann::json& scaling, const char* of, const nlohmann::json& context,
                       const nlohmann::json& trained, NeighbourConfig& config);

/// Keys of models that mix layers with and without windows, each kind with its own rotary
/// positions.
struct LocalLayers {
  const char* theta;        ///< key of θ in layers without windows
  const char* local_theta;  ///< key of θ in layers with windows
  const char* every;     ///< key of the period of layers without windows, if layer_types is missing
  const char* window;    ///< key of the window in tokens
  int least_window = 1;  ///< smallest valid window
  bool begins;  ///< true: the first layer has no window; false: the last of each `every` has none
  bool scales;  ///< true: rope_scaling applies to layers without windows
};

/// Sets `differences`, layer.rotary and the context of such a model; members of missing keys are
/// not set. Throws Error(damaged) if the number of layers is missing, Error(unsupported) for kinds
/// of layers and of rotary positions that are not supported.
void read_local_layers(ConfigReader& reader, NeighbourConfig& config, const LocalLayers& keys);

/// Value of sliding_window: a number of tokens, or null for none. Throws Error(damaged).
[[nodiscard]] nlohmann::json take_window(ConfigReader& reader);

/// Sets windows of `window` tokens in the layers that layer_types marks as "sliding_attention", or
/// without layer_types in every `every`-th layer from `first` on. Throws Error(damaged) for sliding
/// layers without a window.
void read_sliding_layers(ConfigReader& reader, NeighbourConfig& config,
                         const nlohmann::json& window, std::int64_t first, std::int64_t every);

}  // namespace attnscope
