// Configuration keys of Phi and Phi-3.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kPhiKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"num_key_value_heads", Use::fact, "layer.attention.key_heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"qk_layernorm"},  // the tensors show it
};

/// Keys in addition to Llama's.
constexpr ConfigKey kPhi3Keys[] = {
    {"full_attn_mod", Use::required, "1"},
    {"interpolate_factor", Use::required, "1"},
    {"lm_head_bias"},  // the tensors show it
};

void read_phi(ConfigReader& reader, NeighbourConfig& config) {
  read_rotary(reader, config, {.part = "partial_rotary_factor"});
}

void read_phi3(ConfigReader& reader, NeighbourConfig& config) {
  reader.take(kPhi3Keys);
  const json window = take_window(reader);
  if (!window.is_null()) config.values["layer.scores.window"] = window.dump();
  read_rotary(reader, config, {.part = "partial_rotary_factor"});
}

}  // namespace

std::span<const ModelType> phi_model_types() {
  static const ModelType types[] = {{"phi", "hugging-face-phi", kPhiKeys, read_phi},
                                    {"phi3", "hugging-face-phi-3", llama_keys(), read_phi3}};
  return types;
}

}  // namespace attnscope
