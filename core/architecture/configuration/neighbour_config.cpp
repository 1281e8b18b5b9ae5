#include "core/architecture/configuration/neighbour_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/config_reader.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Values = std::map<std::string, std::string>;

json read_json(const std::filesystem::path& path) {
  if (!is_entry(path)) return json::object();
  constexpr std::size_t most = std::size_t{8} << 20;  // bytes; far above any such file
  json object = read_json_file(path, most);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the configuration next to the weights is not a JSON object")
        .in_file(path)
        .remedy("repair it, or move the weight file elsewhere");
  }
  return object;
}

void take_list(const json& object, const char* key, const char* option, Values& values) {
  if (!object.contains(key) || !object[key].is_array()) return;
  std::string text;
  for (const json& element : object[key]) {
    if (!element.is_number()) return;
    text += (text.empty() ? "" : ",") + element.dump();
  }
  if (!text.empty()) values[option] = text;
}

/// Number of pixels from 224, {"height": 224, "width": 224} or {"shortest_edge": 224}; 0 for any
/// other form.
double extent_of(const json& size) {
  if (size.is_number()) return size.get<double>();
  for (const char* key : {"shortest_edge", "height"}) {
    if (size.is_object() && size.contains(key) && size[key].is_number()) {
      return size[key].get<double>();
    }
  }
  return 0;
}

/// Reads a resampling filter by Pillow's number.
void read_filter(const json& filter, Values& values) {
  if (filter.is_null()) return;
  constexpr std::string_view filters[] = {"lanczos", "bilinear", "bicubic"};
  if (filter != 1 && filter != 2 && filter != 3) {
    throw Error(ErrorKind::unsupported, "the resize filter is not supported")
        .about("resample")
        .expected("1 (Lanczos), 2 (bilinear) or 3 (bicubic)")
        .found(json_text(filter));
  }
  values["resize_filter"] = filters[filter.get<std::size_t>() - 1];
}

/// Reads the settings of the processor of Idefics 3 and SmolVLM, which cuts pictures into tiles.
void read_tiles(const json& config, Values& values) {
  const auto longest_edge = [&](const char* key) {
    const json size = config.value(key, json());
    const json edge = size.is_object() ? size.value("longest_edge", json()) : json();
    if (edge.is_number_integer() && edge.get<std::int64_t>() > 0) return edge.dump();
    throw Error(ErrorKind::unsupported, "the size has no longest edge")
        .about(key)
        .found(json_text(size));
  };
  const std::string tile = longest_edge("max_image_size");
  const auto side = values.find("image_height");
  if (side != values.end() && side->second != tile) {
    throw Error(ErrorKind::unsupported, "tiles of another size than the tower's are not supported")
        .about("max_image_size")
        .expected(side->second)
        .found(tile);
  }
  values["resize_mode"] = "exact";
  values["crop_fraction"] = "1.0";
  values["longest_edge"] = longest_edge("size");
  const bool cuts = config.value("do_image_splitting", json(true)) == true;
  values["tiles"] = cuts ? "true" : "false";
}

/// Reads the settings of the processor of Qwen2-VL and its successors, whose images keep their
/// aspect ratio. They have one of two names each.
void read_sizes(const json& config, Values& values) {
  const json size = config.value("size", json::object());
  const auto number = [&](const char* key, const char* edge) {
    json found = config.value(key, json());
    if (found.is_null() && size.is_object()) found = size.value(edge, json());
    if (found.is_null() && size.is_object()) found = size.value(key, json());
    if (found.is_number_unsigned() && found <= (1 << 28)) return found.dump();
    throw Error(ErrorKind::unsupported, "the configuration does not limit the pixels of an image")
        .about(std::string(key) + ", size." + edge)
        .expected("a number of pixels")
        .found(json_text(found));
  };
  const auto side = [&](const char* key, std::int64_t usual) {
    const json found = config.value(key, json(usual));
    if (found.is_number_unsigned() && found >= 1 && found <= 1024) return found.get<std::int64_t>();
    throw Error(ErrorKind::unsupported, "the value is not a number of pixels or patches")
        .about(key)
        .found(json_text(found));
  };
  values["least_pixels"] = number("min_pixels", "shortest_edge");
  values["most_pixels"] = number("max_pixels", "longest_edge");
  values["size_step"] = std::to_string(side("patch_size", 14) * side("merge_size", 2));
}

