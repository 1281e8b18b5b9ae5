#include "app/session/training_presets.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/architecture/class_names.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

namespace {

// Settings added to a mechanism: the identity mapping, and the forms of DAFT windows and hash codes
// that have a gradient.
constexpr std::string_view kIdentity = ",identity=true", kFullKeys = ",full_keys=true",
                           kSigns = ",codes=sign";

/// Settings for images: small enough for two cores to learn the lesson's result in a minute.
const ParameterValues& small_vit() {
  static const ParameterValues values = {
      {"depth", std::int64_t{4}},    {"width", std::int64_t{48}},
      {"steps", std::int64_t{600}},  {"batch", std::int64_t{64}},
      {"warm_up", std::int64_t{30}}, {"test_items", std::int64_t{1000}},
      {"probes", std::int64_t{4}},   {"checkpoints", std::int64_t{12}}};
  return values;
}

const ParameterValues& small_language_model() {
  static const ParameterValues values = {
      {"depth", std::int64_t{4}},        {"width", std::int64_t{64}},
      {"model_heads", std::int64_t{4}},  {"context", std::int64_t{64}},
      {"steps", std::int64_t{2000}},     {"batch", std::int64_t{16}},
      {"test_items", std::int64_t{100}}, {"probes", std::int64_t{4}}};
  return values;
}

PresetVariant variant(ParameterValues recipe, const std::string& mechanism) {
  recipe["mechanism"] = mechanism;
  return {variant_name(recipe), recipe};
}

/// The recipe's error; empty if the variant can be trained.
std::string why_not_trained(const PresetVariant& variant) {
  try {
    ParameterValues recipe = variant.recipe;
    recipe["dataset"] = std::string("any");
    (void)Recipe(recipe);
    return {};
  } catch (const Error& error) {
    return error.in_window();
  }
}

TrainingPreset preset(std::string name, std::string what, const ParameterValues& recipe,
                      std::initializer_list<const char*> mechanisms) {
  TrainingPreset one;
  one.name = std::move(name);
  one.what = std::move(what);
  one.of_texts = recipe.contains("context");
  for (const char* const mechanism : mechanisms) {
    one.variants.push_back(variant(recipe, mechanism));
    if (one.why_not.empty()) one.why_not = why_not_trained(one.variants.back());
  }
  return one;
}

/// The small vision transformer with three heads 16 wide and with one head 48 wide, each with
/// softmax and with adder attention.
TrainingPreset preset_of_head_widths() {
  TrainingPreset one = preset("Head width",
                              "Softmax and adder attention, each with three heads 16 wide and with "
                              "one head 48 wide.",
                              small_vit(), {"softmax", "adder", "softmax", "adder"});
  std::vector<ParameterValues> recipes;
  for (std::size_t i = 0; i < one.variants.size(); ++i) {
    one.variants[i].recipe["model_heads"] = std::int64_t{i < 2 ? 3 : 1};
    recipes.push_back(one.variants[i].recipe);
  }
  const std::vector<std::string> names = variant_names(recipes);
  for (std::size_t i = 0; i < names.size(); ++i) one.variants[i].name = names[i];
  return one;
}

/// Width of a head, d.
std::int64_t head_width_of(const ParameterValues& recipe) {
  const auto whole = [&](const char* key) {
    const auto found = recipe.find(key);
    return std::get<std::int64_t>(
        found != recipe.end() ? found->second
                              : description_of("a recipe", recipe_settings(), key).default_value);
  };
  return whole("width") / std::max<std::int64_t>(whole("model_heads"), 1);
}

}  // namespace

std::vector<TrainingPreset> training_presets() {
  return {preset("The Adder paper",
                 "The same small vision transformer with softmax, with adder attention, and with "
                 "adder attention and the identity mapping.",
                 small_vit(), {"softmax", "adder", "adder,identity=true"}),
          preset_of_head_widths(),
          preset("DAFT",
                 "Softmax, DAFT with a bias for every pair of tokens, and DAFT with window biases.",
                 small_vit(), {"softmax", "daft-full", "daft-conv,full_keys=true"}),
          preset("Hashing", "Softmax and attention between binary codes (EcoFormer).", small_vit(),
                 {"softmax", "hash,codes=sign"}),
          preset("Language", "A small model of characters with softmax and with linear attention.",
                 small_language_model(), {"softmax", "linear"})};
}

std::vector<std::string> trainable_mechanisms() {
  std::vector<std::string> names;
  for (const MechanismEntry& entry : mechanisms()) {
    const std::string name(entry.name);
    std::vector<std::string> ways = {name};
    for (const std::string_view setting : {kIdentity, kFullKeys, kSigns}) {
      const std::string_view parameter = setting.substr(1, setting.find('=') - 1);
      if (find_description(entry.parameters, parameter) == nullptr) continue;
      ways.push_back(name + std::string(setting));
    }
    for (const std::string& way : ways) {
      if (why_not_trained({name, {{"mechanism", way}}}).empty()) names.push_back(way);
    }
  }
  return names;
}

std::string variant_name(const ParameterValues& recipe) {
  const auto text = [&](const char* key, const char* otherwise) {
    const auto found = recipe.find(key);
    return found == recipe.end() ? std::string(otherwise) : to_string(found->second);
  };
  std::string name = text("mechanism", "softmax");
  const auto replace_end = [&name](std::string_view end, const char* by) {
    if (name.ends_with(end)) name.replace(name.size() - end.size(), end.size(), by);
  };
  replace_end(kIdentity, " + I");
  replace_end(kFullKeys, "");
  replace_end(kSigns, " by signs");
  if (text("arithmetic", "multiplicative") == "adder") name += ", adder layers";
  return name;
}

std::vector<std::string> variant_names(const std::vector<ParameterValues>& recipes) {
  std::vector<std::string> names;
  bool differ = false;
  for (const ParameterValues& recipe : recipes) {
    names.push_back(variant_name(recipe));
    differ = differ || head_width_of(recipe) != head_width_of(recipes.front());
  }
  for (std::size_t i = 0; differ && i < names.size(); ++i) {
    names[i] += ", d = " + std::to_string(head_width_of(recipes[i]));
  }
  return names;
}

std::string labels_for(const std::string& data_set) {
  std::string letters;
  for (const char sign : data_set) {
    const auto letter = static_cast<unsigned char>(sign);
    if (std::isalnum(letter) != 0) letters += static_cast<char>(std::tolower(letter));
  }
  if (letters.find("fashionmnist") == std::string::npos) return {};
  return name_list(class_names_of("Fashion-MNIST"), {}, ",");
}

std::filesystem::path fashion_mnist_folder() {
  std::error_code ignored;
  for (const char* const folder : {"/usr/share/datasets/fashion-mnist"}) {
    const std::filesystem::path images =
        std::filesystem::path(folder) / "train-images-idx3-ubyte.gz";
    if (std::filesystem::exists(images, ignored)) return folder;
  }
  return {};
}

}  // namespace attnscope
