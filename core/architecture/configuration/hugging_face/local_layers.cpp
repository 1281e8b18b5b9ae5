// Reads models that mix layers with and without windows, each kind with its own rotary positions.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

Error wrong_value(std::string key, std::string expected, const json& found) {
  return Error(ErrorKind::damaged, "the value has the wrong type")
      .about(std::move(key))
      .expected(std::move(expected))
      .found(json_text(found));
}

/// Value of rope_parameters for layers of `kind`; null if missing. With one θ for all layers it may
/// be that of layers without windows; the others have the θ alone (OLMo 3).
json parameters_of(ConfigReader& reader, const char* kind, const LocalLayers& keys) {
  const json& all = reader.take_value("rope_parameters");
  if (all.is_null()) return {};
  if (!all.is_object()) throw wrong_value("rope_parameters", "an object", all);
  if (keys.theta == keys.local_theta && all.contains("rope_type")) {
    const json part = all.value("partial_rotary_factor", json());
    if (!part.is_null() && part != 1) {
      throw wrong_value("rope_parameters.partial_rotary_factor", "1", part);
    }
    if (kind == std::string_view("full_attention")) return all;
    return all.contains("rope_theta") ? json{{"rope_theta", all["rope_theta"]}} : json();
  }
  for (const auto& [key, value] : all.items()) {
    if (key != "full_attention" && key != "sliding_attention") {
      throw wrong_value("rope_parameters." + key, "full_attention or sliding_attention", value);
    }
    if (!value.is_object() && !value.is_null()) {
      throw wrong_value("rope_parameters." + key, "an object", value);
    }
  }
  return all.value(kind, json());
}

/// θ as a number; null if missing.
json theta_of(ConfigReader& reader, const json& parameters, const std::string& key) {
  const json nested = parameters.is_object() ? parameters.value("rope_theta", json()) : json();
  const json& single = reader.take_value(key);
  json theta = nested.is_null() ? single : nested;
  if (theta.is_null() && !reader.has(key)) return theta;
  if (!theta.is_number()) throw wrong_value(key, "a number", theta);
  return theta;
}

/// Throws for scaled rotary positions in layers with windows, which no published model has.
void check_unscaled(const json& parameters) {
  if (!parameters.is_object()) return;
  for (const auto& [key, value] : parameters.items()) {
    if (key == "rope_theta" || value.is_null() || (key == "rope_type" && value == "default")) {
      continue;
    }
    throw Error(ErrorKind::unsupported,
                "the scaling of rotary positions in sliding layers is not supported")
        .about("rope_parameters.sliding_attention." + key)
        .expected(key == "rope_type" ? "default" : "only rope_theta")
        .found(json_text(value));
  }
}

/// Numbers of the layers with windows; none without a period.
json local_layers(ConfigReader& reader, const LocalLayers& keys) {
  const json& count = reader.take_value("num_hidden_layers");
  const json& types = reader.take_value("layer_types");
  const json& said = reader.take_value(keys.every);
  if (!types.is_array() && !types.is_null()) {
    throw wrong_value("layer_types", "a list, one type for each layer", types);
  }
  if (!types.is_array() && reader.has(keys.every) && !(said.is_number_integer() && said > 0)) {
    throw wrong_value(keys.every, "1 or more", said);
  }
  if (!types.is_array() && !(count.is_number_integer() && count > 0 && count <= 4096)) {
    throw wrong_value("num_hidden_layers", "the number of layers", count);
  }
  const auto every = static_cast<std::size_t>(
      said.is_number_integer() ? std::max<std::int64_t>(said.get<std::int64_t>(), 1) : 1);
  const std::size_t layers = types.is_array() ? types.size() : count.get<std::size_t>();
  json list = json::array();
  for (std::size_t i = 0; i < layers; ++i) {
    if (types.is_array() && types[i] != "full_attention" && types[i] != "sliding_attention") {
      throw Error(ErrorKind::unsupported, "layers of this type are not supported")
          .about("layer_types")
          .expected("full_attention or sliding_attention")
          .found(json_text(types[i]));
    }
    const bool local = types.is_array() ? types[i] == "sliding_attention"
                                        : (keys.first_is_local ? i + 1 : i) % every != 0;
    if (local) list.push_back(i);
  }
  return list;
}

}  // namespace

void read_local_layers(ConfigReader& reader, NeighbourConfig& config, const LocalLayers& keys) {
  const json full = parameters_of(reader, "full_attention", keys);
  const json local = parameters_of(reader, "sliding_attention", keys);
  check_unscaled(local);
  const json& context = reader.take_value("max_position_embeddings");
  if (full.is_object()) {
    read_rope_scaling(full, "rope_parameters.full_attention", context, json(), config);
  }
  if (keys.scales) {
    const json& scaling = reader.take_value("rope_scaling");
    if (!scaling.is_null() && !scaling.is_object()) {
      throw wrong_value("rope_scaling", "an object", scaling);
    }
    if (scaling.is_object()) read_rope_scaling(scaling, "rope_scaling", context, json(), config);
  }
  const json theta = theta_of(reader, full, keys.theta);
  if (!theta.is_null()) config.values["layer.rotary.theta"] = theta.dump();
  if (context.is_number_integer()) config.values["context"] = context.dump();
  const json& window = reader.take_value(keys.window);
  json difference;
  difference["layers"] = local_layers(reader, keys);
  const bool slides = !difference["layers"].empty();
  const bool needed = slides && reader.has(keys.window);
  if ((needed || !window.is_null()) &&
      !(window.is_number_integer() && window >= keys.least_window)) {
    throw wrong_value(keys.window, std::to_string(keys.least_window) + " or more tokens", window);
  }
  const json local_theta = theta_of(reader, local, keys.local_theta);
  if (!local_theta.is_null()) difference["rotary"]["theta"] = local_theta;
  difference["rotary"]["scaling"] = "none";
  if (!window.is_null()) difference["scores"]["window"] = window;
  config.values["differences"] =
      slides ? json::array({std::move(difference)}).dump() : std::string("[]");
}

}  // namespace attnscope
