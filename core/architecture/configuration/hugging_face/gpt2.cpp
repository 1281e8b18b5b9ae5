// Configuration keys of GPT-2.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kGpt2Keys[] = {
    {"n_head", Use::member, "heads"},
    {"layer_norm_epsilon", Use::member, "norm_eps"},
    {"activation_function", Use::activation},
    {"n_embd", Use::fact, "width"},
    {"n_layer", Use::fact, "layers"},
    {"n_inner", Use::fact, "mlp_width"},
    {"n_positions", Use::fact, "context"},
    {"n_ctx"},
    {"vocab_size"},
    {"summary_*"},
    {"reorder_and_upcast_attn"},  // same result with a different order of rounding
};

constexpr ModelType kGpt2Types[] = {{"gpt2", "hugging-face-gpt-2", kGpt2Keys, read_score_scale}};

}  // namespace

void read_score_scale(ConfigReader& reader, NeighbourConfig& config) {
  if (!reader.flag("scale_attn_weights", true)) {
    config.values["scale"] = "none";
  }
  const char* const by_layer = "scale_attn_by_inverse_layer_idx";
  if (reader.flag(by_layer, false)) {
    config.values["scale_by_layer"] = "true";
  }
}

std::span<const ModelType> gpt2_model_types() { return kGpt2Types; }

}  // namespace attnscope
