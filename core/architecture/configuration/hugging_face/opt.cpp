// Configuration keys of OPT.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kOptKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"activation_function", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"word_embed_proj_dim", Use::fact, "input.width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"ffn_dim", Use::fact, "mlp_width"},
    {"max_position_embeddings", Use::fact, "context"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"enable_bias"},  // the tensors show it
    {"init_std"},
    {"layerdrop"},
    {"layer_norm_elementwise_affine", Use::required, "true"},
};

/// Reads the position of the norms. With norms after its parts, the model has none after the last
/// layer, even if the file has one.
void read_opt(ConfigReader& reader, NeighbourConfig& config) {
  const char* const before = "do_layer_norm_before";
  const char* const removed = "_remove_final_layer_norm";
  const bool pre = reader.flag(before, true);
  config.values["norm_position"] = pre ? "pre" : "post";
  const bool without = reader.flag(removed, false);
  if (!pre || without) config.values["final_norm"] = "false";
}

constexpr ModelType kOptTypes[] = {{"opt", "hugging-face-opt", kOptKeys, read_opt}};

}  // namespace

std::span<const ModelType> opt_model_types() { return kOptTypes; }

}  // namespace attnscope
