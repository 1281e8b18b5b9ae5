// Configuration keys of Gemma, Gemma 2 and the text model of Gemma 3.
#include <cmath>

#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kGemma2Keys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"num_key_value_heads", Use::fact, "layer.attention.key_heads"},
    {"head_dim", Use::member, "head_width"},
    {"rms_norm_eps", Use::member, "norm_eps"},
    {"hidden_activation", Use::activation},
    {"attn_logit_softcapping", Use::cap, "layer.scores.soft_cap"},
    {"final_logit_softcapping", Use::cap, "readout.soft_cap"},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"hidden_act"},  // only hidden_activation has an effect
    {"attention_bias"},
    {"cache_implementation"},
    {"use_bidirectional_attention", Use::required, "false"},
};

/// Reads the divisor of the scores: √query_pre_attn_scalar instead of √d.
void read_scale(ConfigReader& reader, NeighbourConfig& config) {
  const json& scalar = reader.take_value("query_pre_attn_scalar");
  if (!reader.has("query_pre_attn_scalar")) return;
  if (!scalar.is_number() || scalar.get<double>() <= 0) {
    throw Error(ErrorKind::damaged, "the value is out of range")
        .about("query_pre_attn_scalar")
        .expected("a number above 0")
        .found(json_text(scalar));
  }
  config.values["scale"] = json(1 / std::sqrt(scalar.get<double>())).dump();
}

void read_gemma2(ConfigReader& reader, NeighbourConfig& config) {
  read_scale(reader, config);
  // Even layers have sliding windows.
  read_sliding_layers(reader, config, take_window(reader), 0, 2);
  read_rotary(reader, config);
}

/// Reads Gemma. hidden_act is used if hidden_activation is missing; versions of transformers differ
/// on "gelu", which early ones read as the tanh form.
void read_gemma(ConfigReader& reader, NeighbourConfig& config) {
  const json& own = reader.take_value("hidden_activation");
  const json& other = reader.take_value("hidden_act");
  const char* const key = own.is_null() ? "hidden_act" : "hidden_activation";
  const json& act = own.is_null() ? other : own;
  if (!act.is_null()) {
    if (!act.is_string()) {
      throw Error(ErrorKind::damaged, "the value has the wrong type")
          .about(key)
          .expected("the name of an activation")
          .found(json_text(act));
    }
    if (own.is_null() && act == "gelu") {
      throw Error(ErrorKind::unsupported, "the configuration does not give the form of GELU")
          .about("hidden_act")
          .expected("gelu_pytorch_tanh")
          .found("gelu")
          .remedy("--option ignore=config.hidden_act takes the tanh form, as Gemma was trained");
    }
    config.values["activation"] = activation_named(act.get<std::string>(), key);
  }
  read_rotary(reader, config);
}

/// Reads Gemma 3. Five of six layers have sliding windows and a different θ.
void read_gemma3(ConfigReader& reader, NeighbourConfig& config) {
  read_scale(reader, config);
  read_local_layers(reader, config,
                    {.theta = "rope_theta",
                     .local_theta = "rope_local_base_freq",
                     .every = "sliding_window_pattern",
                     .window = "sliding_window",
                     .begins = false,
                     .scales = true});
}

constexpr ConfigKey kGemmaKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"num_key_value_heads", Use::fact, "layer.attention.key_heads"},
    {"head_dim", Use::member, "head_width"},
    {"rms_norm_eps", Use::member, "norm_eps"},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"attention_bias"},
    {"use_bidirectional_attention", Use::required, "false"},
};

constexpr ModelType kGemmaTypes[] = {
    {"gemma", "hugging-face-gemma", kGemmaKeys, read_gemma},
    {"gemma2", "hugging-face-gemma-2", kGemma2Keys, read_gemma2},
    {"gemma3_text", "hugging-face-gemma-3", kGemma2Keys, read_gemma3}};

}  // namespace

std::span<const ModelType> gemma_model_types() { return kGemmaTypes; }

}  // namespace attnscope
