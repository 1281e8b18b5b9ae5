// OpenCLIP's open_clip_config.json, which describes two towers.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/config_reader.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Value of the only key that an object may have: {"eps": 1e-6}.
json take_only(const json& object, const char* key, const char* of) {
  if (object.is_null()) return {};
  if (object.is_object() && object.size() <= 1 && (object.empty() || object.contains(key))) {
    return object.value(key, json());
  }
  throw Error(ErrorKind::unsupported, "the value in the configuration is not supported")
      .about(of)
      .expected(std::string(key) + " and no other key")
      .found(json_text(object));
}

/// Reads settings that both towers have: activations and norms.
void read_layers(ConfigReader& reader, bool quick, NeighbourConfig& tower) {
  const json how = take_only(reader.take_value("act_kwargs"), "approximate", "act_kwargs");
  if (!how.is_null() && how != "tanh" && how != "none") {
    throw Error(ErrorKind::unsupported, "the approximation of GELU is not supported")
        .about("act_kwargs.approximate")
        .expected("tanh or none")
        .found(json_text(how));
  }
  tower.values["activation"] = quick ? "quick_gelu" : how == "tanh" ? "gelu_tanh" : "gelu";
  const json eps = take_only(reader.take_value("norm_kwargs"), "eps", "norm_kwargs");
  tower.values["norm_eps"] = eps.is_number() ? eps.dump() : "1e-05";
}

/// Image preprocessing with timm's keys.
json as_timm(const json& prepared, const json& image_size) {
  json words = {{"crop_pct", 1.0}};
  for (const char* key : {"mean", "std", "interpolation"}) {
    if (prepared.contains(key)) words[key] = prepared[key];
  }
  const json mode = prepared.value("resize_mode", json("shortest"));
  words["crop_mode"] = mode == "shortest" ? json("center") : mode;
  if (image_size.is_number_integer()) words["input_size"] = {3, image_size, image_size};
  return words;
}

void read_numbers(const json& prepared, const char* key, const char* member,
                  NeighbourConfig& tower) {
  const json numbers = prepared.value(key, json());
  if (!numbers.is_array() || numbers.empty()) return;
  const std::string text = numbers.dump();
  tower.values[member] = text.substr(1, text.size() - 2);
}

void read_open_clip_preparation(const json& prepared, NeighbourConfig& tower) {
  read_numbers(prepared, "mean", "input_mean", tower);
  read_numbers(prepared, "std", "input_std", tower);
  const json filter = prepared.value("interpolation", json("bicubic"));
  if (filter != "bilinear" && filter != "bicubic" && filter != "random") {
    throw Error(ErrorKind::unsupported, "the resize filter is not supported")
        .about("preprocess_cfg.interpolation")
        .expected("bilinear, bicubic, or random (bicubic except in training)")
        .found(json_text(filter));
  }
  tower.values["resize_filter"] = filter == "bilinear" ? "bilinear" : "bicubic";
  const json mode = prepared.value("resize_mode", json("shortest"));
  if (mode != "shortest" && mode != "squash") {
    throw Error(ErrorKind::unsupported, "the resize mode is not supported")
        .about("preprocess_cfg.resize_mode")
        .expected("shortest or squash")
        .found(json_text(mode));
  }
  tower.values["resize_mode"] = mode == "squash" ? "exact" : "shorter_side";
  tower.values["crop_fraction"] = "1.0";
}

/// Reads the pooling: the class token, or the mean of the patches, before or after the last norm.
void read_clip_pooling(ConfigReader& reader, NeighbourConfig& tower) {
  const json& pool = reader.take_value("pool_type");
  const bool norm_after = reader.flag("final_ln_after_pool", false);
  if (pool.is_null() || pool == "tok") return;  // a single token gives the same in either order
  if (pool != "avg") {
    throw Error(ErrorKind::unsupported, "the pooling of images is not supported")
        .about("pool_type")
        .expected("tok or avg")
        .found(json_text(pool));
  }
  tower.values["readout"] = "mean";
  tower.overruling.insert("readout");  // the family states the class token
  if (norm_after) tower.families = {"openclip-mean-of-patches"};
}

