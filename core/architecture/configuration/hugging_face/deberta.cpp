// Rules of DeBERTa, v2 and v3.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

[[noreturn]] void refuse_value(const char* key, const char* expected, const json& found) {
  throw Error(ErrorKind::unsupported, "the value in the configuration is not supported")
      .about(key)
      .expected(expected)
      .found(found.is_null() ? "nothing: the default has a different value" : json_text(found));
}

/// True for "p2c|c2p", or a list of both.
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

/// Throws unless the positions are those of all published configurations. The defaults are
/// different.
void check_positions(ConfigReader& reader, NeighbourConfig& config) {
  const json& relative = reader.take_value("relative_attention");
  if (relative != true) refuse_value("relative_attention", "true", relative);
  const json& biased = reader.take_value("position_biased_input");
  if (biased != false) refuse_value("position_biased_input", "false", biased);
  config.unused.emplace_back("embeddings.position_embeddings.weight");  // often saved nevertheless
  const json& products = reader.take_value("pos_att_type");
  if (!has_both_products(products)) refuse_value("pos_att_type", "p2c|c2p", products);
}

/// Number of relative positions or of their buckets as text; empty for −1.
std::string count_of(const json& value, const char* key) {
  if (value.is_null()) return {};
  if (!value.is_number_integer()) refuse_value(key, "a whole number", value);
  return value > 0 ? value.dump() : "";
}

/// Empty where the context says it.
std::string furthest_position(ConfigReader& reader) {
  const char* const key = "max_relative_positions";
  const json& value = reader.take_value(key);
  if (value.is_null() && reader.has(key)) refuse_value(key, "a whole number", value);
  return count_of(value, key);
}

void read_pooler(ConfigReader& reader, NeighbourConfig& config) {
  const json& act = reader.take_value("pooler_hidden_act");
  if (act.is_null()) return;
  if (act != "gelu" && act != "tanh" && act != "relu") {
    refuse_value("pooler_hidden_act", "gelu, tanh or relu", act);
  }
  config.values["head_activation"] = act.get<std::string>();
}

/// Reads the convolution next to the first layer of large models. The tensor shows its kernel and
/// groups.
void read_convolution(ConfigReader& reader, NeighbourConfig& config) {
  const bool there = !count_of(reader.take_value("conv_kernel_size"), "conv_kernel_size").empty();
  const json& groups = reader.take_value("conv_groups");
  if (!groups.is_null()) (void)count_of(groups, "conv_groups");
  const json& act = reader.take_value("conv_act");
  if (!there) return;
  config.families = {"hugging-face-deberta-v2-convolution"};
  const auto own = config.values.find("activation");
  const std::string of_layers = own == config.values.end() ? "gelu" : own->second;
  if (!act.is_string() || activation_named(act.get<std::string>(), "conv_act") != of_layers) {
    refuse_value("conv_act", (of_layers + ", as hidden_act").c_str(), act);
  }
}

}  // namespace

void read_deberta(ConfigReader& reader, NeighbourConfig& config) {
  check_positions(reader, config);
  std::string furthest = furthest_position(reader);
  const json& context = reader.take_value("max_position_embeddings");
  if (furthest.empty()) furthest = count_of(context, "max_position_embeddings");
  if (!furthest.empty()) {
    config.values["layer.scores.buckets"] = furthest;
    config.facts.insert("layer.scores.buckets");
  }
  read_pooler(reader, config);
}

void read_deberta_v2(ConfigReader& reader, NeighbourConfig& config) {
  check_positions(reader, config);
  const json& shared = reader.take_value("share_att_key");
  if (shared != true) refuse_value("share_att_key", "true", shared);
  const json& norm = reader.take_value("norm_rel_ebd");
  if (norm != "layer_norm") refuse_value("norm_rel_ebd", "layer_norm", norm);
  const json& buckets = reader.take_value("position_buckets");
  if (!buckets.is_number_integer() || buckets < 4) {
    refuse_value("position_buckets", "4 or more", buckets);
  }
  config.values["layer.scores.buckets"] = buckets.dump();
  config.facts.insert("layer.scores.buckets");
  std::string furthest = furthest_position(reader);
  const json& context = reader.take_value("max_position_embeddings");
  if (furthest.empty()) furthest = count_of(context, "max_position_embeddings");
  config.values["layer.scores.bucket_distance"] = furthest.empty() ? "512" : furthest;
  read_convolution(reader, config);
  read_pooler(reader, config);
}

}  // namespace attnscope
