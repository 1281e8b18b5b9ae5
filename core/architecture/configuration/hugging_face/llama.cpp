// Configuration keys of Llama and of models that share its layers and most of its keys: Mistral,
// Qwen2 and 3, OLMo 2.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kLlamaKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"num_key_value_heads", Use::fact, "layer.attention.key_heads"},
    {"head_dim", Use::optional, "head_width"},
    {"rms_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"attention_bias"},
    {"mlp_bias"},
    {"pretraining_tp", Use::required, "1"},
    {"is_llama_config"},                           // key of SmolLM
    {"rope_interleaved", Use::required, "false"},  // key of SmolLM
};

/// Reads Mistral, where every layer has a sliding window.
void read_mistral(ConfigReader& reader, NeighbourConfig& config) {
  const json window = take_window(reader);
  if (!window.is_null()) config.values["layer.scores.window"] = window.dump();
  read_rotary(reader, config);
}

/// Reads Qwen, where layers from max_window_layers on may have sliding windows.
void read_qwen(ConfigReader& reader, NeighbourConfig& config) {
  const json window = take_window(reader);
  const json& full = reader.take_value("max_window_layers");
  const bool slides = reader.flag("use_sliding_window", false);
  if (!full.is_number_unsigned() && (slides || !full.is_null())) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about("max_window_layers")
        .expected("a number of layers")
        .found(json_text(full));
  }
  read_sliding_layers(reader, config, slides ? window : json(),
                      full.is_null() ? 0 : full.get<std::int64_t>(), 1);
  read_rotary(reader, config);
}

constexpr ModelType kLlamaTypes[] = {{"llama", "hugging-face-llama", kLlamaKeys, read_rotary},
                                     {"mistral", "hugging-face-llama", kLlamaKeys, read_mistral},
                                     {"qwen2", "hugging-face-llama", kLlamaKeys, read_qwen},
                                     {"qwen3", "hugging-face-qwen3", kLlamaKeys, read_qwen},
                                     {"olmo2", "hugging-face-olmo-2", kLlamaKeys, read_rotary}};

}  // namespace

std::span<const ConfigKey> llama_keys() { return kLlamaKeys; }

std::span<const ModelType> llama_model_types() { return kLlamaTypes; }

}  // namespace attnscope
