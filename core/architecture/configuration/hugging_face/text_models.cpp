// Rules of GPT-Neo, Falcon, Granite and ESM-2.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

[[noreturn]] void refuse_text_value(const char* key, std::string expected, const json& found) {
  throw Error(ErrorKind::unsupported, "the value in the configuration is not supported")
      .about(key)
      .expected(std::move(expected))
      .found(json_text(found));
}

/// GPT-Neo's types of layers: [[["global", "local"], 12]] is global, local, global, … of 24 layers.
json repeated_types(const json& types) {
  constexpr std::size_t most = 4096;
  json all = json::array();
  for (const json& each : types) {
    const bool pair = each.is_array() && each.size() == 2 && each[0].is_array() &&
                      each[1].is_number_unsigned() && each[1] <= most;
    if (!pair || all.size() + each[0].size() * each[1].get<std::size_t>() > most) {
      refuse_text_value("attention_types", "a list of [list of types, repeats]", types);
    }
    for (auto left = each[1].get<int>(); left > 0; --left) {
      all.insert(all.end(), each[0].begin(), each[0].end());
    }
  }
  return all;
}

/// Number above 0 under `key`; empty if the key is missing.
std::optional<double> take_factor(ConfigReader& reader, const char* key) {
  const json& value = reader.take_value(key);
  if (!reader.has(key)) return std::nullopt;
  if (!value.is_number() || value.get<double>() <= 0)
    refuse_text_value(key, "a number above 0", value);
  return value.get<double>();
}

}  // namespace

void read_global_and_local(ConfigReader& reader, NeighbourConfig& config) {
  const json& types = reader.take_value("attention_types");
  const json& listed = reader.take_value("attention_layers");
  const std::int64_t window = take_positive(reader, "window_size");
  if (types.is_null() && listed.is_null()) return;
  const json layers = listed.is_null() ? repeated_types(types) : listed;
  if (!layers.is_array()) refuse_text_value("attention_layers", "a list of types", layers);
  if (!types.is_null() && repeated_types(types) != layers) {
    refuse_text_value("attention_layers", json_text(repeated_types(types)) + ", as attention_types",
                      layers);
  }
  json local = json::array();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] == "local") local.push_back(i);
    if (layers[i] == "local" || layers[i] == "global") continue;
    refuse_text_value("attention_layers", "global or local", layers[i]);
  }
  const auto count = config.values.find("layers");
  if (count != config.values.end() && count->second != std::to_string(layers.size())) {
    refuse_text_value("attention_layers", count->second + " types, one for each layer", layers);
  }
  json list = json::array();
  if (!local.empty() && window > 0) {
    list.push_back({{"layers", local}, {"scores", {{"window", window}}}});
  }
  config.values["differences"] = list.dump();
}

void read_falcon(ConfigReader& reader, NeighbourConfig& config) {
  const bool grouped = reader.flag("new_decoder_architecture", false);
  const bool one = reader.flag("multi_query", true), parallel = reader.flag("parallel_attn", true);
  const std::int64_t stored = take_positive(reader, "num_kv_heads");
  if (grouped && !parallel) refuse_text_value("parallel_attn", "true with groups of heads", false);
  config.values["layer.residual"] = parallel ? "parallel" : "sequential";
  const auto heads = config.values.find("heads");
  if (heads == config.values.end()) return;
  const std::string keys = grouped && stored > 0 ? std::to_string(stored)
                           : !grouped && one     ? "1"
                                                 : heads->second;
  if (!grouped && !one && stored > 0 && std::to_string(stored) != keys) {
    refuse_text_value("num_kv_heads", keys + ", as num_attention_heads", stored);
  }
  config.values["layer.attention.key_heads"] = keys;
  config.facts.insert("layer.attention.key_heads");
}

void read_multipliers(ConfigReader& reader, NeighbourConfig& config) {
  for (const auto& [key, member] : {std::pair("embedding_multiplier", "embedding_scale"),
                                    std::pair("attention_multiplier", "scale"),
                                    std::pair("residual_multiplier", "layer.branch_scale")}) {
    if (const auto factor = take_factor(reader, key)) config.values[member] = json(*factor).dump();
  }
  if (const auto divisor = take_factor(reader, "logits_scaling")) {
    config.values["logit_scale"] = json(1 / *divisor).dump();
  }
}

void read_esm(ConfigReader& reader, NeighbourConfig& config) {
  if (reader.take_value("position_embedding_type") == "rotary") {
    config.unused.emplace_back(
        "embeddings.position_embeddings.weight");  // often saved nevertheless
  }
  const bool drops = reader.flag("token_dropout", false);
  const json& token = reader.take_value("mask_token_id");
  if (!reader.has("token_dropout")) return;
  if (drops && !token.is_number_unsigned()) {
    refuse_text_value("mask_token_id", "the id of a token, with token_dropout", token);
  }
  config.values["input.dropped_token"] = drops ? token.dump() : "-1";
}

}  // namespace attnscope
