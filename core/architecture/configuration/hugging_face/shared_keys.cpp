// Rules that several kinds share: rotary positions and windows.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

Error wrong_key(const char* what, std::string key, std::string expected, const json& found) {
  return Error(ErrorKind::damaged, what)
      .about(std::move(key))
      .expected(std::move(expected))
      .found(json_text(found));
}

/// Value of a required number as text.
std::string number(const json& object, const char* key, const char* of) {
  const json found = object.value(key, json());
  if (found.is_number()) return found.dump();
  throw wrong_key("the scaling of rotary positions lacks a number", std::string(of) + "." + key,
                  "a number", found);
}

/// Sets `option` to `key` of `object` if present.
void take_number(const json& object, const char* key, const char* option, const char* of,
                 NeighbourConfig& config) {
  if (object.value(key, json()).is_null()) return;
  config.values[option] = number(object, key, of);
}

void take_factors(const json& object, const char* key, const char* option, const char* of,
                  NeighbourConfig& config) {
  const json list = object.value(key, json());
  bool numbers = list.is_array() && !list.empty();
  for (const json& factor : list) numbers = numbers && factor.is_number();
  if (!numbers) {
    throw wrong_key("the scaling of rotary positions lacks its factors",
                    std::string(of) + "." + key, "a list of numbers", list);
  }
  config.values[option] = list.dump();
}

/// Reads the channel pairs that turn by rows and columns of a picture.
void read_sections(const json& scaling, const char* of, NeighbourConfig& config) {
  const json sections = scaling.value("mrope_section", json());
  if (sections.is_null()) return;
  bool numbers = sections.is_array() && sections.size() == 3;
  for (const json& pairs : sections) numbers = numbers && pairs.is_number_unsigned();
  if (!numbers) {
    throw wrong_key("the sections of rotary positions are not three whole numbers",
                    std::string(of) + ".mrope_section", "pairs for time, rows and columns",
                    sections);
  }
  config.values["layer.rotary.sections"] = sections.dump();
  const bool in_turns = scaling.value("mrope_interleaved", json(false)) == true;
  config.values["layer.rotary.sections_in_turns"] = in_turns ? "true" : "false";
}

std::string scaling_of(const json& scaling, const char* of) {
  const json type = scaling.value("rope_type", scaling.value("type", json()));
  // Sections do not change the angles (Qwen2-VL).
  if (type.is_null() || type == "default" || type == "mrope") return "none";
  if (type == "su") return "longrope";  // former name of longrope in Phi-3
  for (const char* known : {"linear", "dynamic", "llama3", "yarn", "longrope"}) {
    if (type == known) return known;
  }
  throw Error(ErrorKind::unsupported, "the scaling of rotary positions is not supported")
      .about(std::string(of) + ".rope_type")
      .expected("default, linear, dynamic, llama3, yarn or longrope")
      .found(json_text(type));
}

/// Throws for a key of a scaling of `kind` that is unknown.
void check_scaling_keys(const json& scaling, const std::string& kind, const char* of) {
  constexpr std::string_view of_yarn[] = {"mscale", "mscale_all_dim", "truncate"};
  constexpr std::string_view known[] = {"rope_type",
                                        "type",
                                        "factor",
                                        "rope_theta",
                                        "low_freq_factor",
                                        "high_freq_factor",
                                        "beta_fast",
                                        "beta_slow",
                                        "attention_factor",
                                        "short_factor",
                                        "long_factor",
                                        "original_max_position_embeddings",
                                        "partial_rotary_factor",
                                        "mrope_interleaved",
                                        "mrope_section"};
  for (const auto& [key, value] : scaling.items()) {
    if (value.is_null() || std::find(std::begin(known), std::end(known), key) != std::end(known)) {
      continue;
    }
    if (kind == "yarn" && std::ranges::find(of_yarn, key) != std::end(of_yarn)) continue;
    throw Error(ErrorKind::unsupported, "the scaling of rotary positions has an unknown key")
        .about(std::string(of) + "." + key)
        .found(json_text(value))
        .remedy("--option ignore=config." + std::string(of) + "." + key +
                " if it does not change the computation");
  }
}

/// Reads the keys of YaRN alone: the factor of cosines and sines from mscale and mscale_all_dim,
/// and truncate. Throws for one of the two without the other, which codes read differently.
void read_yarn(const json& scaling, const char* of, NeighbourConfig& config) {
  const json truncate = scaling.value("truncate", json(true));
  if (!truncate.is_boolean()) {
    throw wrong_key("the value has the wrong type", std::string(of) + ".truncate", "true or false",
                    truncate);
  }
  config.values["layer.rotary.whole_pairs"] = truncate.dump();
  const auto scale = [&](const char* key) {
    const json found = scaling.value(key, json());
    return found.is_null() ? 0.0 : json::parse(number(scaling, key, of)).get<double>();
  };
  const double own = scale("mscale"), all = scale("mscale_all_dim");
  if (all == 0 && (own == 0 || own == 1)) return;  // these change nothing
  if (own == 0 || all == 0) {
    throw Error(ErrorKind::unsupported, "YaRN with one of mscale and mscale_all_dim")
        .about(std::string(of) + (own == 0 ? ".mscale" : ".mscale_all_dim"))
        .expected("a number above 0, as the other")
        .found(json_text(scaling.value(own == 0 ? "mscale" : "mscale_all_dim", json())));
  }
  const double factor = json::parse(number(scaling, "factor", of)).get<double>();
  config.values["layer.rotary.attention_factor"] =
      json(yarn_amplitude(factor, own) / yarn_amplitude(factor, all)).dump();
}

