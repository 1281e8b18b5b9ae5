// Reads config.json of timm's models on Hugging Face's hub: an architecture of timm, arguments of
// its constructor, and image preprocessing.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/architecture/architecture.h"
#include "core/architecture/class_names.h"
#include "core/architecture/configuration/config_reader.h"
#include "core/architecture/configuration/neighbour_config.h"
#include "core/error.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Kind with the longest pattern that matches an architecture of timm, first among `own`; null if
/// it is not supported.
const ConfigKind* timm_kind(const std::string& architecture, std::span<const ConfigKind> own) {
  if (unsupported_kind("architecture", architecture)) return nullptr;
  const ConfigKind* best = nullptr;
  for (const std::span<const ConfigKind> kinds :
       {own, std::span<const ConfigKind>(config_kinds())}) {
    for (const ConfigKind& kind : kinds) {
      const bool longer = !best || kind.name.size() > best->name.size();
      if (longer && matches_pattern(kind.name, "timm/" + architecture)) best = &kind;
    }
    if (best) break;
  }
  return best;
}

/// All patterns of timm's architectures: "vit_…, deit_…".
std::string timm_patterns() {
  std::string list;
  for (const ConfigKind& kind : config_kinds()) {
    if (!kind.name.starts_with("timm/")) continue;
    list += list.empty() ? "" : ", ";
    for (const char c : kind.name.substr(std::string_view("timm/").size())) {
      list += c == '*' ? "…" : std::string(1, c);
    }
  }
  return list;
}

/// Sets the kind, the families, and the members that follow from the name. Throws
/// Error(unsupported) for an architecture that is not supported.
const ConfigKind& read_timm_architecture(const std::string& architecture,
                                         std::span<const ConfigKind> own, NeighbourConfig& config) {
  config.kind = architecture;
  const ConfigKind* const kind = timm_kind(architecture, own);
  if (kind == nullptr) {
    const std::string parts = unsupported_kind("architecture", architecture).value_or("");
    throw Error(ErrorKind::unsupported,
                "this timm architecture is not supported" + (parts.empty() ? "" : ": " + parts))
        .about("architecture")
        .expected(timm_patterns())
        .found(architecture)
        .remedy(
            "give an architecture description, or --option ignore=config if it is not of this "
            "file");
  }
  config.families = kind->families;
  for (const auto& [pattern, what] : kind->refused) {
    if (!matches_pattern(pattern, architecture)) continue;
    throw Error(ErrorKind::unsupported,
                "timm's " + architecture + " has " + what + ", which is not supported")
        .about("architecture");
  }
  for (const auto& [pattern, members] : kind->by_name) {
    if (matches_pattern(pattern, architecture)) {
      config.values.insert(members.begin(), members.end());
    }
  }
  return *kind;
}

void take_numbers(const json& list, const char* key, const char* member, NeighbourConfig& config) {
  if (list.is_null()) return;
  std::string text;
  bool numbers = list.is_array() && !list.empty();
  for (const json& element : list) {
    numbers = numbers && element.is_number();
    text += (text.empty() ? "" : ",") + element.dump();
  }
  if (!numbers) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about(key)
        .expected("a list of numbers")
        .found(json_text(list));
  }
  config.values[member] = text;
}

/// Sets `member` to the second name of the pair in `known` whose first is `value`.
void take_name(const json& value, const char* key, const char* member,
               std::span<const std::pair<std::string_view, std::string_view>> known,
               NeighbourConfig& config) {
  if (value.is_null()) return;
  std::string names;
  for (const auto& [theirs, ours] : known) {
    if (value == std::string(theirs)) {
      config.values[member] = ours;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(theirs);
  }
  throw Error(ErrorKind::unsupported, "the value in the configuration is not supported")
      .about(key)
      .expected(names)
      .found(json_text(value))
      .remedy(std::string("--option ") + member + "=… sets another value");
}

void read_timm_preparation(const json& object, NeighbourConfig& config) {
  ConfigReader reader(object, config);
  take_numbers(reader.take_value("mean"), "mean", "input_mean", config);
  take_numbers(reader.take_value("std"), "std", "input_std", config);
  static constexpr std::pair<std::string_view, std::string_view> filters[] = {
      {"bicubic", "bicubic"}, {"bilinear", "bilinear"}};
  take_name(reader.take_value("interpolation"), "interpolation", "resize_filter", filters, config);
  static constexpr std::pair<std::string_view, std::string_view> crops[] = {
      {"center", "shorter_side"}, {"squash", "exact"}};
  config.values["resize_mode"] = "shorter_side";
  take_name(reader.take_value("crop_mode"), "crop_mode", "resize_mode", crops, config);
  const json& size = reader.take_value("input_size");
  if (size.is_array() && size.size() == 3) {
    config.values["channels"] = size[0].dump();
    config.values["image_height"] = size[1].dump();
    config.values["image_width"] = size[2].dump();
    config.facts.insert({"channels", "image_height", "image_width"});
  } else if (!size.is_null()) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about("pretrained_cfg.input_size")
        .expected("channels, height and width")
        .found(json_text(size));
  }
  const json& classes = reader.take_value("num_classes");
  if (classes.is_number_integer()) config.classes = classes.get<std::int64_t>();
  reader.take(config_kind("timm_keys/pretrained_cfg"));
  reader.finish("pretrained_cfg.");
}

