// Reads config.json of Hugging Face's transformers for its kind of model.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/architecture/configuration/config_reader.h"
#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// All kinds of model that a model_type names.
const std::vector<ConfigKind>& model_types() {
  static const std::vector<ConfigKind> list = [] {
    std::vector<ConfigKind> kinds = config_kinds();
    std::erase_if(kinds,
                  [](const ConfigKind& kind) { return kind.name.find('/') != std::string::npos; });
    return kinds;
  }();
  return list;
}

/// Kind of this name, first among `own`; null if there is none.
const ConfigKind* find_type(std::string_view name, std::span<const ConfigKind> own) {
  for (const std::span<const ConfigKind> types :
       {own, std::span<const ConfigKind>(model_types())}) {
    const auto found = std::ranges::find(types, name, &ConfigKind::name);
    if (found != types.end()) return &*found;
  }
  return nullptr;
}

/// Reads Fastformer-LM's window per layer.
void read_windows(const json& windows, NeighbourConfig& config) {
  if (!windows.is_array()) return;
  json list = json::array();
  for (const json& window : windows) {
    if (!window.is_number_integer() || window.get<std::int64_t>() < 1) {
      throw Error(ErrorKind::damaged, "a window must hold at least one token")
          .about("window_sizes")
          .expected("whole numbers from 1 on")
          .found(window.dump());
    }
    list.push_back({{"name", "additive"}, {"parameters", {{"causal", true}, {"window", window}}}});
  }
  config.values["layer_mechanisms"] = list.dump();
}

