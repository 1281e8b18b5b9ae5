#include "core/checkpoint/formats/keras_names.h"

#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text/json.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using nlohmann::json;

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

/// Keras's snake case: "MultiHeadAttention" becomes "multi_head_attention", "Conv2D" "conv2d".
std::string snake_case(std::string_view name) {
  std::string words, result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') words += c;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool begins = i + 1 < words.size() && is_upper(words[i]) && is_lower(words[i + 1]);
    const bool after_lower = i > 0 && is_lower(words[i - 1]) && is_upper(words[i]);
    if (i > 0 && (begins || after_lower) && !result.ends_with('_')) result += '_';
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(words[i])));
  }
  return result;
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_at(const json& object, const char* key, bool otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

/// Names of the variables of a layer class, in stored order; empty if the class is unknown.
std::vector<std::string> variables_of(const std::string& class_name, const json& config) {
  if (class_name == "Embedding") return {"embeddings"};
  if (class_name == "Dense" || class_name == "EinsumDense" || class_name.starts_with("Conv")) {
    return {"kernel", "bias"};
  }
  const bool batch = class_name == "BatchNormalization";
  if (!batch && class_name != "LayerNormalization") return {};
  std::vector<std::string> names;
  if (flag_at(config, "scale", true)) names.emplace_back("gamma");
  if (flag_at(config, "center", true)) names.emplace_back("beta");
  if (batch) names.insert(names.end(), {"moving_mean", "moving_variance"});
  return names;
}

/// Replaces "vars/1" by the variable's name.
std::string variable(const std::string& rest, const std::vector<std::string>& names) {
  constexpr std::string_view beginning = "vars/";
  if (!rest.starts_with(beginning)) return rest;
  const auto number = parse_whole(rest.substr(beginning.size()));
  if (!number || *number < 0 || *number >= std::ssize(names)) return rest;
  return names[static_cast<std::size_t>(*number)];
}

/// Name of a part of a layer: a variable, or a variable of one of the sub-layers of attention.
std::string part_of_layer(const std::string& rest, const std::string& class_name,
                          const json& config) {
  constexpr std::array<std::string_view, 4> parts = {"query_dense/", "key_dense/", "value_dense/",
                                                     "output_dense/"};
  for (const std::string_view part : parts) {
    if (class_name.ends_with("Attention") && rest.starts_with(part)) {
      return std::string(part) + variable(rest.substr(part.size()), {"kernel", "bias"});
    }
  }
  return variable(rest, variables_of(class_name, config));
}

/// The layers of a model by group name ("dense_3").
using Groups = std::map<std::string, const json*>;

Groups groups_of(const json& layers) {
  Groups groups;
  std::map<std::string, int> used;
  for (const json& layer : layers) {
    if (!layer.is_object()) return {};
    const std::string name = snake_case(text_at(layer, "class_name"));
    const int number = used[name]++;
    groups[number == 0 ? name : name + "_" + std::to_string(number)] = &layer;
  }
  return groups;
}

class LayerNames {
 public:
  /// `path` within a model's group, with its layers' names; unchanged if they are unknown.
  std::string named(const std::string& path, const json& model) {
    constexpr std::string_view beginning = "layers/";
    const std::size_t slash = path.find('/', beginning.size());
    if (!path.starts_with(beginning) || slash == std::string::npos) return path;
    const Groups& groups = groups_in(model);
    const auto found = groups.find(path.substr(beginning.size(), slash - beginning.size()));
    if (found == groups.end()) return path;
    const json& layer = *found->second;
    const auto own = layer.find("config");
    const bool told = own != layer.end() && own->is_object();
    const std::string name = told ? text_at(*own, "name") : std::string();
    if (name.empty()) return path;
    const std::string rest = path.substr(slash + 1), inside = named(rest, layer);
    return name + "/" +
           (inside == rest ? part_of_layer(rest, text_at(layer, "class_name"), *own) : inside);
  }

 private:
  const Groups& groups_in(const json& model) {
    const auto [known, is_new] = of_models_.try_emplace(&model);
    if (!is_new) return known->second;
    const auto config = model.find("config");
    if (config == model.end() || !config->is_object()) return known->second;
    const auto layers = config->find("layers");
    if (layers != config->end() && layers->is_array()) known->second = groups_of(*layers);
    return known->second;
  }

  std::map<const json*, Groups> of_models_;
};

}  // namespace

std::vector<std::string> keras_names(const std::vector<std::string>& paths,
                                     std::string_view config) {
  const json model = parse_json_or_null(config);
  if (!model.is_object()) return paths;
  std::vector<std::string> names;
  names.reserve(paths.size());
  LayerNames layers;
  for (const std::string& path : paths) names.push_back(layers.named(path, model));
  const std::set<std::string> different(names.begin(), names.end());
  return different.size() == names.size() ? names : paths;
}

}  // namespace attnscope
