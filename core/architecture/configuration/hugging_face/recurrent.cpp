// Rules of models with differential attention, or with recurrent layers.
#include <nlohmann/json.hpp>
#include <utility>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Numbers of the layers with softmax attention, and of all layers. Throws Error(unsupported) for
/// other types of layers, Error(damaged) for a missing number of layers.
std::pair<json, std::int64_t> softmax_layers(ConfigReader& reader) {
  const json& types = reader.take_value("layer_types");
  const std::int64_t every = take_positive(reader, "full_attention_interval");
  const std::int64_t count = take_positive(reader, "num_hidden_layers");
  const std::int64_t layers = types.is_array() ? std::ssize(types) : count;
  if (layers == 0 || (!types.is_array() && (!types.is_null() || every == 0))) {
    throw Error(ErrorKind::damaged, "the configuration does not give the types of the layers")
        .about("layer_types")
        .expected("a list, or full_attention_interval and num_hidden_layers")
        .found(json_text(types));
  }
  json list = json::array();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const json type = types.is_array()           ? types[static_cast<std::size_t>(layer)]
                      : (layer + 1) % every == 0 ? json("full_attention")
                                                 : json("linear_attention");
    const bool full = type == "full_attention";
    if (full) list.push_back(layer);
    if ((full && layer > 0) || type == "linear_attention") continue;
    throw Error(ErrorKind::unsupported, "layers of this type are not supported")
        .about("layer_types")
        .expected("full_attention or linear_attention, the first of which is linear_attention")
        .found(json_text(type));
  }
  return {list, layers};
}

}  // namespace

void read_linear_layers(ConfigReader& reader, NeighbourConfig& config) {
  const std::int64_t heads = take_positive(reader, "linear_num_value_heads");
  const std::int64_t query_heads = take_positive(reader, "linear_num_key_heads");
  const std::int64_t width = take_positive(reader, "linear_key_head_dim");
  const std::int64_t value_width = take_positive(reader, "linear_value_head_dim");
  const std::int64_t softmax_heads = take_positive(reader, "num_attention_heads");
  const std::int64_t key_heads = take_positive(reader, "num_key_value_heads");
  const std::int64_t softmax_width = take_positive(reader, "head_dim");
  const auto [softmax, layers] = softmax_layers(reader);
  config.values["heads"] = std::to_string(heads);
  config.values["layer.attention.query_heads"] = std::to_string(query_heads);
  config.values["head_width"] = std::to_string(width);
  config.values["layer.attention.value_width"] = std::to_string(value_width);
  json mechanisms = json::array();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    mechanisms.push_back({{"name", "gated-delta"}});
  }
  for (const json& layer : softmax) mechanisms[layer.get<std::size_t>()]["name"] = "softmax";
  config.values["layer_mechanisms"] = mechanisms.dump();
  json difference;
  difference["layers"] = softmax;
  difference["attention"] = {
      {"heads", softmax_heads}, {"key_heads", key_heads}, {"head_width", softmax_width},
      {"value_width", 0},       {"query_heads", 0},       {"heads_norm", "over_all"},
      {"gate", "sigmoid"},      {"decay", "none"}};
  difference["rotary"]["form"] = "half";
  json list = json::array();
  if (!softmax.empty()) list.push_back(std::move(difference));
  config.values["differences"] = list.dump();
}

void read_mamba2(ConfigReader& reader, NeighbourConfig& config) {
  const json limit = reader.take_value("time_step_limit");
  const auto is_infinity = [](const json& value) {
    return value == "Infinity" ||
           (value.is_object() && value.value("__float__", json()) == "Infinity");
  };
  const bool limits = !limit.is_null() && (!limit.is_array() || limit.size() != 2 ||
                                           limit[0] != 0.0 || !is_infinity(limit[1]));
  if (limits) {
    throw Error(ErrorKind::unsupported, "limits of Mamba-2's steps are not supported")
        .about("time_step_limit")
        .expected("0 to infinity")
        .found(json_text(limit));
  }
  // With more groups upstream's own norm spans all of them, and that of mamba_ssm each alone.
  const std::int64_t groups = take_positive(reader, "n_groups");
  if (groups > 1) {
    throw Error(ErrorKind::unsupported, "Mamba-2 with several groups is not supported")
        .about("n_groups")
        .expected("1")
        .found(std::to_string(groups));
  }
  config.values["layer.attention.query_heads"] = "1";
}

void read_heads_in_pairs(ConfigReader& reader, NeighbourConfig& config) {
  const std::int64_t heads = take_positive(reader, "num_attention_heads");
  std::int64_t key_heads = take_positive(reader, "num_key_value_heads");
  std::int64_t each = take_positive(reader, "head_dim");
  const std::int64_t width = take_positive(reader, "hidden_size");
  if (heads == 0) return;
  if (key_heads == 0) key_heads = heads;
  for (const auto& [key, count] :
       {std::pair("num_attention_heads", heads), std::pair("num_key_value_heads", key_heads)}) {
    if (count % 2 == 0) continue;
    throw Error(ErrorKind::unsupported, "differential attention compares heads in pairs")
        .about(key)
        .expected("an even number")
        .found(std::to_string(count));
  }
  if (each == 0) each = width / heads;
  config.values["heads"] = std::to_string(heads / 2);
  config.values["layer.attention.key_heads"] = std::to_string(key_heads / 2);
  if (each > 0) config.values["head_width"] = std::to_string(2 * each);
}

}  // namespace attnscope