/// Reads labels from a list of names, or from an object from class number to name.
void read_label_names(const json& labels, NeighbourConfig& config) {
  json list = json::array();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto found = labels.is_object() ? labels.find(std::to_string(i)) : labels.end();
    const json& label = labels.is_array() ? labels[i] : found == labels.end() ? json() : *found;
    if (!label.is_string()) return;
    list.push_back(label);
  }
  if (!list.empty()) {
    config.values["labels"] = list.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

/// Names the classes of a model that was trained on ImageNet-1k last, as the tag of its weights
/// says: "augreg_in21k_ft_in1k". Names in the configuration itself replace them.
void name_imagenet_classes(const json& prepared, NeighbourConfig& config) {
  const auto tag = prepared.is_object() ? prepared.find("tag") : prepared.end();
  if (config.classes != 1000 || tag == prepared.end() || !tag->is_string()) return;
  const std::string trained = "_" + tag->get<std::string>();
  if (!trained.ends_with("_in1k") && trained.find("_in1k_") == std::string::npos) return;
  config.values["labels"] = json(class_names_of("ImageNet-1k")).dump();
}

void read_pooling(const json& pooling, NeighbourConfig& config) {
  static constexpr std::pair<std::string_view, std::string_view> poolings[] = {
      {"token", "class"}, {"avg", "mean"}, {"map", "attention_pooling"}, {"", "none"}};
  take_name(pooling, "global_pool", "readout", poolings, config);
}

}  // namespace

void read_trained_grid(ConfigReader& reader, NeighbourConfig& config) {
  const bool rotary = config.families.front() != "timm-beit";
  const json& turns = reader.take_value("use_rot_pos_emb");
  if (!turns.is_null() && turns != rotary) {
    throw Error(ErrorKind::unsupported, "the use of rotary positions contradicts the architecture")
        .about("model_args.use_rot_pos_emb")
        .expected(rotary ? "true" : "false")
        .found(json_text(turns));
  }
  const json& trained = reader.take_value("ref_feat_shape");
  if (trained.is_null() || !rotary) return;
  const bool square = trained.is_array() && trained.size() == 2 && trained[0] == trained[1];
  const json& side = square ? trained[0] : trained;
  if (!side.is_number_integer()) {
    throw Error(ErrorKind::unsupported, "the positions were trained on a grid that is not square")
        .about("model_args.ref_feat_shape")
        .expected("a number of patches, or the same number twice")
        .found(json_text(trained));
  }
  config.values["layer.rotary.trained_side"] = side.dump();
}

void read_timm_config(const json& object, NeighbourConfig& config,
                      std::span<const ConfigKind> own_kinds) {
  const auto architecture = object.at("architecture").get<std::string>();
  const ConfigKind& kind = read_timm_architecture(architecture, own_kinds, config);
  ConfigReader reader(object, config);
  const json& prepared = reader.take_value("pretrained_cfg");
  if (prepared.is_object()) read_timm_preparation(prepared, config);
  const json& classes = reader.take_value("num_classes");
  if (classes.is_number_integer()) config.classes = classes.get<std::int64_t>();
  name_imagenet_classes(prepared, config);
  read_label_names(reader.take_value("label_names"), config);
  read_pooling(reader.take_value("global_pool"), config);
  json arguments = reader.take_value("model_args");
  if (arguments.is_object()) {
    // Null selects the default of the architecture.
    std::erase_if(arguments.get_ref<json::object_t&>(),
                  [](const auto& entry) { return entry.second.is_null(); });
    ConfigReader own(arguments, config);
    read_pooling(own.take_value("global_pool"), config);
    own.take(kind);
    for (const ConfigRule rule : kind.rules) rule(own, config);
    own.take(config_kind("timm_keys/model_args"));
    own.finish("model_args.");
  }
  // Without a head, these are the features of a part after the layers, such as SAM's neck.
  if (!kind.has_head) (void)reader.take_value("num_features");
  reader.take(config_kind("timm_keys/config"));
  reader.finish();
  if (!kind.has_head) forget_head(config);
}

}  // namespace attnscope