NeighbourConfig image_tower(const json& object, const json& prepared, bool quick) {
  NeighbourConfig tower;
  const json architecture = object.value("timm_model_name", json());
  if (architecture.is_string()) {
    read_timm_config({{"architecture", architecture},
                      {"global_pool", object.value("timm_pool", json("avg"))},
                      {"pretrained_cfg", as_timm(prepared, object.value("image_size", json()))}},
                     tower);
    ConfigReader reader(object, tower);
    reader.take(config_kind("open_clip/vision_cfg of timm"));
    reader.finish("model_cfg.vision_cfg.");
    return tower;
  }
  tower.kind = "open_clip";
  tower.families = {"clip"};
  ConfigReader reader(object, tower);
  read_layers(reader, quick, tower);
  read_clip_pooling(reader, tower);
  reader.take(config_kind("open_clip/vision_cfg"));
  reader.finish("model_cfg.vision_cfg.");
  read_open_clip_preparation(prepared, tower);
  return tower;
}

/// Reads a text tower. Returns false unless it is CLIP's own, which is causal and reads the end
/// token, or SigLIP's, which is not causal and reads the last token.
bool read_text_tower(const json& object, bool quick, NeighbourConfig& tower) {
  ConfigReader reader(object, tower);
  const json& other = reader.take_value("hf_model_name");
  const json& pool = reader.take_value("pool_type");
  const bool sees_all = reader.flag("no_causal_mask", false);
  const bool appends = reader.flag("embed_cls", false);
  const bool ends = pool.is_null() || pool == "argmax";
  if (other.is_string() || appends || !(sees_all ? pool == "last" : ends)) return false;
  tower.kind = "open_clip";
  tower.families = {sees_all ? "openclip-siglip-text" : "clip-text"};
  read_layers(reader, quick, tower);
  reader.take(config_kind("open_clip/text_cfg"));
  reader.finish("model_cfg.text_cfg.");
  return true;
}

}  // namespace

void read_open_clip_config(const json& object, NeighbourConfig& config) {
  config.kind = "open_clip";
  ConfigReader reader(object, config);
  const json& model = reader.take_value("model_cfg");
  const json& prepared = reader.take_value("preprocess_cfg");
  reader.finish();
  if (prepared.is_object()) {
    ConfigReader images(prepared, config);
    images.take(config_kind("open_clip/preprocess_cfg"));
    images.finish("preprocess_cfg.");
  }
  if (!model.is_object()) {
    throw Error(ErrorKind::damaged, "the configuration does not describe the model")
        .about("model_cfg")
        .expected("an object")
        .found(json_text(model));
  }
  ConfigReader own(model, config);
  const json& images = own.take_value("vision_cfg");
  const json& texts = own.take_value("text_cfg");
  // Towers of timm models have their own activation, and the text tower next to one has it too.
  const bool of_timm = images.is_object() && images.value("timm_model_name", json()).is_string();
  const bool quick = own.flag("quick_gelu", false) && !of_timm;
  own.take(config_kind("open_clip/model_cfg"));
  own.finish("model_cfg.");
  if (images.is_object()) {
    config.towers.push_back(
        image_tower(images, prepared.is_object() ? prepared : json::object(), quick));
  }
  NeighbourConfig tower;
  if (texts.is_object() && read_text_tower(texts, quick, tower)) {
    config.towers.push_back(std::move(tower));
  }
  if (config.towers.empty()) {
    throw Error(ErrorKind::unsupported, "neither tower is supported")
        .about("model_cfg.text_cfg")
        .expected("later tokens hidden and the end token read, or none hidden and the last read")
        .found(json_text(texts).substr(0, 200));
  }
  for (NeighbourConfig& each : config.towers) {
    each.file = config.file;
    config.families.insert(config.families.end(), each.families.begin(), each.families.end());
  }
}

}  // namespace attnscope
