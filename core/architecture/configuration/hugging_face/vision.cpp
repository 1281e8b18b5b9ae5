// Rules of BEiT and SAM.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

}  // namespace

void read_beit_readout(ConfigReader& reader, NeighbourConfig& config) {
  const bool mean = reader.flag("use_mean_pooling", true);
  // The masked image model has neither pooling nor classes.
  config.families = {"hugging-face-beit-class-token"};
  if (mean) config.families.push_back("hugging-face-beit");
}

void read_sam_windows(ConfigReader& reader, NeighbourConfig& config) {
  for (const char* key : {"use_abs_pos", "use_rel_pos"}) {
    if (reader.flag(key, true)) continue;
    throw Error(ErrorKind::unsupported, "an encoder without these positions is not supported")
        .about(key)
        .expected("true")
        .found("false");
  }
  const json& window = reader.take_value("window_size");
  const json& whole = reader.take_value("global_attn_indexes");
  if (window.is_null() && whole.is_null()) return;
  if (!window.is_number_integer() || window <= 0 || !whole.is_array()) {
    throw Error(ErrorKind::unsupported, "the configuration does not give the windows of the layers")
        .about(window.is_number_integer() && window > 0 ? "global_attn_indexes" : "window_size")
        .expected("a number of patches, and a list of the layers without windows")
        .found(json_text(window) + ", " + json_text(whole));
  }
  config.values["layer.scores.window"] = window.dump();
  config.values["differences"] = "[]";
  if (!whole.empty()) {
    const json difference = {{"layers", whole}, {"scores", {{"window", 0}}}};
    config.values["differences"] = json::array({difference}).dump();
  }
  config.facts.insert({"layer.scores.window", "differences"});
}

void read_tiles_that_are_cut(ConfigReader& reader, NeighbourConfig& config) {
  const auto number = [&](const char* key) {
    const std::int64_t found = take_positive(reader, key);
    if (found > 0) return found;
    throw Error(ErrorKind::unsupported, "the configuration does not give the windows of the layers")
        .about(key);
  };
  const std::int64_t patch = number("patch_size"), merge = number("spatial_merge_size");
  // Windows consist of whole squares of patches.
  const std::int64_t side = number("window_size") / merge / patch * merge;
  const json& whole = reader.take_value("fullatt_block_indexes");
  if (side < 1 || !whole.is_array()) {
    throw Error(ErrorKind::unsupported, "the configuration does not give the windows of the layers")
        .about(side < 1 ? "window_size" : "fullatt_block_indexes")
        .expected("pixels of at least one square of patches, and a list of layers without windows")
        .found(json_text(whole));
  }
  config.values["layer.scores.window"] = std::to_string(side);
  config.values["differences"] = "[]";
  if (whole.empty()) return;
  const json difference = {{"layers", whole}, {"scores", {{"window", 0}}}};
  config.values["differences"] = json::array({difference}).dump();
}

void read_picture_in_text(ConfigReader& /*reader*/, NeighbourConfig& config) {
  for (NeighbourConfig& tower : config.towers) {
    if (tower.kind == "gemma3_text") tower.values["layer.scores.picture_both_ways"] = "true";
  }
}

}  // namespace attnscope