void read_preprocessing(const json& config, Values& values) {
  take_list(config, "image_mean", "input_mean", values);
  take_list(config, "image_std", "input_std", values);
  const json processor = config.value("image_processor_type", json());
  const std::string name = processor.is_string() ? processor.get<std::string>() : "";
  if (name.starts_with("Qwen2VLImageProcessor") || name.starts_with("Qwen3VLImageProcessor")) {
    read_filter(config.value("resample", json()), values);
    return read_sizes(config, values);
  }
  const json size = config.value("size", json());
  const double resized = extent_of(size);
  const double cropped = extent_of(config.value("crop_size", json()));
  const bool crops = config.value("do_center_crop", json()) == true;
  if (config.value("do_resize", json()) != false)
    read_filter(config.value("resample", json()), values);
  if (size.is_object() && size.contains("shortest_edge")) values["resize_mode"] = "shorter_side";
  if (size.is_object() && size.contains("height")) values["resize_mode"] = "exact";
  // LLaVA's own processor makes a square before all else; others pad after they have resized.
  const bool of_llava = name.starts_with("LlavaImageProcessor");
  if (config.value("do_pan_and_scan", json(false)) == true) {
    throw Error(ErrorKind::unsupported, "pictures that are read in crops are not supported")
        .about("do_pan_and_scan")
        .expected("false")
        .found("true");
  }
  if (of_llava && config.value("do_pad", json()) == true) values["resize_mode"] = "padded";
  if (crops && cropped > 0 && cropped <= resized) {
    values["crop_fraction"] = json(cropped / resized).dump();
  }
  if (!crops && resized > 0) values["crop_fraction"] = "1.0";
  if (config.contains("max_image_size")) read_tiles(config, values);
}

constexpr const char* kOpenClip = "open_clip_config.json";
constexpr const char* kMeta = "params.json";

/// Path of the configuration. OpenCLIP's and Meta's files are used only without a config.json,
/// which has the same content.
std::filesystem::path configuration_beside(const std::filesystem::path& weights) {
  std::filesystem::path usual = weights.parent_path() / "config.json";
  for (const char* name : {"config.json", kOpenClip, kMeta}) {
    std::filesystem::path file = weights.parent_path() / name;
    if (is_entry(file)) return file;
  }
  return usual;
}

bool ignores(std::span<const std::string> patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, name); });
}

/// Configuration without the keys that the user ignores.
json without_ignored(const json& object, const std::string& prefix,
                     std::span<const std::string> ignored) {
  json kept = json::object();
  for (const auto& [key, value] : object.items()) {
    if (ignores(ignored, prefix + key)) continue;
    kept[key] = value.is_object() ? without_ignored(value, prefix + key + ".", ignored) : value;
  }
  return kept;
}

}  // namespace

bool NeighbourConfig::allows(std::string_view family) const {
  if (families.empty()) return !family.starts_with("gguf-");
  return std::find(families.begin(), families.end(), family) != families.end();
}

const NeighbourConfig& NeighbourConfig::of(std::string_view family) const {
  const auto tower = std::find_if(towers.begin(), towers.end(),
                                  [&](const auto& each) { return each.allows(family); });
  return tower == towers.end() ? *this : *tower;
}

NeighbourConfig neighbour_config(const std::filesystem::path& weights,
                                 std::span<const std::string> ignored,
                                 std::span<const ConfigKind> own) {
  NeighbourConfig config;
  config.free_head = ignores(ignored, "config.tie_word_embeddings");
  if (!ignores(ignored, "config")) {
    const std::filesystem::path file = configuration_beside(weights);
    const json object = without_ignored(read_json(file), "config.", ignored);
    if (!object.empty()) config.file = file;
    with_file(file, [&] {
      if (object.empty()) return;
      if (file.filename() == kOpenClip) {
        read_open_clip_config(object, config);
      } else if (file.filename() == kMeta) {
        read_meta_config(object, config);
      } else if (object.value("architecture", json()).is_string()) {
        read_timm_config(object, config, own);
      } else {
        read_hugging_face_config(object, config, own);
      }
    });
  }
  const std::filesystem::path preprocessing = weights.parent_path() / "preprocessor_config.json";
  with_file(preprocessing, [&] {
    const json object = read_json(preprocessing);
    read_preprocessing(object, config.values);
    for (NeighbourConfig& tower : config.towers) {
      if (tower.kind.find("vision") != std::string::npos) read_preprocessing(object, tower.values);
    }
  });
  return config;
}

void check_known(const NeighbourConfig& config) {
  if (config.unknown.empty()) return;
  const auto& [key, value] = config.unknown.front();
  throw Error(ErrorKind::unsupported, "the configuration of the model has an unknown key")
      .in_file(config.file)
      .about(key)
      .found(value)
      .remedy("--option ignore=config." + key + " if it does not change the computation");
}

}  // namespace attnscope
