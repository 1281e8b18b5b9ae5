// Gemma, Gemma 2 and the texts of Gemma 3.
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
    {"hidden_act"},  // hidden_activation is what counts
    {"attention_bias"},
    {"cache_implementation"},
    {"use_bidirectional_attention", Use::required, "false"},
};

/// Scores are divided by √query_pre_attn_scalar, not by √d.
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
  // Even layers slide.
  read_sliding_layers(reader, config, take_window(reader, 4096), 0, 2);
  read_rotary(reader, config);
}

/// hidden_act counts where there is no hidden_activation; of "gelu" versions of transformers
/// differ, early ones took the tanh form for it.
void read_gemma(ConfigReader& reader, NeighbourConfig& config) {
  const json& act = reader.take_value("hidden_act");
  if (reader.take_value("hidden_activation").is_null() && act.is_string()) {
    if (act == "gelu") {
      throw Error(ErrorKind::unsupported, "which form of GELU is meant is not said")
          .about("hidden_act")
          .expected("gelu_pytorch_tanh")
          .found("gelu")
          .remedy("--option ignore=config.hidden_act takes the tanh form, as Gemma was trained");
    }
    config.values["activation"] = activation_named(act.get<std::string>(), "hidden_act");
  }
  read_rotary(reader, config);
}

/// Five layers of six slide, and those turn by another θ.
void read_gemma3(ConfigReader& reader, NeighbourConfig& config) {
  read_scale(reader, config);
  read_local_layers(reader, config,
                    {.theta = "rope_theta",
                     .usual_theta = 1000000,
                     .local_theta = "rope_local_base_freq",
                     .usual_local_theta = 10000,
                     .every = "sliding_window_pattern",
                     .usual_every = 6,
                     .begins = false,
                     .scales = true},
                    take_window(reader, 4096));
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
    {"hidden_activation", Use::activation},
    {"attention_bias"},
    {"use_bidirectional_attention", Use::required, "false"},
};

constexpr ModelType kGemmaTypes[] = {
    {"gemma", "Hugging Face Gemma", kGemmaKeys, read_gemma},
    {"gemma2", "Hugging Face Gemma 2", kGemma2Keys, read_gemma2},
    {"gemma3_text", "Hugging Face Gemma 3", kGemma2Keys, read_gemma3}};

}  // namespace

std::span<const ModelType> gemma_model_types() { return kGemmaTypes; }

}  // namespace attnscope
