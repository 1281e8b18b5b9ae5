#include "core/architecture/vision_language/vision_language_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "core/architecture/configuration/config_reader.h"
#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;

enum class ModelPart { tower, language, connector };

/// A prefix of tensors' names and the part that has them; without `stays` the part's own names
/// begin after it.
struct PartPrefix {
  std::string_view prefix;
  ModelPart part;
  bool stays = false;
};

/// A kind of such models.
struct VisionLanguageKind {
  std::vector<std::string> model_types;
  std::string_view name;
  std::vector<PartPrefix> prefixes;
  void (*read)(const json& config, VisionLanguageFile& file);
};

constexpr std::string_view kInner = "model.";

/// The part and the name within it; empty if the tensor belongs to no part.
std::optional<std::pair<ModelPart, std::string>> part_of_name(const VisionLanguageKind& kind,
                                                              std::string_view name) {
  if (name.starts_with(kInner)) name.remove_prefix(kInner.size());
  for (const PartPrefix& one : kind.prefixes) {
    if (!name.starts_with(one.prefix)) continue;
    return std::pair(one.part, std::string(one.stays ? name : name.substr(one.prefix.size())));
  }
  return std::nullopt;
}

bool is_of_config(std::string_view pattern) {
  return pattern == "config" || pattern.starts_with("config.");
}

/// The tensors of each part, and how many each pattern excludes.
struct Division {
  std::array<std::vector<StoredTensor>, 3> parts;
  std::vector<std::pair<std::string, std::int64_t>> excluded;
  std::string connector_prefix;
};

std::string prefixes_in_words(const std::vector<PartPrefix>& prefixes) {
  std::string words;
  for (const PartPrefix& one : prefixes)
    words += (words.empty() ? "" : ", ") + std::string(one.prefix);
  return words;
}

Division divided(const Checkpoint& checkpoint, const VisionLanguageKind& kind,
                 const std::vector<std::string>& ignored) {
  Division result;
  for (const std::string& pattern : ignored) {
    if (!is_of_config(pattern)) result.excluded.emplace_back(pattern, 0);
  }
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const auto place = part_of_name(kind, tensor.name);
    const auto pattern = std::ranges::find_if(result.excluded, [&](const auto& one) {
      return matches_pattern(one.first, tensor.name) ||
             (place && matches_pattern(one.first, place->second));
    });
    if (pattern != result.excluded.end()) {
      ++pattern->second;
      continue;
    }
    if (!place) {
      throw Error(ErrorKind::unsupported, "the tensor belongs to no part of the model")
          .in_file(checkpoint.path())
          .about(tensor.name)
          .expected("a name that begins with one of " + prefixes_in_words(kind.prefixes))
          .remedy("--option ignore=" + tensor.name + " if it does not change the computation");
    }
    std::vector<StoredTensor>& part = result.parts[static_cast<std::size_t>(place->first)];
    part.push_back(tensor);
    part.back().name = place->second;
    if (place->first == ModelPart::connector) {
      result.connector_prefix = tensor.name.substr(0, tensor.name.size() - place->second.size());
    }
  }
  for (const auto& [pattern, count] : result.excluded) {
    if (count > 0) continue;
    throw Error(ErrorKind::usage, "the pattern matches no tensor")
        .in_file(checkpoint.path())
        .about(kIgnoreOption)
        .found(pattern);
  }
  return result;
}

std::int64_t config_number(const json& config, const char* key, std::int64_t usual) {
  const json value = config.value(key, json(usual));
  if (value.is_number_integer()) return value.get<std::int64_t>();
  throw Error(ErrorKind::unsupported, "the value is not one whole number")
      .about(key)
      .found(json_text(value));
}

bool keeps_prefix(const json& config) {
  constexpr const char* key = "vision_feature_select_strategy";
  const json value = config.value(key, json("default"));
  if (value == "full" || value == "default") return value == "full";
  throw Error(ErrorKind::unsupported, "the choice of the tower's tokens is not supported")
      .about(key)
      .expected("default, without the class token, or full")
      .found(json_text(value));
}

Activation activation_of(const json& config) {
  constexpr const char* key = "projector_hidden_act";
  const json value = config.value(key, json("gelu"));
  const std::string name = activation_named(value.is_string() ? value.get<std::string>() : "", key);
  const auto found = std::ranges::find(kEnumNames<Activation>, name);
  return static_cast<Activation>(found - kEnumNames<Activation>.begin());
}

/// The prompt of LLaVA 1.5, whose language model is Vicuna's. Other language models have others.
std::string prompt_of(const json& config) {
  const json text = config.value("text_config", json::object());
  const bool vicuna = text.is_object() && text.value("model_type", json("llama")) == "llama";
  return vicuna ? "USER: <image>\n{text} ASSISTANT:" : "";
}