void read_labels(const json& labels, NeighbourConfig& config) {
  json list = json::array();
  for (std::size_t i = 0; labels.is_object() && i < labels.size(); ++i) {
    const auto label = labels.find(std::to_string(i));
    if (label == labels.end() || !label->is_string()) return;
    list.push_back(*label);
  }
  if (list.empty()) return;
  config.values["labels"] = list.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Reads is_causal: false for a decoder whose tokens also see later ones (models that embed texts).
void read_is_causal(ConfigReader& reader, NeighbourConfig& config) {
  if (reader.flag("is_causal", true)) return;
  const auto differences = config.values.find("differences");
  if (config.values.contains("layer.scores.window") ||
      (differences != config.values.end() && differences->second != "[]")) {
    throw Error(ErrorKind::unsupported, "windows of layers that see later tokens are not supported")
        .about("is_causal")
        .expected("true, or layers without windows")
        .found("false");
  }
  config.values["layer.scores.causal"] = "false";
  config.overruling.insert("layer.scores.causal");
}

/// Letters and digits in lower case ("gptneox"), since kinds and classes are spelled differently.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

/// Kind of model of a class in architectures: "LlamaForCausalLM" is a "llama". Null if there is
/// none.
const ConfigKind* type_of_class(const std::string& name) {
  constexpr std::string_view endings[] = {"for",     "model",        "lmhead",      "doubleheads",
                                          "mtmodel", "encodermodel", "visionmodel", "textmodel"};
  const std::string letters = plain(name);
  const ConfigKind* best = nullptr;
  for (const ConfigKind& type : model_types()) {
    const std::string kind = plain(type.name);
    if (!letters.starts_with(kind) || (best && plain(best->name).size() > kind.size())) continue;
    const std::string rest = letters.substr(kind.size());
    const bool ends = std::ranges::any_of(
        endings, [&](std::string_view ending) { return rest.starts_with(ending); });
    if (ends || rest.empty()) best = &type;
  }
  return best;
}

/// The configuration without towers' of a model of `type` whose text's keys are its own (Qwen2-VL).
json rest_of(ConfigReader& reader, const ConfigKind& type) {
  std::vector<std::string> kept;
  for (const auto& [key, kind] : type.towers) kept.push_back(key);
  json rest = reader.take_rest(kept);
  const json& tied = reader.take_value("tie_word_embeddings");
  if (!tied.is_null()) rest["tie_word_embeddings"] = tied;
  return rest;
}

/// Reads one tower of a model of `type` from the configuration under `key`, or from KEY_dict if
/// present. `kinds` is the tower's kind, or its usual kind and "|*" if it may have another.
void read_tower(ConfigReader& reader, const ConfigKind& type, std::string key,
                std::string_view kinds, NeighbourConfig& config) {
  const bool may_lack = key.ends_with('?');
  if (may_lack) key.pop_back();
  const bool any = kinds.ends_with("|*");
  if (any) kinds.remove_suffix(2);
  std::string kind(kinds);
  const json& first = reader.take_value(key);
  const json& instead = reader.take_value(key + "_dict");
  json object = instead.is_object() ? instead : first.is_object() ? first : json::object();
  if (may_lack && !reader.has(key)) object = rest_of(reader, type);
  const json stated = object.value("model_type", json(kind));
  // Early configurations repeat the kind of the whole (Idefics 3).
  const bool other = stated.is_string() && stated != config.kind;
  if (any && other) kind = stated.get<std::string>();
  // NOLINTNEXTLINE(readability-container-size-empty): empty() of a JSON text is false
  if (other && stated != kind && stated != "") {
    throw Error(ErrorKind::unsupported, "the tower has a different type than the model")
        .about(key + ".model_type")
        .expected(kind)
        .found(json_text(stated));
  }
  object["model_type"] = kind;
  NeighbourConfig tower;
  tower.file = config.file;
  read_hugging_face_config(object, tower);
  for (auto& [name, value] : tower.unknown) name = key + "." + name;
  config.families.insert(config.families.end(), tower.families.begin(), tower.families.end());
  config.towers.push_back(std::move(tower));
}

/// Reads `object` as a configuration of `type`; keys may be missing.
void read_keys(const ConfigKind& type, const json& object, NeighbourConfig& config) {
  ConfigReader reader(object, config);
  read_labels(reader.take_value("id2label"), config);
  config.kind = type.name;
  config.families = type.families;
  const bool tied = reader.flag("tie_word_embeddings", false);
  if (reader.has("tie_word_embeddings") && !config.free_head) config.ties_head = tied;
  reader.take(type);
  reader.take(config_kind("transformers/every").keys);
  const json& labels = reader.take_value("num_labels");
  if (labels.is_number_integer()) config.classes = labels.get<std::int64_t>();
  const json& own_code = reader.take_value("auto_map");
  if (own_code.is_object() && !own_code.empty()) config.own_code = json_text(own_code);
  if (!type.has_head) forget_head(config);
  if (!type.towers.empty()) config.families.clear();
  for (const auto& [key, kind] : type.towers) read_tower(reader, type, key, kind, config);
  for (const ConfigRule rule : type.rules) rule(reader, config);
  if (type.local_layers) {
    read_local_layers(reader, config, *type.local_layers);
  } else if (type.rotary) {
    read_rotary(reader, config, *type.rotary);
  }
  read_is_causal(reader, config);
  reader.finish();
}

/// Marks members of `config` that differ from `said`, or that only `config` has, as defaults of the
/// class.
void mark_defaults(const NeighbourConfig& said, NeighbourConfig& config) {
  for (const auto& [member, value] : config.values) {
    const auto found = said.values.find(member);
    if (found == said.values.end() || found->second != value) config.defaults.insert(member);
  }
  for (std::size_t i = 0; i < config.towers.size() && i < said.towers.size(); ++i) {
    mark_defaults(said.towers[i], config.towers[i]);
  }
}

/// Reads `object` as a configuration of `type`, with the defaults of its class for missing keys.
void read_whole_kind(const ConfigKind& type, const json& object, NeighbourConfig& config) {
  NeighbourConfig said = config;
  read_keys(type, with_class_defaults(object, type), config);
  try {
    read_keys(type, object, said);
  } catch (const Error&) {
    return;  // a missing key is required
  }
  mark_defaults(said, config);
}

/// Reads the keys that do not depend on the kind of model; the others are listed as unread.
void read_without_kind(const json& object, NeighbourConfig& config) {
  ConfigReader reader(object, config);
  reader.take(config_kind("transformers/unnamed"));
  read_windows(reader.take_value("window_sizes"), config);
  read_labels(reader.take_value("id2label"), config);
  const json& labels = reader.take_value("num_labels");
  if (labels.is_number_integer()) config.classes = labels.get<std::int64_t>();
  for (const ConfigKey& key : config_kind("transformers/every").keys) {
    if (key.use == KeyUse::harmless) reader.take({&key, 1});
  }
  (void)reader.take_value("tie_word_embeddings");
  reader.finish();
  for (auto& [key, value] : config.unknown) config.unread.push_back(std::move(key));
  config.unknown.clear();
}

/// Configuration read as one kind of model.
struct Reading {
  const ConfigKind* type = nullptr;
  NeighbourConfig said;   ///< settings from given keys
  NeighbourConfig whole;  ///< settings with the defaults of the class

  [[nodiscard]] std::size_t unknown(std::string_view family) const {
    const NeighbourConfig& own = whole.of(family);
    return whole.unknown.size() + (&own == &whole ? 0 : own.unknown.size());
  }
};

/// True for a model of a picture and a text whose keys may be those of its text, and for that text:
/// vision_language_file opens such files by their model type.
bool needs_its_name(const ConfigKind& type) {
  const auto is_apart = [](const auto& tower) { return tower.first.ends_with('?'); };
  return std::ranges::any_of(type.towers, is_apart) ||
         std::ranges::any_of(model_types(), [&](const ConfigKind& whole) {
           return std::ranges::any_of(whole.towers, [&](const auto& tower) {
             return is_apart(tower) && tower.second == type.name;
           });
         });
}

/// Readings as every kind of model of `family`, limited to those that know most of its keys. Empty
/// if there is no such kind. Throws the first kind's error if none can be read.
std::vector<Reading> readings_of(const json& object, const NeighbourConfig& config,
                                 std::string_view family) {
  std::vector<Reading> readings;
  std::optional<Error> fault;
  for (const ConfigKind& type : model_types()) {
    if (needs_its_name(type)) continue;
    NeighbourConfig empty;
    empty.file = config.file;
    empty.free_head = config.free_head;
    Reading reading{&type, empty, empty};
    try {
      read_whole_kind(type, object, reading.whole);
    } catch (const Error& error) {
      if (type.families.front() == family && !fault) fault = error;
      continue;
    }
    if (!reading.whole.allows(family)) continue;
    try {
      read_keys(type, object, reading.said);
    } catch (const Error&) {
      reading.said = reading.whole;
    }
    readings.push_back(std::move(reading));
  }
  if (readings.empty() && fault) throw Error(*fault);
  std::size_t fewest = std::string::npos;
  for (const Reading& each : readings) fewest = std::min(fewest, each.unknown(family));
  std::erase_if(readings, [&](const Reading& each) { return each.unknown(family) > fewest; });
  return readings;
}

/// Value of a member; empty if it is missing or an empty list of differences.
std::string said_of(const NeighbourConfig& config, const std::string& member) {
  const auto found = config.values.find(member);
  return found == config.values.end() || found->second == "[]" ? "" : found->second;
}

[[noreturn]] void refuse_kinds(const std::vector<Reading>& readings, std::string_view family,
                               const std::string& member) {
  std::string kinds, found;
  for (const Reading& each : readings) {
    const std::string value = said_of(each.said.of(family), member);
    kinds += (kinds.empty() ? "" : ", ") + each.type->name;
    found +=
        (found.empty() ? "" : ", ") + (value.empty() ? "none" : value) + " as " + each.type->name;
  }
  throw Error(
      ErrorKind::unsupported,
      "the configuration does not give the model type, on which the meaning of its keys depends")
      .about("model_type")
      .expected("one of " + kinds)
      .found(member + " " + found)
      .remedy("write \"model_type\" into the file");
}

/// Throws Error(unsupported) for a member whose given keys mean different values to different
/// kinds.
void check_agreement(const std::vector<Reading>& readings, std::string_view family) {
  const NeighbourConfig& first = readings.front().said.of(family);
  for (const Reading& each : readings) {
    const NeighbourConfig& other = each.said.of(family);
    for (const auto* const list : {&first.values, &other.values}) {
      for (const auto& [member, value] : *list) {
        if (said_of(first, member) != said_of(other, member)) {
          refuse_kinds(readings, family, member);
        }
      }
    }
  }
}

}  // namespace