/// Rotated fraction of a head's channels from any of its places; null if missing.
json turned_part(ConfigReader& reader, const RotaryKeys& keys) {
  constexpr const char* usual_key = "partial_rotary_factor";
  json part = reader.take_value(keys.part.value_or(usual_key));
  for (const char* const key : {"rope_scaling", "rope_parameters"}) {
    const json& scaling = reader.take_value(key);
    if (scaling.is_object() && !scaling.value(usual_key, json()).is_null()) {
      part = scaling[usual_key];
    }
  }
  return part;
}

/// Head width d: head_dim, otherwise width / heads; 0 if the configuration has neither.
std::int64_t head_width(ConfigReader& reader) {
  const json& each = reader.take_value("head_dim");
  const json& width = reader.take_value("hidden_size");
  const json& heads = reader.take_value("num_attention_heads");
  if (each.is_number_integer()) return each.get<std::int64_t>();
  const bool both = width.is_number_integer() && heads.is_number_integer() && heads > 0;
  return both ? width.get<std::int64_t>() / heads.get<std::int64_t>() : 0;
}

void read_turned_part(ConfigReader& reader, NeighbourConfig& config, const RotaryKeys& keys) {
  const json part = turned_part(reader, keys);
  const std::string name = keys.part.value_or("partial_rotary_factor");
  if (part.is_null() && !(keys.part && reader.has(name))) return;
  const double factor = part.is_number() ? part.get<double>() : 0;
  const bool possible = factor > 0 && factor <= 1;
  const std::int64_t each = head_width(reader);
  if (!possible || (!keys.part && factor != 1)) {
    throw wrong_key("the rotated part of a head is out of range", name,
                    keys.part ? "a number above 0, at most 1" : "1", part);
  }
  if (factor == 1) {
    if (keys.part) config.values["layer.rotary.width"] = "0";  // 0: all channels
    return;
  }
  if (each < 1) throw wrong_key("the head width is missing", name, "hidden_size and heads", part);
  config.values["layer.rotary.width"] =
      std::to_string(static_cast<std::int64_t>(static_cast<double>(each) * factor));
}

/// Value of sliding_window: a number of tokens, or null for none. Throws Error(damaged).
json take_window(ConfigReader& reader) {
  const json& window = reader.take_value("sliding_window");
  if (!window.is_null() && !(window.is_number_integer() && window > 0)) {
    throw wrong_key("the window is not a number of tokens", "sliding_window", "1 or more", window);
  }
  return window;
}

/// Sets windows of `window` tokens in the layers that layer_types marks as "sliding_attention", or
/// without layer_types in every `every`-th layer from `first` on. Throws Error(damaged) for sliding
/// layers without a window.
void read_sliding_layers(ConfigReader& reader, NeighbourConfig& config, const json& window,
                         std::int64_t first, std::int64_t every) {
  const json& types = reader.take_value("layer_types");
  if (!types.is_array() && !types.is_null()) {
    throw wrong_key("the value has the wrong type", "layer_types",
                    "a list, one type for each layer", types);
  }
  json layers = json::array();
  for (std::size_t i = 0; types.is_array() && i < types.size(); ++i) {
    if (types[i] == "full_attention") continue;
    if (types[i] != "sliding_attention") {
      throw Error(ErrorKind::unsupported, "layers of this type are not supported")
          .about("layer_types")
          .expected("full_attention or sliding_attention")
          .found(json_text(types[i]));
    }
    layers.push_back(i);
  }
  json which = layers;
  if (!types.is_array()) {
    which = json::object();
    which["first"] = first;
    which["every"] = every;
  }
  if (window.is_null() && !layers.empty()) {
    throw wrong_key("layers are sliding, but the configuration gives no sliding_window",
                    "layer_types", "full_attention", types);
  }
  if (window.is_null() || (types.is_array() && layers.empty())) {
    config.values["differences"] = "[]";
    return;
  }
  json difference;
  difference["layers"] = which;
  difference["scores"]["window"] = window;
  json list = json::array();
  list.push_back(std::move(difference));
  config.values["differences"] = list.dump();
}

}  // namespace