void read_llava(const json& config, VisionLanguageFile& file) {
  const char* const token =
      config.contains("image_token_id") ? "image_token_id" : "image_token_index";
  file.image_token = config_number(config, token, 32000);
  file.feature_layer = config_number(config, "vision_feature_layer", -2);
  file.keeps_prefix = keeps_prefix(config);
  file.connection.activation = activation_of(config);
  file.connection.layers = {"linear_1", "linear_2"};
  file.prompt = prompt_of(config);
}

/// Idefics 3 (Laurençon et al. 2024) and SmolVLM, which have the same parts.
void read_idefics(const json& config, VisionLanguageFile& file) {
  file.image_token = config_number(config, "image_token_id", 128257);
  file.feature_layer = -1;
  file.final_norm = true;
  file.connection.merge = config_number(config, "scale_factor", 2);
  file.connection.layers = {"modality_projection.proj"};
  file.marks = {.around = "<fake_token_around_image>",
                .tile = "<row_{row}_col_{column}>",
                .whole = "<global-img>"};
}

const std::vector<VisionLanguageKind>& kinds() {
  static const std::vector<VisionLanguageKind> list = {
      // The names of transformers, before and after version 4.52.
      {{"llava"},
       "LLaVA",
       {{"vision_tower.", ModelPart::tower},
        {"language_model.", ModelPart::language},
        {"lm_head.", ModelPart::language, true},
        {"multi_modal_projector.", ModelPart::connector}},
       read_llava},
      {{"idefics3", "smolvlm"},
       "Idefics 3",
       {{"vision_model.", ModelPart::tower, true},
        {"text_model.", ModelPart::language},
        {"lm_head.", ModelPart::language, true},
        {"connector.", ModelPart::connector}},
       read_idefics},
  };
  return list;
}

/// The kind that the configuration names; null for other models.
const VisionLanguageKind* kind_of(const json& config) {
  if (!config.is_object() || !config.value("model_type", json()).is_string()) return nullptr;
  const auto type = config["model_type"].get<std::string>();
  const auto found = std::ranges::find_if(kinds(), [&](const VisionLanguageKind& one) {
    return std::ranges::find(one.model_types, type) != one.model_types.end();
  });
  return found == kinds().end() ? nullptr : &*found;
}

ModelOptions with_prefix(const ModelOptions& options, bool tower) {
  const std::string_view prefix = kTowerOption;
  ModelOptions own;
  for (const auto& [option, value] : options.overrides) {
    const bool of_tower = option.starts_with(prefix);
    if (option == kIgnoreOption || of_tower != tower) continue;
    own.overrides[of_tower ? option.substr(prefix.size()) : option] = value;
  }
  // Tensors are excluded before the parts are read.
  std::string keys;
  for (const std::string& pattern : options.ignored()) {
    if (is_of_config(pattern)) keys += (keys.empty() ? "" : ",") + pattern;
  }
  if (!keys.empty()) own.overrides[kIgnoreOption] = keys;
  return own;
}

}  // namespace

std::optional<VisionLanguageFile> vision_language_file(const Checkpoint& checkpoint,
                                                       const ModelOptions& options) {
  const std::vector<std::string> ignored = options.ignored();
  const std::filesystem::path file = checkpoint.path().parent_path() / "config.json";
  const bool unread = std::ranges::find(ignored, "config") != ignored.end();
  if (unread || checkpoint.key_values() || !options.description.empty() || !is_entry(file)) {
    return std::nullopt;
  }
  constexpr std::size_t most = std::size_t{8} << 20;  // bytes
  const json config = read_json_file(file, most);
  const VisionLanguageKind* const kind = kind_of(config);
  if (!kind) return std::nullopt;
  Division division = divided(checkpoint, *kind, ignored);
  const auto part = [&](ModelPart one) {
    return Checkpoint(checkpoint.path(), checkpoint.format(),
                      std::move(division.parts[static_cast<std::size_t>(one)]),
                      checkpoint.metadata());
  };
  VisionLanguageFile result{.name = std::string(kind->name),
                            .tower = part(ModelPart::tower),
                            .language = part(ModelPart::language),
                            .connector = part(ModelPart::connector),
                            .connector_prefix = std::move(division.connector_prefix),
                            .config = file,
                            .connection = {},
                            .prompt = {},
                            .excluded = std::move(division.excluded)};
  with_file(file, [&] { kind->read(config, result); });
  return result;
}

const Checkpoint* one_part(const VisionLanguageFile& file, const ModelOptions& options) {
  const auto asked = options.overrides.find("input.kind");
  if (asked == options.overrides.end()) return nullptr;
  return asked->second == "patches" ? &file.tower : &file.language;
}

ModelOptions options_of_tower(const ModelOptions& options) { return with_prefix(options, true); }

ModelOptions options_of_language(const ModelOptions& options) {
  return with_prefix(options, false);
}

}  // namespace attnscope
