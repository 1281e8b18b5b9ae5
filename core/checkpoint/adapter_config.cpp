#include "core/checkpoint/adapter_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Keys that only describe the training, or follow from the adapter's tensors.
constexpr std::array kHarmless = {"auto_mapping",        "corda_config",   "eva_config",
                                  "exclude_modules",     "inference_mode", "layers_pattern",
                                  "layers_to_transform", "loftq_config",   "lora_dropout",
                                  "lora_ga_config",      "megatron_core",  "modules_to_save",
                                  "peft_version",        "revision",       "runtime_config",
                                  "qalora_group_size",  // belongs to use_qalora, which is refused
                                  "target_modules",      "task_type"};

Error refused(const std::string& key, const json& value) {
  constexpr std::size_t longest = 80;
  return Error(ErrorKind::unsupported, "the adapter's setting is not supported")
      .about(key)
      .found(value.dump(-1, ' ', true).substr(0, longest))
      .remedy("merge the adapter into its base: merge_and_unload(), then save_pretrained()");
}

bool is_off(const json& value) {
  return value.is_null() || value == json(false) || (value.is_structured() && value.empty()) ||
         value == json("");
}

double positive(const std::string& key, const json& value) {
  if (!value.is_number() || !(value.get<double>() > 0)) {
    throw Error(ErrorKind::damaged, "is not a number above 0").about(key).found(value.dump());
  }
  return value.get<double>();
}

bool truth(const std::string& key, const json& value) {
  if (value.is_null()) return false;
  if (!value.is_boolean()) {
    throw Error(ErrorKind::damaged, "is neither true nor false").about(key).found(value.dump());
  }
  return value.get<bool>();
}

/// Reads a pattern table. PEFT's keys are regular expressions for the ends of module names; only
/// plain names, optionally anchored by '^', are supported because libraries write no others.
std::map<std::string, double> patterns(const std::string& key, const json& value) {
  std::map<std::string, double> result;
  if (value.is_null()) return result;
  if (!value.is_object()) throw Error(ErrorKind::damaged, "is not an object").about(key);
  for (const auto& [pattern, number] : value.items()) {
    const bool plain = std::all_of(
        pattern.begin() + (pattern.starts_with('^') ? 1 : 0), pattern.end(),
        [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; });
    if (pattern.empty() || !plain) throw refused(key, json(pattern));
    result.emplace(pattern, positive(key, number));
  }
  return result;
}

/// Matches like PEFT: the whole name, or the part after a dot; with '^' only the whole name.
bool fits(std::string_view pattern, std::string_view module) {
  if (pattern.starts_with('^')) return module == pattern.substr(1);
  if (!module.ends_with(pattern)) return false;
  const std::size_t before = module.size() - pattern.size();
  return before == 0 || module[before - 1] == '.';
}

double value_of(const std::map<std::string, double>& patterns, std::string_view module,
                double otherwise) {
  std::optional<double> found;
  for (const auto& [pattern, value] : patterns) {
    if (!fits(pattern, module)) continue;
    if (found && *found != value) {
      throw Error(ErrorKind::unsupported, "several patterns of the adapter fit one module")
          .about(std::string(module));
    }
    found = value;
  }
  return found.value_or(otherwise);
}

/// Refuses initialisations that subtract from the base's weights, because the adapter was then not
/// trained on the published base.
void check_initialisation(const json& value) {
  if (value.is_null() || value.is_boolean()) return;
  for (const char* kept : {"gaussian", "eva", "orthogonal"}) {
    if (value == json(kept)) return;
  }
  throw refused("init_lora_weights", value);
}

void read_key(const std::string& key, const json& value, AdapterConfig& config) {
  if (key == "base_model_name_or_path") {
    if (value.is_string()) config.base = value.get<std::string>();
  } else if (key == "peft_type") {
    if (value != json("LORA")) throw refused(key, value);
  } else if (key == "r") {
    config.rank = positive(key, value);
  } else if (key == "lora_alpha") {
    config.alpha = positive(key, value);
  } else if (key == "use_rslora") {
    config.root_of_rank = truth(key, value);
  } else if (key == "fan_in_fan_out") {
    config.fan_in_fan_out = truth(key, value);
  } else if (key == "rank_pattern") {
    config.ranks = patterns(key, value);
  } else if (key == "alpha_pattern") {
    config.alphas = patterns(key, value);
  } else if (key == "init_lora_weights") {
    check_initialisation(value);
  } else if (key == "bias") {  // trained biases are tensors of the adapter
    if (value != json("none") && value != json("all") && value != json("lora_only")) {
      throw refused(key, value);
    }
  } else if (std::find(kHarmless.begin(), kHarmless.end(), key) == kHarmless.end() &&
             !is_off(value)) {
    throw refused(key, value);
  }
}

}  // namespace

double AdapterConfig::rank_of(std::string_view module) const {
  return value_of(ranks, module, rank);
}

double AdapterConfig::scale_of(std::string_view module) const {
  const double of_module = rank_of(module);
  return value_of(alphas, module, alpha) / (root_of_rank ? std::sqrt(of_module) : of_module);
}

AdapterConfig read_adapter_config(const std::filesystem::path& file) {
  return with_file(file, [&] {
    const json object = read_json_file(file);
    if (!object.is_object()) throw Error(ErrorKind::damaged, "is not a JSON object");
    AdapterConfig config;
    for (const auto& [key, value] : object.items()) read_key(key, value, config);
    for (const char* key : {"peft_type", "r", "lora_alpha", "base_model_name_or_path"}) {
      if (!object.contains(key)) throw Error(ErrorKind::damaged, "the key is missing").about(key);
    }
    return config;
  });
}

}  // namespace attnscope
