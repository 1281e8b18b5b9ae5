// DeBERTa v2 and v3.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kDebertaKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"attention_head_size", Use::member, "head_width"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"embedding_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"type_vocab_size", Use::fact, "input.token_types"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"conv_kernel_size", Use::required, "0"},
    {"conv_act"},
    {"conv_groups"},
    {"legacy"},              // names of the head for masked tokens say
    {"pooler_hidden_size"},  // the tensors say
    {"max_position_embeddings"},
};

[[noreturn]] void refuse_value(const char* key, const char* expected, const json& found) {
  throw Error(ErrorKind::unsupported, "the configuration asks for what this version does not run")
      .about(key)
      .expected(expected)
      .found(found.is_null() ? "nothing: the default is another" : json_text(found));
}

/// "p2c|c2p", or a list of both.
bool has_both_products(const json& types) {
  json list = types;
  if (types.is_string()) {
    const std::string text = types.get<std::string>();
    const std::size_t bar = text.find('|');
    list = json::array({text.substr(0, bar)});
    if (bar != std::string::npos) list.push_back(text.substr(bar + 1));
  }
  return list == json({"p2c", "c2p"}) || list == json({"c2p", "p2c"});
}

/// What stands in every published configuration, and no default is.
void check_attention(ConfigReader& reader, NeighbourConfig& config) {
  for (const char* const key : {"relative_attention", "share_att_key"}) {
    const json& value = reader.take_value(key);
    if (value != true) refuse_value(key, "true", value);
  }
  const json& biased = reader.take_value("position_biased_input");
  if (biased != false) refuse_value("position_biased_input", "false", biased);
  config.unused.emplace_back("embeddings.position_embeddings.weight");  // often saved even so
  const json& products = reader.take_value("pos_att_type");
  if (!has_both_products(products)) refuse_value("pos_att_type", "p2c|c2p", products);
  const json& norm = reader.take_value("norm_rel_ebd");
  if (norm != "layer_norm") refuse_value("norm_rel_ebd", "layer_norm", norm);
}

void read_deberta(ConfigReader& reader, NeighbourConfig& config) {
  check_attention(reader, config);
  const json& buckets = reader.take_value("position_buckets");
  if (!buckets.is_number_integer() || buckets < 4) {
    refuse_value("position_buckets", "4 or more", buckets);
  }
  config.values["layer.scores.buckets"] = buckets.dump();
  config.facts.insert("layer.scores.buckets");
  const json& furthest = reader.take_value("max_relative_positions");
  const json& context = reader.take_value("max_position_embeddings");
  const bool said = furthest.is_number_integer() && furthest > 0;
  if (!said && !furthest.is_null() && !furthest.is_number_integer()) {
    refuse_value("max_relative_positions", "a number", furthest);
  }
  config.values["layer.scores.bucket_distance"] = said                          ? furthest.dump()
                                                  : context.is_number_integer() ? context.dump()
                                                                                : "512";
  const json& act = reader.take_value("pooler_hidden_act");
  if (act.is_null()) return;
  if (act != "gelu" && act != "tanh" && act != "relu") {
    refuse_value("pooler_hidden_act", "gelu, tanh or relu", act);
  }
  config.values["head_activation"] = act.get<std::string>();
}

constexpr ModelType kTypes[] = {
    {"deberta-v2", "Hugging Face DeBERTa v2", kDebertaKeys, read_deberta}};

}  // namespace

std::span<const ModelType> deberta_model_types() { return kTypes; }

}  // namespace attnscope