double yarn_amplitude(double factor, double scale) {
  return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

std::int64_t take_positive(ConfigReader& reader, const char* key) {
  const json& found = reader.take_value(key);
  if (found.is_null()) return 0;
  if (found.is_number_integer() && found > 0 && found < 1 << 16) return found.get<std::int64_t>();
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(key)
      .expected("a whole number above 0")
      .found(json_text(found));
}

void read_rope_scaling(const json& scaling, const char* of, const json& context,
                       const json& trained_context, NeighbourConfig& config) {
  read_sections(scaling, of, config);
  const std::string kind = scaling_of(scaling, of);
  check_scaling_keys(scaling, kind, of);
  take_number(scaling, "rope_theta", "layer.rotary.theta", of, config);
  config.values["layer.rotary.scaling"] = kind;
  if (kind == "none") return;
  if (kind != "longrope") config.values["layer.rotary.factor"] = number(scaling, "factor", of);
  json trained = scaling.value("original_max_position_embeddings", trained_context);
  if (trained.is_null() || kind == "dynamic") trained = context;
  if (kind != "linear") {
    if (!trained.is_number_integer()) {
      throw wrong_key("the scaling of rotary positions lacks the length of the training texts",
                      std::string(of) + ".original_max_position_embeddings", "a number", trained);
    }
    config.values["layer.rotary.trained_context"] = trained.dump();
  }
  if (kind == "llama3") {
    config.values["layer.rotary.low_frequency"] = number(scaling, "low_freq_factor", of);
    config.values["layer.rotary.high_frequency"] = number(scaling, "high_freq_factor", of);
  }
  if (kind == "yarn") read_yarn(scaling, of, config);
  take_number(scaling, "beta_fast", "layer.rotary.beta_fast", of, config);
  take_number(scaling, "beta_slow", "layer.rotary.beta_slow", of, config);
  take_number(scaling, "attention_factor", "layer.rotary.attention_factor", of, config);
  if (kind != "longrope") return;
  take_factors(scaling, "short_factor", "layer.rotary.short_factors", of, config);
  take_factors(scaling, "long_factor", "layer.rotary.long_factors", of, config);
  const double stretched = context.is_number() ? context.get<double>() : 0;
  config.values["layer.rotary.factor"] =
      scaling.value("factor", json()).is_number()
          ? scaling["factor"].dump()
          : json(std::max(stretched / trained.get<double>(), 1.0)).dump();
}

void read_rotary(ConfigReader& reader, NeighbourConfig& config, const RotaryKeys& keys) {
  json theta;
  std::string without;  // key that is null
  for (const std::string& key : {keys.theta, std::string("rope_theta")}) {
    const json& found = reader.take_value(key);
    if (found.is_null() && reader.has(key)) without = key;
    if (found.is_null()) continue;
    if (!found.is_number()) throw wrong_key("the value has the wrong type", key, "a number", found);
    if (!theta.is_null() && theta != found) {
      throw wrong_key("two keys contradict each other", key, theta.dump() + ", as " + keys.theta,
                      found);
    }
    theta = found;
    config.values["layer.rotary.theta"] = theta.dump();
  }
  read_turned_part(reader, config, keys);
  const json& context = reader.take_value("max_position_embeddings");
  const json& trained = reader.take_value("original_max_position_embeddings");
  for (const char* const key : {"rope_scaling", "rope_parameters"}) {
    const json& scaling = reader.take_value(key);
    if (scaling.is_null()) continue;
    if (!scaling.is_object())
      throw wrong_key("the value has the wrong type", key, "an object", scaling);
    read_rope_scaling(scaling, key, context, trained, config);
  }
  if (!without.empty() && !config.values.contains("layer.rotary.theta")) {
    throw wrong_key("the value has the wrong type", without, "a number", json());
  }
  // With dynamic scaling, texts may be longer than this.
  const auto scaling = config.values.find("layer.rotary.scaling");
  const bool dynamic = scaling != config.values.end() && scaling->second == "dynamic";
  if (context.is_number_integer() && !dynamic) config.values["context"] = context.dump();
}

void read_window(ConfigReader& reader, NeighbourConfig& config) {
  const json window = take_window(reader);
  if (!window.is_null()) config.values["layer.scores.window"] = window.dump();
}

void read_even_windows(ConfigReader& reader, NeighbourConfig& config) {
  read_sliding_layers(reader, config, take_window(reader), 0, 2);
}

void read_last_windows(ConfigReader& reader, NeighbourConfig& config) {
  const json window = take_window(reader);
  const json& full = reader.take_value("max_window_layers");
  const bool slides = reader.flag("use_sliding_window", false);
  if (!full.is_number_unsigned() && (slides || !full.is_null())) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about("max_window_layers")
        .expected("a number of layers")
        .found(json_text(full));
  }
  read_sliding_layers(reader, config, slides ? window : json(),
                      full.is_null() ? 0 : full.get<std::int64_t>(), 1);
}

}  // namespace attnscope
