// Rules of T5 and mT5, complete or only their encoders.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

std::int64_t whole_t5_number(const json& value, const char* key) {
  if (value.is_number_unsigned() && value <= 4096) return value.get<std::int64_t>();
  throw Error(ErrorKind::damaged, "the value has the wrong type")
      .about(key)
      .expected("a whole number up to 4096")
      .found(json_text(value));
}

/// Adds a tower with the settings of encoder and decoder together, next to those of the encoder
/// only.
void read_whole(ConfigReader& reader, NeighbourConfig& config) {
  NeighbourConfig whole = config;
  whole.families = {"hugging-face-t5"};
  read_start_token(reader, whole);
  if (config.ties_head) whole.values["logit_scale"] = *config.ties_head ? "0" : "1";
  const json layers = reader.take_value("num_layers");
  json decoder = reader.take_value("num_decoder_layers");
  if (decoder.is_null()) decoder = layers;
  if (!layers.is_null()) {
    const std::int64_t blocks = whole_t5_number(decoder, "num_decoder_layers");
    whole.values["tail.blocks"] = std::to_string(blocks);
    whole.values["layers"] = std::to_string(whole_t5_number(layers, "num_layers") + 2 * blocks);
    whole.facts.insert({"tail.blocks", "layers"});
  }
  config.families.push_back("hugging-face-t5");
  config.towers.push_back(std::move(whole));
}

/// Reads forms such as "relu", "gated-gelu", "gated-silu": the last part is the activation, and
/// gated-gelu means the tanh form.
void read_activation(ConfigReader& reader, NeighbourConfig& config) {
  const json& form = reader.take_value("feed_forward_proj");
  if (form.is_null() && !reader.has("feed_forward_proj")) return;
  const std::string text = form.is_string() ? form.get<std::string>() : std::string();
  const bool gated = text.starts_with("gated-");
  if (text.empty()) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about("feed_forward_proj")
        .expected("the name of an activation, with or without the prefix gated-")
        .found(json_text(form));
  }
  const std::string act =
      text == "gated-gelu" ? "gelu_tanh"
                           : activation_named(gated ? text.substr(6) : text, "feed_forward_proj");
  const auto said = config.values.find("activation");
  if (said != config.values.end() && said->second != act) {
    throw Error(ErrorKind::damaged, "two keys contradict each other")
        .about("dense_act_fn")
        .expected(act + ", as feed_forward_proj says")
        .found(said->second);
  }
  config.values["activation"] = act;
}

}  // namespace

void read_t5(ConfigReader& reader, NeighbourConfig& config) {
  read_activation(reader, config);
  read_whole(reader, config);
}

}  // namespace attnscope
