#include "core/architecture/vision_language/vision_language_file.h"

#include <algorithm>
#include <array>
#include <cmath>
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
  std::array<std::map<std::string, std::string>, 3> names;  // in the file, by those in the part
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
    result.names[static_cast<std::size_t>(place->first)][place->second] = tensor.name;
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

double config_real(const json& config, const char* key, double usual) {
  const json value = config.value(key, json(usual));
  if (value.is_number()) return value.get<double>();
  throw Error(ErrorKind::unsupported, "the value is not a number")
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

/// The sizes under image_grid_pinpoints, [[height, width], …].
std::vector<std::pair<std::int64_t, std::int64_t>> sizes_of(const json& config) {
  constexpr const char* key = "image_grid_pinpoints";
  constexpr std::int64_t most = 1 << 14;
  const json list = config.value(key, json());
  const auto is_length = [](const json& one) {
    return one.is_number_unsigned() && one > 0 && one <= most;
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (const json& size : list) {
    if (!size.is_array() || size.size() != 2 || !std::ranges::all_of(size, is_length)) break;
    sizes.emplace_back(size[0].get<std::int64_t>(), size[1].get<std::int64_t>());
  }
  if (list.is_array() && !sizes.empty() && sizes.size() == list.size()) return sizes;
  throw Error(ErrorKind::unsupported, "the configuration does not give the sizes of a picture")
      .about(key)
      .expected("[[height, width], …] in pixels")
      .found(json_text(list));
}

void read_llava_next(const json& config, VisionLanguageFile& file) {
  read_llava(config, file);
  file.prompt.clear();
  file.sizes = sizes_of(config);
  file.row_end = "image_newline";
  // The processor cuts, and the model puts together.
  const std::filesystem::path processor = file.config.parent_path() / "preprocessor_config.json";
  if (!is_entry(processor)) return;
  const json own = read_json_file(processor, std::size_t{8} << 20);
  if (!own.is_object() || !own.contains("image_grid_pinpoints") || sizes_of(own) == file.sizes) {
    return;
  }
  throw Error(ErrorKind::unsupported, "the processor cuts pictures to other sizes than the model's")
      .about("image_grid_pinpoints")
      .expected(json_text(own["image_grid_pinpoints"]))
      .found(json_text(config["image_grid_pinpoints"]));
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

/// The settings of the tower; an empty object if there are none.
json tower_config(const json& config) {
  json tower = config.value("vision_config", json::object());
  return tower.is_object() ? tower : json::object();
}

/// The names of transformers before version 4.52 have the language model's own.
std::vector<PartPrefix> qwen_prefixes() {
  return {{"visual.merger.", ModelPart::connector, true},
          {"visual.deepstack_merger_list.", ModelPart::connector, true},
          {"visual.", ModelPart::tower},
          {"language_model.", ModelPart::language},
          {"lm_head.", ModelPart::language, true},
          {"embed_tokens.", ModelPart::language, true},
          {"layers.", ModelPart::language, true},
          {"norm.", ModelPart::language, true}};
}

/// Squares of patches, each with a norm and two layers, of the tensors that begin with `prefix`.
ConnectorSpec qwen_connector(const json& config, const std::string& prefix, const char* norm,
                             std::vector<std::string> layers) {
  ConnectorSpec spec;
  spec.merge = config_number(tower_config(config), "spatial_merge_size", 2);
  spec.norm = prefix + norm;
  for (const std::string& layer : layers) spec.layers.push_back(prefix + layer);
  return spec;
}

void read_qwen_tokens(const json& config, VisionLanguageFile& file) {
  file.image_token = config_number(config, "image_token_id", 151655);
  file.ends = {config_number(config, "vision_start_token_id", 151652),
               config_number(config, "vision_end_token_id", 151653)};
}

void read_qwen(const json& config, VisionLanguageFile& file) {
  read_qwen_tokens(config, file);
  file.feature_layer = -1;
  file.connection = qwen_connector(config, "visual.merger.", "ln_q", {"mlp.0", "mlp.2"});
  if (config.value("model_type", json()) == "qwen2_5_vl") {
    file.connection.norm_spec.kind = Norm::rms;
  }
}

void read_qwen3(const json& config, VisionLanguageFile& file) {
  const std::vector<std::string> layers = {"linear_fc1", "linear_fc2"};
  read_qwen_tokens(config, file);
  file.feature_layer = -1;
  file.connection = qwen_connector(config, "visual.merger.", "norm", layers);
  constexpr const char* key = "deepstack_visual_indexes";
  const json deeper = tower_config(config).value(key, json::array({8, 16, 24}));
  if (!deeper.is_array() || deeper.size() > 64) {
    throw Error(ErrorKind::unsupported, "the value is not a list of layers")
        .about(key)
        .found(json_text(deeper));
  }
  for (const json& layer : deeper) {
    if (!layer.is_number_unsigned() || layer > 4096) {
      throw Error(ErrorKind::unsupported, "the value is not a layer")
          .about(key)
          .found(json_text(layer));
    }
    const std::string prefix =
        "visual.deepstack_merger_list." + std::to_string(file.deeper.size()) + ".";
    ConnectorSpec spec = qwen_connector(config, prefix, "norm", layers);
    spec.norm_of_squares = true;
    file.deeper.emplace_back(layer.get<std::int64_t>(), std::move(spec));
  }
}

void read_gemma3(const json& config, VisionLanguageFile& file) {
  file.image_token = config_number(config, "image_token_index", 262144);
  file.around = {config_number(config, "boi_token_index", 255999),
                 config_number(config, "eoi_token_index", 256000)};
  file.feature_layer = -1;
  file.final_norm = true;
  const json tower = tower_config(config);
  const std::int64_t tokens = config_number(config, "mm_tokens_per_image", 256);
  const std::int64_t patches = config_number(tower, "image_size", 224) /
                               std::max<std::int64_t>(config_number(tower, "patch_size", 16), 1);
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(tokens)));
  if (tokens < 1 || side * side != tokens || patches % side != 0) {
    throw Error(ErrorKind::unsupported, "the picture's tokens do not form squares of patches")
        .about("mm_tokens_per_image")
        .expected("the square of a divisor of " + std::to_string(patches))
        .found(std::to_string(tokens));
  }
  file.connection.merge = patches / side;
  file.connection.means = true;
  file.connection.norm = "mm_soft_emb_norm";
  file.connection.norm_of_squares = true;
  file.connection.norm_spec = {.kind = Norm::rms_plus_one,
                               .eps = config_real(tower, "layer_norm_eps", 1e-6)};
  file.connection.layers = {"mm_input_projection_weight"};
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
      {{"llava_next"},
       "LLaVA-NeXT",
       {{"vision_tower.", ModelPart::tower},
        {"language_model.", ModelPart::language},
        {"lm_head.", ModelPart::language, true},
        {"image_newline", ModelPart::connector, true},
        {"multi_modal_projector.", ModelPart::connector}},
       read_llava_next},
      {{"idefics3", "smolvlm"},
       "Idefics 3",
       {{"vision_model.", ModelPart::tower, true},
        {"text_model.", ModelPart::language},
        {"lm_head.", ModelPart::language, true},
        {"connector.", ModelPart::connector}},
       read_idefics},
      {{"qwen2_vl"}, "Qwen2-VL", qwen_prefixes(), read_qwen},
      {{"qwen2_5_vl"}, "Qwen2.5-VL", qwen_prefixes(), read_qwen},
      {{"qwen3_vl", "qwen3_vl_moe"}, "Qwen3-VL", qwen_prefixes(), read_qwen3},
      {{"gemma3"},
       "Gemma 3",
       {{"vision_tower.", ModelPart::tower},
        {"language_model.", ModelPart::language},
        {"lm_head.", ModelPart::language, true},
        {"multi_modal_projector.", ModelPart::connector}},
       read_gemma3},
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

/// The options of the tower, which have a prefix, or the others.
ModelOptions with_prefix(const ModelOptions& options, bool tower) {
  const std::string_view prefix = kTowerOption;
  ModelOptions own = options_of_one_part(options);
  const std::map<std::string, std::string> all = std::move(own.overrides);
  own.overrides.clear();
  for (const auto& [option, value] : all) {
    const bool of_tower = option.starts_with(prefix);
    if (of_tower != tower && option != kIgnoreOption) continue;
    own.overrides[of_tower ? option.substr(prefix.size()) : option] = value;
  }
  return own;
}

}  // namespace

ModelOptions options_of_one_part(const ModelOptions& options) {
  ModelOptions own = options;
  own.overrides.erase(kIgnoreOption);
  std::string keys;
  for (const std::string& pattern : options.ignored()) {
    if (is_of_config(pattern)) keys += (keys.empty() ? "" : ",") + pattern;
  }
  if (!keys.empty()) own.overrides[kIgnoreOption] = keys;
  return own;
}

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
                            .tower_names = std::move(division.names[0]),
                            .language_names = std::move(division.names[1]),
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
