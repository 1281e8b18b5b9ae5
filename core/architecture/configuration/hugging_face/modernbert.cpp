// Configuration keys of ModernBERT.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kModernBertKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"norm_eps", Use::member, "norm_eps"},
    {"layer_norm_eps"},  // norm_eps is used instead
    {"hidden_activation", Use::required, "\"gelu\""},
    {"classifier_activation", Use::required, "\"gelu\""},
    {"position_embedding_type"},  // no code reads it
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"norm_bias"},  // the tensors show it
    {"attention_bias"},
    {"mlp_bias"},
    {"decoder_bias"},
    {"classifier_bias"},
    {"deterministic_flash_attn"},
    {"reference_compile"},
    {"repad_logits_with_grad"},
    {"sparse_pred*"},
};

/// Reads the kind of head, which only the model's class shows.
void read_head(ConfigReader& reader, NeighbourConfig& config) {
  const json& pooling = reader.take_value("classifier_pooling");
  if (reader.has("classifier_pooling") && pooling != "cls" && pooling != "mean") {
    throw Error(ErrorKind::unsupported, "the pooling of texts is not supported")
        .about("classifier_pooling")
        .expected("cls or mean")
        .found(json_text(pooling));
  }
  if (reader.take_value("architectures") != json({"ModernBertForSequenceClassification"})) return;
  config.families = {"hugging-face-modernbert-classifier"};
  config.values["readout"] = pooling == "mean" ? "mean_all" : "class";
}

void read_modernbert(ConfigReader& reader, NeighbourConfig& config) {
  read_head(reader, config);
  read_local_layers(reader, config,
                    {.theta = "global_rope_theta",
                     .local_theta = "local_rope_theta",
                     .every = "global_attn_every_n_layers",
                     .window = "local_attention",
                     .least_window = 2,
                     .begins = true,
                     .scales = false});
}

constexpr ModelType kModernbertTypes[] = {
    {"modernbert", "hugging-face-modernbert", kModernBertKeys, read_modernbert}};

}  // namespace

std::span<const ModelType> modernbert_model_types() { return kModernbertTypes; }

}  // namespace attnscope