void read_hugging_face_config(const json& object, NeighbourConfig& config,
                              std::span<const ConfigKind> own) {
  const json name = object.value("model_type", json());
  const std::string kind = name.is_string() ? name.get<std::string>() : std::string();
  const ConfigKind* type = find_type(kind, own);
  if (!kind.empty() && type == nullptr) {
    const auto parts = unsupported_kind("model_type", kind);
    throw Error(ErrorKind::unsupported,
                "models of this type are not supported" + (parts ? ": " + *parts : ""))
        .about("model_type")
        .expected(name_list(model_types(), &ConfigKind::name))
        .found(kind)
        .remedy(
            "give an architecture description, or --option ignore=config if it is not of this "
            "file");
  }
  const json classes = object.value("architectures", json());
  if (type == nullptr && classes.is_array() && classes.size() == 1 && classes[0].is_string()) {
    type = type_of_class(classes[0].get<std::string>());
    if (type == nullptr) config.class_name = classes[0].get<std::string>();
  }
  if (type != nullptr) {
    read_whole_kind(*type, object, config);
    return;
  }
  config.unnamed = object.dump();
  read_without_kind(object, config);
}

NeighbourConfig as_of_family(const NeighbourConfig& config, std::string_view family) {
  if (config.unnamed.empty()) return config.of(family);
  return with_file(config.file, [&] {
    const std::vector<Reading> readings = readings_of(json::parse(config.unnamed), config, family);
    if (readings.empty()) return config;
    if (!config.class_name.empty()) {
      const std::string& shown = built_in_family(family).name;
      throw Error(ErrorKind::unsupported, "models of this class are not supported")
          .about("architectures")
          .expected("a class of " + shown)
          .found(config.class_name)
          .remedy("--option ignore=config.architectures if its layers are those of " + shown);
    }
    check_agreement(readings, family);
    NeighbourConfig result = readings.front().whole.of(family);
    result.kind.clear();
    for (const Reading& each : readings) {
      const NeighbourConfig& other = each.whole.of(family);
      // Defaults that differ between classes are dropped.
      std::erase_if(result.values, [&](const auto& entry) {
        return result.defaults.contains(entry.first) &&
               said_of(result, entry.first) != said_of(other, entry.first);
      });
      if (result.ties_head != other.ties_head) result.ties_head.reset();
    }
    const auto& outer = readings.front().whole.unknown;
    if (&readings.front().whole != &readings.front().whole.of(family)) {
      result.unknown.insert(result.unknown.end(), outer.begin(), outer.end());
    }
    result.values.insert(config.values.begin(), config.values.end());
    result.facts.insert(config.facts.begin(), config.facts.end());
    return result;
  });
}

}  // namespace attnscope
