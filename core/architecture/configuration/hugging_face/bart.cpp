// Configuration keys of BART, mBART, Marian and Pegasus.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kBartKeys[] = {
    {"encoder_attention_heads", Use::member, "heads"},
    {"decoder_attention_heads", Use::member, "tail.heads"},
    {"activation_function", Use::activation},
    {"d_model", Use::fact, "width"},
    {"encoder_ffn_dim", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"is_encoder_decoder", Use::required, "true"},
    {"add_bias_logits", Use::required, "false"},
    {"extra_pos_embeddings"},
    {"normalize_embedding"},               // the tensors show it
    {"add_final_layer_norm"},              // the tensors show it
    {"static_position_embeddings"},        // the file has them, or the family computes them
    {"share_encoder_decoder_embeddings"},  // the tensors show it
    {"num_hidden_layers"},                 // same value as encoder_layers
    {"force_bos_token_to_be_generated"},
    {"init_std"},
    {"output_past"},
    {"save_step"},
    {"*coder_layerdrop"},
    {"classif*_dropout"},
};

/// Whole number under `key`; empty if the key is missing.
std::optional<std::int64_t> take_bart_number(ConfigReader& reader, const char* key) {
  const json& value = reader.take_value(key);
  if (value.is_null()) return std::nullopt;
  if (value.is_number_unsigned() && value <= (1 << 24)) return value.get<std::int64_t>();
  throw Error(ErrorKind::damaged, "the value has the wrong type")
      .about(key)
      .expected("a whole number")
      .found(json_text(value));
}

void state_fact(NeighbourConfig& config, const char* member, std::int64_t value) {
  config.values[member] = std::to_string(value);
  config.facts.insert(member);
}

void read_bart(ConfigReader& reader, NeighbourConfig& config) {
  read_start_token(reader, config);
  const bool scales = reader.flag("scale_embedding", false);
  config.values["embedding_scale"] = scales ? "0" : "1";
  const auto layers = take_bart_number(reader, "encoder_layers");
  const auto blocks = take_bart_number(reader, "decoder_layers");
  if (blocks) state_fact(config, "tail.blocks", *blocks);
  if (layers && blocks) state_fact(config, "layers", *layers + 2 * *blocks);
  const auto hidden = take_bart_number(reader, "decoder_ffn_dim");
  if (hidden) state_fact(config, "tail.mlp_width", *hidden);
  const auto context = take_bart_number(reader, "max_position_embeddings");
  if (context) {
    state_fact(config, "context", *context);
    state_fact(config, "tail.context", *context);
  }
}

/// Sets the position of the norms, which depends on the kind of model; normalize_before must agree.
void read_norms(ConfigReader& reader, NeighbourConfig& config, bool before) {
  const bool said = reader.flag("normalize_before", before);
  if (said != before) {
    throw Error(ErrorKind::unsupported, "the position of the norms contradicts the model type")
        .about("normalize_before")
        .expected(before ? "true" : "false")
        .found(said ? "true" : "false");
  }
  config.values["norm_position"] = before ? "pre" : "post";
  read_bart(reader, config);
}

void read_post_norms(ConfigReader& reader, NeighbourConfig& config) {
  read_norms(reader, config, false);
}

void read_pre_norms(ConfigReader& reader, NeighbourConfig& config) {
  read_norms(reader, config, true);
}

/// Reads Marian's vocabularies, each of which may have its own table.
void read_marian(ConfigReader& reader, NeighbourConfig& config) {
  const auto decoder = take_bart_number(reader, "decoder_vocab_size");
  const auto whole = config.values.find("vocabulary");
  if (decoder && whole != config.values.end() && std::to_string(*decoder) != whole->second) {
    state_fact(config, "tail.vocabulary", *decoder);
  }
  read_post_norms(reader, config);
}

constexpr ModelType kBartTypes[] = {{"bart", "hugging-face-bart", kBartKeys, read_post_norms},
                                    {"mbart", "hugging-face-bart", kBartKeys, read_pre_norms},
                                    {"marian", "hugging-face-marian", kBartKeys, read_marian},
                                    {"pegasus", "hugging-face-marian", kBartKeys, read_pre_norms}};

}  // namespace

void read_start_token(ConfigReader& reader, NeighbourConfig& config) {
  const auto id = take_bart_number(reader, "decoder_start_token_id");
  if (id) config.values["tail.start_token"] = std::to_string(*id);
}

std::span<const ModelType> bart_model_types() { return kBartTypes; }

}  // namespace attnscope
