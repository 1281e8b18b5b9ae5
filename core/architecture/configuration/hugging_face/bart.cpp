// Rules of BART, mBART, Marian and Pegasus.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

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

}  // namespace

void read_encoder_and_decoder(ConfigReader& reader, NeighbourConfig& config) {
  const auto norms = config.values.find("norm_position");
  const bool before = norms != config.values.end() && norms->second == "pre";
  const bool said = reader.flag("normalize_before", before);
  if (said != before) {
    throw Error(ErrorKind::unsupported, "the position of the norms contradicts the model type")
        .about("normalize_before")
        .expected(before ? "true" : "false")
        .found(said ? "true" : "false");
  }
  read_start_token(reader, config);
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

void read_decoder_vocabulary(ConfigReader& reader, NeighbourConfig& config) {
  const auto decoder = take_bart_number(reader, "decoder_vocab_size");
  const auto whole = config.values.find("vocabulary");
  if (decoder && whole != config.values.end() && std::to_string(*decoder) != whole->second) {
    state_fact(config, "tail.vocabulary", *decoder);
  }
}

void read_start_token(ConfigReader& reader, NeighbourConfig& config) {
  const auto id = take_bart_number(reader, "decoder_start_token_id");
  if (id) config.values["tail.start_token"] = std::to_string(*id);
}

}  // namespace attnscope
