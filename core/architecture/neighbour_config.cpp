#include "core/architecture/neighbour_config.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Values = std::map<std::string, std::string>;

json read_json(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return json::object();
  constexpr std::size_t most = std::size_t{8} << 20;  // bytes; far above any such file
  json object = read_json_file(path, most);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the configuration beside the weights is not a JSON object")
        .in_file(path)
        .remedy("repair it, or move the weight file elsewhere");
  }
  return object;
}

void take_number(const json& object, const char* key, const char* option, Values& values) {
  if (object.contains(key) && object[key].is_number()) values[option] = object[key].dump();
}

void take_numbers(const json& object, const char* key, const char* option, Values& values) {
  if (!object.contains(key) || !object[key].is_array()) return;
  std::string text;
  for (const json& element : object[key]) {
    if (!element.is_number()) return;
    text += (text.empty() ? "" : ",") + element.dump();
  }
  if (!text.empty()) values[option] = text;
}

/// Fastformer-LM's window of each layer.
void read_windows(const json& config, Values& values) {
  const json windows = config.value("window_sizes", json());
  if (!windows.is_array()) return;
  json list = json::array();
  for (const json& window : windows) {
    if (!window.is_number_integer() || window.get<std::int64_t>() < 1) {
      throw Error(ErrorKind::damaged, "a window holds at least one token")
          .about("window_sizes")
          .expected("whole numbers from 1 on")
          .found(window.dump());
    }
    list.push_back({{"name", "additive"}, {"parameters", {{"causal", true}, {"window", window}}}});
  }
  values["layer_mechanisms"] = list.dump();
}

void read_model(const json& config, Values& values) {
  take_number(config, "num_attention_heads", "heads", values);
  take_number(config, "layer_norm_eps", "norm_eps", values);
  // GPT-2's and Fastformer-LM's names for the same.
  take_number(config, "n_head", "heads", values);
  take_number(config, "n_heads", "heads", values);
  take_number(config, "layer_norm_epsilon", "norm_eps", values);
  take_number(config, "rescale_value", "importance_scale", values);
  read_windows(config, values);
  std::string activation;
  for (const char* key : {"hidden_act", "activation_function"}) {
    if (config.value(key, json()).is_string()) activation = config[key].get<std::string>();
  }
  if (activation == "gelu" || activation == "relu") values["activation"] = activation;
  if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") {
    values["activation"] = "gelu_tanh";
  }
  const json labels = config.value("id2label", json::object());
  json list = json::array();
  for (std::size_t i = 0; labels.is_object() && i < labels.size(); ++i) {
    const auto label = labels.find(std::to_string(i));
    if (label == labels.end() || !label->is_string()) return;
    list.push_back(*label);
  }
  if (!list.empty()) values["labels"] = list.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// 224, {"height": 224, "width": 224} or {"shortest_edge": 224}; 0 if it is none of these.
double extent_of(const json& size) {
  if (size.is_number()) return size.get<double>();
  for (const char* key : {"shortest_edge", "height"}) {
    if (size.is_object() && size.contains(key) && size[key].is_number()) {
      return size[key].get<double>();
    }
  }
  return 0;
}

void read_preprocessing(const json& config, Values& values) {
  take_numbers(config, "image_mean", "input_mean", values);
  take_numbers(config, "image_std", "input_std", values);
  if (config.value("resample", json()) == 2) values["resize_filter"] = "bilinear";
  if (config.value("resample", json()) == 3) values["resize_filter"] = "bicubic";
  const double resized = extent_of(config.value("size", json()));
  const double cropped = extent_of(config.value("crop_size", json()));
  const bool crops = config.value("do_center_crop", json()) == true;
  if (crops && cropped > 0 && cropped <= resized) {
    values["crop_fraction"] = json(cropped / resized).dump();
  }
  if (!crops && resized > 0) values["crop_fraction"] = "1.0";
}

}  // namespace

Values neighbour_config(const std::filesystem::path& weights) {
  Values values;
  const std::filesystem::path model = weights.parent_path() / "config.json";
  try {
    read_model(read_json(model), values);
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(model);
    throw;
  }
  read_preprocessing(read_json(weights.parent_path() / "preprocessor_config.json"), values);
  return values;
}

bool has_byte_pairs(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "vocab.json", ignored) &&
         std::filesystem::exists(folder / "merges.txt", ignored);
}

}  // namespace attnscope
