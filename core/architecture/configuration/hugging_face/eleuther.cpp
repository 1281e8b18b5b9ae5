// Configuration keys of GPT-NeoX (Pythia) and GPT-J.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kNeoxKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"attention_bias"},
};

constexpr ConfigKey kGptjKeys[] = {
    {"n_head", Use::member, "heads"},
    {"rotary_dim", Use::member, "layer.rotary.width"},
    {"layer_norm_epsilon", Use::member, "norm_eps"},
    {"activation_function", Use::activation},
    {"n_positions", Use::member, "context"},
    {"n_embd", Use::fact, "width"},
    {"n_layer", Use::fact, "layers"},
    {"n_inner", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"n_ctx"},
    {"rotary", Use::required, "true"},
    {"scale_attn_weights"},  // scores are always scaled
    {"summary_*"},
};

void read_neox(ConfigReader& reader, NeighbourConfig& config) {
  const char* const parallel = "use_parallel_residual";
  config.values["layer.residual"] = reader.flag(parallel, true) ? "parallel" : "sequential";
  read_rotary(reader, config, {.theta = "rotary_emb_base", .part = "rotary_pct"});
}

/// Throws if rotary_dim is null: the code then rotates a whole head by angles of a different width.
void read_gptj(ConfigReader& reader, NeighbourConfig& config) {
  (void)config;
  if (!reader.has("rotary_dim") || !reader.take_value("rotary_dim").is_null()) return;
  throw Error(ErrorKind::unsupported,
              "the configuration does not give the number of rotated channels")
      .about("rotary_dim")
      .expected("a number")
      .found("null");
}

constexpr ModelType kEleutherTypes[] = {{"gpt_neox", "hugging-face-gpt-neox", kNeoxKeys, read_neox},
                                        {"gptj", "hugging-face-gpt-j", kGptjKeys, read_gptj}};

}  // namespace

std::span<const ModelType> eleuther_model_types() { return kEleutherTypes; }

}  // namespace attnscope
