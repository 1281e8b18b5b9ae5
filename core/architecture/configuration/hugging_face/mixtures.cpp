// Rules of mixtures of experts.
#include <algorithm>
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

}  // namespace

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
  const auto others = config.values.find("differences");
  json list = others == config.values.end() ? json::array() : json::parse(others->second);
  if (!plain.empty()) {
    if (width == 0) {
      throw Error(ErrorKind::damaged, "the configuration lacks the width of layers with one MLP")
          .about("intermediate_size")
          .expected("a whole number above 0");
    }
    list.push_back({{"layers", plain}, {"mlp", {{"experts", 0}, {"width", width}}}});
  }
  config.values["differences"] = list.dump();
}

}  // namespace attnscope
