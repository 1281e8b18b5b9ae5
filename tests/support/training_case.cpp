#include "tests/support/training_case.h"

#include <algorithm>
#include <string>

#include "tests/support/reference_maps.h"

namespace attnscope {

using nlohmann::json;

namespace {

std::vector<std::string> class_names(const json& one) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < one.at("classes"); ++i) names.push_back(std::to_string(i));
  return names;
}

void set_stages(const json& one, ModelSpec& spec) {
  spec.input.kind = InputKind::stages;
  spec.layers = 0;
  for (const json& stage : one.at("stages")) {
    const std::int64_t layers = stage.at(0), width = stage.at(1), heads = stage.at(2),
                       side = spec.stages.empty() ? spec.input.patch_width : 2;
    spec.stages.push_back({.width = width,
                           .layers = layers,
                           .heads = heads,
                           .mlp_width = 4 * width,
                           .kernel = side,
                           .stride = side});
    spec.layers += layers;
    spec.width = width;
    spec.layer.mlp.width = 4 * width;
    spec.layer.attention.heads = heads;
    spec.layer.attention.head_width = width / heads;
  }
}

/// Sets a window for each layer, and Fastformer-LM's layers and readout.
void set_language_layers(const json& one, ModelSpec& spec) {
  for (const std::int64_t window : one.at("windows")) {
    spec.layer_mechanisms.push_back(spec.mechanism);
    spec.layer_mechanisms.back().parameters["window"] = window;
  }
  if (one.at("form") != "fastformer") return;
  spec.layer.form = LayerForm::fastformer;
  spec.layer.mlp.activation = Activation::gelu;
  spec.readout.final_norm = false;
  spec.readout.logit_scale = 0;
}

/// Texts of several lengths with classes.
Examples labelled_texts(const json& one, std::int64_t count, unsigned seed) {
  Examples made;
  const std::int64_t context = one.at("context"), classes = one.at("classes");
  const Tensor numbers = raw_uniform({count, context}, seed);
  const double vocabulary = one.at("vocabulary");
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> ids;
    for (std::int64_t j = 0; j < 1 + (i * 5 + seed) % context; ++j) {
      const double number = numbers.data()[i * context + j];
      ids.push_back(static_cast<std::int64_t>((number + 2) / 4 * vocabulary));
    }
    made.texts.push_back(std::move(ids));
    made.targets.push_back((i * 7 + seed) % classes);
  }
  return made;
}

}  // namespace

ModelSpec training_spec(const json& one) {
  ModelSpec spec;
  const bool text = one.at("kind") == "text" || one.at("kind") == "texts";
  spec.width = one.at("width");
  spec.layers = one.at("layers");
  spec.layer.attention.heads = one.at("heads");
  spec.layer.norm.eps = one.at("eps");
  spec.layer.mlp.width = one.at("hidden");
  spec.layer.scores.causal = one.at("causal");
  spec.mechanism.name = one.at("mechanism");
  if (spec.mechanism.name == "adder") {
    spec.mechanism.parameters["identity"] = one.at("identity").get<bool>();
  }
  const json parameters = one.contains("parameters") ? one.at("parameters") : json::object();
  for (const auto& [name, value] : parameters.items()) {
    if (value.is_boolean()) {
      spec.mechanism.parameters[name] = value.get<bool>();
    } else if (value.is_string()) {
      spec.mechanism.parameters[name] = value.get<std::string>();
    } else if (value.is_number_float()) {
      spec.mechanism.parameters[name] = value.get<double>();
    } else {
      spec.mechanism.parameters[name] = value.get<std::int64_t>();
    }
  }
  if (one.at("arithmetic") == "adder") spec.arithmetic = Arithmetic::adder;
  spec.multiplicative_layers = one.at("multiplicative_layers").get<std::vector<std::int64_t>>();
  if (text) {
    spec.input.kind = InputKind::tokens;
    spec.input.vocabulary = one.at("vocabulary");
    spec.input.context = one.at("context");
    spec.input.class_tokens = 0;
    spec.input.patch_height = spec.input.patch_width = 0;
    spec.layer.mlp.activation = Activation::gelu_tanh;
    spec.readout.kind = Readout::next_token;
    set_language_layers(one, spec);
    if (one.at("kind") == "texts") {
      spec.readout.kind = Readout::mean_all;
      spec.labels = class_names(one);
    }
    return spec;
  }
  spec.input.channels = 1;
  spec.input.image_height = spec.input.image_width = one.at("side");
  spec.input.patch_height = spec.input.patch_width = one.at("patch");
  spec.input.mean = spec.input.std = {0.5};
  const bool class_token = one.at("class_token");
  spec.input.class_tokens = class_token ? 1 : 0;
  spec.readout.kind = class_token ? Readout::class_token : Readout::mean;
  if (!one.at("positions")) spec.positions.kind = Positions::none;
  spec.labels = class_names(one);
  if (one.at("kind") == "pyramid") set_stages(one, spec);
  return spec;
}

