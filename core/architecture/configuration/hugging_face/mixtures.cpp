// Rules of mixtures of experts.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Numbers of layers that have one MLP whatever their place. Throws Error(damaged).
json take_plain_layers(ConfigReader& reader) {
  constexpr const char* key = "mlp_only_layers";
  const json& layers = reader.take_value(key);
  if (layers.is_null()) return json::array();
  const bool numbers = layers.is_array() && std::ranges::all_of(layers, [](const json& layer) {
                         return layer.is_number_unsigned();
                       });
  if (numbers) return layers;
  throw Error(ErrorKind::damaged, "the value has the wrong type")
      .about(key)
      .expected("a list of layers, from 0")
      .found(json_text(layers));
}

/// Number of layers to the next one with experts; 1 if missing. Throws Error(damaged).
std::int64_t take_step(ConfigReader& reader) {
  constexpr const char* key = "decoder_sparse_step";
  const std::int64_t every = take_positive(reader, key);
  if (every > 0 || !reader.has(key)) return std::max<std::int64_t>(every, 1);
  throw Error(ErrorKind::damaged, "the value has the wrong type")
      .about(key)
      .expected("a whole number above 0")
      .found("null");
}

/// Sets the layers with one MLP of `width`, next to other differences.
void set_plain_layers(const json& layers, std::int64_t width, NeighbourConfig& config) {
  const auto others = config.values.find("differences");
  json list = others == config.values.end() ? json::array() : json::parse(others->second);
  if (!layers.empty()) {
    if (width == 0) {
      throw Error(ErrorKind::damaged, "the configuration lacks the width of layers with one MLP")
          .about("intermediate_size")
          .expected("a whole number above 0");
    }
    list.push_back({{"layers", layers}, {"mlp", {{"experts", 0}, {"width", width}}}});
  }
  config.values["differences"] = list.dump();
}

/// Whole number above 0 under `key`. Throws Error(damaged).
std::int64_t need_positive(ConfigReader& reader, const char* key) {
  const std::int64_t found = take_positive(reader, key);
  if (found > 0) return found;
  throw Error(ErrorKind::damaged, "the configuration lacks a number")
      .about(key)
      .expected("a whole number above 0");
}

/// Number under `key` of rope_scaling or rope_parameters; 0 if missing.
double scaling_number(ConfigReader& reader, const char* key) {
  for (const char* const of : {"rope_scaling", "rope_parameters"}) {
    const json& scaling = reader.take_value(of);
    const json found = scaling.is_object() ? scaling.value(key, json()) : json();
    if (found.is_number()) return found.get<double>();
  }
  return 0;
}

}  // namespace

void read_first_layers(ConfigReader& reader, NeighbourConfig& config) {
  constexpr const char* key = "first_k_dense_replace";
  const json& first = reader.take_value(key);
  if (reader.has(key) && !first.is_number_unsigned()) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about(key)
        .expected("a number of layers")
        .found(json_text(first));
  }
  const std::int64_t layers = take_positive(reader, "num_hidden_layers");
  const std::int64_t count = first.is_null() ? 0 : std::min(first.get<std::int64_t>(), layers);
  json plain = json::array();
  for (std::int64_t layer = 0; layer < count; ++layer) plain.push_back(layer);
  set_plain_layers(plain, take_positive(reader, "intermediate_size"), config);
  const std::int64_t shared = take_positive(reader, "n_shared_experts");
  const std::int64_t width = take_positive(reader, "moe_intermediate_size");
  config.values["layer.mlp.shared_width"] = std::to_string(shared * width);
  config.facts.insert("layer.mlp.shared_width");
  config.further_layers = take_positive(reader, "num_nextn_predict_layers");
  for (std::int64_t layer = layers; layer < layers + config.further_layers; ++layer) {
    config.unused.push_back("layers." + std::to_string(layer) + ".*");
  }
}

void read_expert_groups(ConfigReader& reader, NeighbourConfig& config) {
  constexpr const char* key = "topk_method";
  const json& method = reader.take_value(key);
  const bool corrects = config.kind == "deepseek_v3";
  const bool known =
      corrects ? method == "noaux_tc" : method == "greedy" || method == "group_limited_greedy";
  if (!known) {
    throw Error(ErrorKind::unsupported, "this choice of experts is not supported")
        .about(key)
        .expected(corrects ? "noaux_tc" : "greedy or group_limited_greedy")
        .found(json_text(method));
  }
  if (method == "greedy") {
    for (const char* const unused : {"n_group", "topk_group"}) (void)reader.take_value(unused);
    return;
  }
  config.values["layer.mlp.expert_groups"] = std::to_string(need_positive(reader, "n_group"));
  config.values["layer.mlp.active_groups"] = std::to_string(need_positive(reader, "topk_group"));
}

void read_latent_heads(ConfigReader& reader, NeighbourConfig& config) {
  const std::int64_t rotated = need_positive(reader, "qk_rope_head_dim");
  const std::int64_t width = need_positive(reader, "qk_nope_head_dim") + rotated;
  config.values["head_width"] = std::to_string(width);
  config.values["layer.rotary.width"] = std::to_string(rotated);
  config.values["layer.attention.value_width"] =
      std::to_string(need_positive(reader, "v_head_dim"));
  const double all = scaling_number(reader, "mscale_all_dim");
  if (all == 0) return;
  const double amplitude = yarn_amplitude(scaling_number(reader, "factor"), all);
  config.values["scale"] =
      json(amplitude * amplitude / std::sqrt(static_cast<double>(width))).dump();
}

void read_quantisation(ConfigReader& reader, NeighbourConfig&) {
  constexpr const char* key = "quantization_config";
  const json& found = reader.take_value(key);
  if (found.is_null()) return;
  const json method = found.is_object() ? found.value("quant_method", json()) : json();
  if (method == "mxfp4") return;
  const bool tiles = method == "fp8" && found.value("fmt", json("e4m3")) == "e4m3" &&
                     found.value("weight_block_size", json()) == json::array({128, 128});
  if (tiles) return;
  throw Error(ErrorKind::unsupported, "this quantisation is not supported")
      .about(key)
      .expected("quant_method mxfp4, or fp8 of e4m3 with weight_block_size [128, 128]")
      .found(json_text(found));
}

void read_sparse_layers(ConfigReader& reader, NeighbourConfig& config) {
  const bool slides = reader.flag("use_sliding_window", false);
  read_window(reader, config);
  if (!slides) config.values.erase("layer.scores.window");
  read_plain_layers(reader, config);
}

void read_plain_layers(ConfigReader& reader, NeighbourConfig& config) {
  const json alone = take_plain_layers(reader);
  const std::int64_t every = take_step(reader);
  const std::int64_t layers = take_positive(reader, "num_hidden_layers");
  const std::int64_t width = take_positive(reader, "intermediate_size");
  json plain = json::array();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const bool listed = std::ranges::find(alone, json(layer)) != alone.end();
    if (listed || (layer + 1) % every != 0) plain.push_back(layer);
  }
  set_plain_layers(plain, width, config);
}

}  // namespace attnscope
