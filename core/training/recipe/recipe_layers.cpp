#include "core/training/recipe/recipe_layers.h"

#include <string>
#include <vector>

#include "core/text/number_text.h"
#include "core/training/recipe/recipe_choices.h"
#include "core/training/recipe/recipe_values.h"

namespace attnscope {

namespace {

bool is_fastformer(const TypedValues& read) {
  return read.choice("layer_form", layer_form_names) == LayerForm::fastformer;
}

/// The windows of a text such as "4,8,0"; empty for "".
std::vector<std::int64_t> windows_in(const TypedValues& read) {
  constexpr std::int64_t kMost = 65536;
  std::vector<std::int64_t> windows;
  for (const std::string& part : split_at_commas(read.text("windows"))) {
    const std::int64_t window = parse_whole(part).value_or(-1);
    if (window < 0 || window > kMost) {
      throw bad_value("windows", "0 to " + std::to_string(kMost) + " tokens for each layer", part);
    }
    windows.push_back(window);
  }
  return windows;
}

void check_windows(const TypedValues& read, const MechanismChoice& mechanism) {
  const std::string& windows = read.text("windows");
  if (windows.empty()) return;
  const std::int64_t depth = read.whole("depth");
  if (std::ssize(windows_in(read)) != depth) {
    throw bad_value("windows", "one for each of the " + std::to_string(depth) + " layers", windows);
  }
  const TypedValues parameters(mechanism.parameters);
  const bool causal = parameters.has("causal") && parameters.flag("causal");
  if (mechanism.name != "additive" || !causal) {
    throw bad_value("mechanism", "additive,causal=true with windows", read.text("mechanism"));
  }
  if (parameters.has("window") && parameters.whole("window") > 0) {
    throw bad_value("mechanism", "without a window of its own with windows",
                    read.text("mechanism"));
  }
}

}  // namespace

void check_layers(const TypedValues& read, const MechanismChoice& mechanism) {
  check_windows(read, mechanism);
  if (!is_fastformer(read)) return;
  const auto refuse_unless = [&](bool good, const char* key, const char* expected) {
    if (good) return;
    throw bad_value(key, std::string(expected) + " with layer_form=fastformer", read.text(key));
  };
  refuse_unless(mechanism.name == "additive", "mechanism", "additive");
  refuse_unless(read.is("arithmetic", "multiplicative"), "arithmetic", "multiplicative");
}

void refuse_language_layers(const TypedValues& read) {
  if (is_fastformer(read)) {
    throw bad_value("layer_form", "transformer for images and texts with classes", "fastformer");
  }
  if (!read.text("windows").empty()) {
    throw bad_value("windows", "none for images and texts with classes", read.text("windows"));
  }
}

void set_language_layers(const TypedValues& read, ModelSpec& spec) {
  const auto with_window = [&](std::int64_t window) {
    MechanismChoice one = spec.mechanism;
    one.parameters["window"] = window;
    return one;
  };
  for (const std::int64_t window : windows_in(read)) {
    spec.layer_mechanisms.push_back(with_window(window));
  }
  // Each layer has its own window, so that the model's choice has none.
  if (!spec.layer_mechanisms.empty()) spec.mechanism = with_window(-1);
  if (!is_fastformer(read)) return;
  spec.layer.form = LayerForm::fastformer;
  spec.layer.mlp.activation = Activation::gelu;
  spec.readout.final_norm = false;
  spec.readout.logit_scale = 0;
}

}  // namespace attnscope