GradientForms gradient_forms(const json& one) {
  const auto form = [&](const char* key) {
    return value_of(difference_gradient_names, one.at(key).get<std::string>(), key);
  };
  const bool learned = one.at("importances");
  return {{form("input_gradient"), form("weight_gradient")}, form("score_gradient"), learned};
}

std::vector<float> training_values(const json& one, const ParameterTable& table) {
  std::vector<const Parameter*> sorted;
  for (const Parameter& parameter : table.list()) sorted.push_back(&parameter);
  std::ranges::sort(sorted, {}, [](const Parameter* parameter) { return parameter->name; });
  std::vector<float> values(static_cast<std::size_t>(table.size()));
  unsigned seed = one.at("seed");
  for (const Parameter* const parameter : sorted) {
    const bool norm = parameter->shape.size() == 1 && parameter->name.ends_with(".weight");
    const Tensor numbers = raw_uniform(parameter->shape, seed++);
    float* const to = parameter->slot.in(values.data());
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
      to[i] = numbers.data()[i] * 0.25F + (norm ? 1.0F : 0.0F);
    }
  }
  return values;
}

Examples training_examples(const json& one, std::int64_t count, unsigned seed) {
  if (one.at("kind") == "texts") return labelled_texts(one, count, seed);
  Examples made;
  if (one.at("kind") == "text") {
    const std::int64_t length = one.at("context").get<std::int64_t>() + 1;
    const Tensor numbers = raw_uniform({count, length}, seed);
    const double vocabulary = one.at("vocabulary");
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<std::int64_t> ids;
      for (std::int64_t j = 0; j < length; ++j) {
        const double number = numbers.data()[i * length + j];
        ids.push_back(static_cast<std::int64_t>((number + 2) / 4 * vocabulary));
      }
      made.targets.insert(made.targets.end(), ids.begin() + 1, ids.end());
      ids.pop_back();
      made.texts.push_back(std::move(ids));
    }
    return made;
  }
  const std::int64_t side = one.at("side"), classes = one.at("classes");
  const Tensor pixels = raw_uniform({count, side * side}, seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const float* const from = pixels.data() + i * side * side;
    made.images.emplace_back(Shape{1, side, side}, std::vector<float>(from, from + side * side));
    made.targets.push_back((i * 7 + seed) % classes);
  }
  return made;
}

Examples chosen_examples(const Examples& all, const std::vector<std::int64_t>& numbers) {
  Examples chosen;
  for (const std::int64_t number : numbers) {
    const auto i = static_cast<std::size_t>(number);
    if (!all.images.empty()) chosen.images.push_back(all.images[i]);
    if (!all.texts.empty()) chosen.texts.push_back(all.texts[i]);
    const auto each = static_cast<std::ptrdiff_t>(all.targets.size()) / all.size();
    const auto first = all.targets.begin() + number * each;
    chosen.targets.insert(chosen.targets.end(), first, first + each);
  }
  return chosen;
}

}  // namespace attnscope
