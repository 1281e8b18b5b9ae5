#include "core/training/recipe/recipe.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/class_names.h"
#include "core/architecture/model_spec.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/parameters/typed_values.h"
#include "core/text/json.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The parts of a text such as "2x24x2,4x48x3"; empty for "".
std::vector<std::string> split_at(char separator, const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}
std::vector<std::string> split_at_commas(const std::string& text) { return split_at(',', text); }

/// The error for a value that another key does not allow.
Error bad_value(const char* key, const std::string& expected, const std::string& found) {
  return Error(ErrorKind::usage, "the recipe's values do not go together")
      .about(key)
      .expected(expected)
      .found(found);
}
Error bad_value(const char* key, const std::string& expected, std::int64_t found) {
  return bad_value(key, expected, std::to_string(found));
}

// ---- layers of language models: their form, and a window for each ----

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

/// Throws Error(usage), naming key, value and range, if `layer_form` or `windows` does not fit the
/// other values, including `mechanism`.
void check_language_layers(const TypedValues& read, const MechanismChoice& mechanism) {
  check_windows(read, mechanism);
  if (!is_fastformer(read)) return;
  const auto refuse_unless = [&](bool good, const char* key, const char* expected) {
    if (good) return;
    throw bad_value(key, std::string(expected) + " with layer_form=fastformer", read.text(key));
  };
  refuse_unless(mechanism.name == "additive", "mechanism", "additive");
  refuse_unless(read.is("arithmetic", "multiplicative"), "arithmetic", "multiplicative");
}

/// Throws Error(usage) if a recipe for images, or for texts with classes, sets `layer_form` or
/// `windows`.
void refuse_language_layers(const TypedValues& read) {
  if (is_fastformer(read)) {
    throw bad_value("layer_form", "transformer for images and texts with classes", "fastformer");
  }
  if (!read.text("windows").empty()) {
    throw bad_value("windows", "none for images and texts with classes", read.text("windows"));
  }
}

/// Sets the layers of a causal language model. Fastformer's layers come with the read-out of
/// Fastformer-LM: no norm after the last layer, and logits multiplied by 1/√width.
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

// ---- every recipe ----

/// Parses a mechanism such as "adder,identity=true".
MechanismChoice parsed_mechanism(const std::string& text) {
  const std::vector<std::string> parts = split_at_commas(text);
  MechanismChoice choice{parts.empty() ? "" : parts.front(), {}};
  const MechanismEntry& entry = find_mechanism(choice.name);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string key = parts[i].substr(0, equals);
    const ParameterDescription& description = description_of(choice.name, entry.parameters, key);
    const std::string value = equals == std::string::npos ? "" : parts[i].substr(equals + 1);
    choice.parameters[key] = parse_parameter(description, value);
  }
  return choice;
}

/// The layers listed in a text such as "0,2-3"; empty for an empty text.
std::vector<std::int64_t> layers_in(const TypedValues& read) {
  const std::string& text = read.text("multiplicative_layers");
  if (text.empty()) return {};
  const ParameterDescription one = setting::indices("multiplicative_layers", "0", "layers");
  const ParameterValues values{{one.name, parse_parameter(one, text)}};
  return TypedValues(values).indices(one.name, read.whole("depth"));
}

/// The stages of a text such as "2x24x2,4x48x4": patches first, then merged ones. Empty for "".
std::vector<PyramidStage> stages_in(const TypedValues& read) {
  std::vector<PyramidStage> stages;
  for (const std::string& part : split_at_commas(read.text("stages"))) {
    std::vector<std::int64_t> numbers;
    for (const std::string& number : split_at('x', part)) {
      numbers.push_back(parse_whole(number).value_or(0));
    }
    const bool fits = numbers.size() == 3 && std::ranges::min(numbers) > 0 &&
                      std::ranges::max(numbers) <= 16384 && numbers[1] % numbers[2] == 0;
    if (!fits) {
      throw bad_value("stages", "DEPTHxWIDTHxHEADS, the heads a divisor of the width: 2x48x3",
                      part);
    }
    const std::int64_t side = stages.empty() ? read.whole("patch") : 2;
    stages.push_back({.width = numbers[1],
                      .layers = numbers[0],
                      .heads = numbers[2],
                      .mlp_width = 4 * numbers[1],
                      .kernel = side,
                      .stride = side});
  }
  return stages;
}

/// Refuses values that a pyramid does not support, or that its stages already determine.
void check_pyramid(const TypedValues& read) {
  if (stages_in(read).empty()) return;
  const auto refuse_unless = [&](bool good, const char* key, const char* expected,
                                 const std::string& found) {
    if (!good) throw bad_value(key, std::string(expected) + " with stages", found);
  };
  refuse_unless(read.is("readout", "mean"), "readout", "mean", read.text("readout"));
  refuse_unless(read.is("arithmetic", "multiplicative"), "arithmetic", "multiplicative",
                read.text("arithmetic"));
  refuse_unless(read.whole("mlp_width") == 0, "mlp_width", "0, four times each width,",
                std::to_string(read.whole("mlp_width")));
  refuse_unless(read.whole("coarse_patch") == 0, "coarse_patch", "0",
                std::to_string(read.whole("coarse_patch")));
}

void check_coarse_patches(const TypedValues& read) {
  const std::int64_t patch = read.whole("patch"), coarse = read.whole("coarse_patch"),
                     first = read.whole("coarse_steps"), steps = read.whole("steps");
  if (coarse == 0) {
    if (first > 0) throw bad_value("coarse_steps", "0 without coarse_patch", first);
    return;
  }
  if (coarse <= patch || coarse % patch != 0) {
    throw bad_value("coarse_patch", "a multiple of patch, " + std::to_string(patch), coarse);
  }
  if (first == 0 || first >= steps) {
    throw bad_value("coarse_steps", "1 to " + std::to_string(steps - 1) + ", with coarse_patch",
                    first);
  }
}

void check_parts_without_file(const Recipe& recipe) {
  constexpr std::string_view kParts[] = {"positions", "class_token", "queries", "keys", "head"};
  for (const std::string& part : recipe.from_without()) {
    if (std::ranges::find(kParts, part) == std::end(kParts)) {
      throw bad_value("from_without", name_list(kParts), part);
    }
    if (recipe.from().empty()) throw bad_value("from_without", "none without from", part);
  }
}

/// Throws Error(usage) if the weights of a mechanism without a map of them are to be left out.
void check_attention_dropout(const TypedValues& read, const MechanismChoice& mechanism) {
  if (read.number("attention_dropout") == 0) return;
  std::vector<std::string_view> names;
  for (const TrainedAttentionEntry& one : trained_attentions()) {
    if (one.has_weights) names.push_back(one.name);
  }
  if (std::ranges::find(names, mechanism.name) != names.end()) return;
  throw Error(ErrorKind::usage, "dropout of attention weights needs a mechanism that computes them")
      .about("attention_dropout")
      .expected(name_list(names) + ", or attention_dropout=0")
      .found(mechanism.name);
}

/// Refuses regularisation that has no meaning with the other values, including `mechanism`.
void check_regularisation(const TypedValues& read, const MechanismChoice& mechanism) {
  const auto has_window = [&] {
    const ParameterValues parameters = make_mechanism(mechanism)->choice().parameters;
    return parameters.contains("conv_heads");
  };
  if (read.number("bias_entropy") > 0 && !has_window()) {
    throw bad_value("bias_entropy", "0 without daft-conv, daft-local or daft-one-hot",
                    exact(read.number("bias_entropy")));
  }
  if (read.flag("gumbel_noise") && mechanism.name != "daft-one-hot") {
    throw bad_value("gumbel_noise", "false without daft-one-hot", "true");
  }
  const bool mixes = read.number("mixup") > 0 || read.number("cutmix") > 0;
  if (mixes && read.whole("batch") % 2 != 0) {
    throw bad_value("batch", "an even number with mixup and cutmix", read.whole("batch"));
  }
  if (read.whole("repeated_augmentation") > read.whole("batch")) {
    throw bad_value("repeated_augmentation",
                    "at most the batch, " + std::to_string(read.whole("batch")),
                    read.whole("repeated_augmentation"));
  }
  if (read.number("drop_path") == 0) return;
  if (is_fastformer(read)) {
    throw bad_value("drop_path", "0 with layer_form=fastformer", exact(read.number("drop_path")));
  }
  if (read.text("stages").empty() && read.whole("depth") < 2) {
    throw bad_value("drop_path", "0 with one layer", exact(read.number("drop_path")));
  }
}

/// Throws Error(usage) if a recipe for texts has settings of images that would have no effect.
void refuse_settings_of_images(const TypedValues& read) {
  if (!read.is("positions", "learned")) {
    throw bad_value("positions", "learned for texts", read.text("positions"));
  }
  for (const char* const key : {"mixup", "cutmix", "random_erasing"}) {
    if (read.number(key) > 0) throw bad_value(key, "0 for texts", exact(read.number(key)));
  }
  const std::int64_t operations = read.whole("random_augment"),
                     repeats = read.whole("repeated_augmentation");
  if (operations > 0) throw bad_value("random_augment", "0 for texts", operations);
  if (repeats > 1) throw bad_value("repeated_augmentation", "1 for texts", repeats);
}

}  // namespace

Recipe::Recipe(const ParameterValues& given)
    : values_(complete_values("a recipe", recipe_settings(), given)) {
  const TypedValues read(values_);
  if (read.text("dataset").empty()) {
    throw Error(ErrorKind::usage, "a recipe needs a data set").about("dataset");
  }
  const std::int64_t heads = read.whole("model_heads"), width = read.whole("width");
  if (width % heads != 0) {
    throw bad_value("model_heads", "a divisor of the width " + std::to_string(width), heads);
  }
  check_coarse_patches(read);
  check_pyramid(read);
  check_language_layers(read, mechanism());
  const std::int64_t coarse = read.whole("coarse_steps"), fine = read.whole("steps") - coarse,
                     fewest = coarse > 0 ? std::min(coarse, fine) : fine;
  if (read.whole("warm_up") > fewest) {
    throw bad_value("warm_up",
                    "at most the steps" +
                        std::string(coarse > 0 ? " on coarse and on fine patches" : "") + ", " +
                        std::to_string(fewest),
                    read.whole("warm_up"));
  }
  if (read.flag("learnt_importances") && mechanism().name != "additive") {
    throw bad_value("learnt_importances", "false without additive attention", "true");
  }
  if (has_learned_codes() && code_steps().empty() && from().empty()) {
    throw bad_value("code_updates", "1 or more, or a model with codes to begin from", 0);
  }
  if (has_learned_codes() && average_decay() > 0) {
    throw bad_value("average_decay", "0 with learned codes, which have no average",
                    exact(average_decay()));
  }
  check_parts_without_file(*this);
  check_attention_dropout(read, mechanism());
  check_regularisation(read, mechanism());
  (void)layers_in(read);
  (void)make_trained_attention({.mechanism = mechanism()});
}

Recipe Recipe::from_json(std::string_view text) { return Recipe(part_from_json(text)); }

ParameterValues Recipe::part_from_json(std::string_view text) {
  if (!parse_json(text).is_object()) {
    throw Error(ErrorKind::damaged, "a recipe is a JSON object {\"dataset\": …}");
  }
  return complete_values("a recipe", recipe_settings(), parameters_from_json(text));
}

std::string Recipe::to_json() const {
  const auto values = nlohmann::json::parse(attnscope::to_json(values_));
  nlohmann::ordered_json ordered;
  for (const ParameterDescription& one : recipe_settings()) ordered[one.name] = values[one.name];
  return ordered.dump(2) + "\n";
}

MechanismChoice Recipe::mechanism() const {
  return parsed_mechanism(TypedValues(values_).text("mechanism"));
}

DataSettings Recipe::data() const {
  const TypedValues read(values_);
  std::vector<std::string> labels = class_names_of(read.text("labels"));
  if (labels.empty()) labels = split_at_commas(read.text("labels"));
  return {.dataset = read.text("dataset"),
          .test_dataset = read.text("test_dataset"),
          .items = read.whole("items"),
          .test_items = read.whole("test_items"),
          .labels = std::move(labels),
          .context = read.whole("context"),
          .shift = read.whole("shift"),
          .flip = read.flag("flip"),
          .crop = read.number("crop"),
          .random_augment = {read.whole("random_augment"), read.whole("random_augment_magnitude")},
          .erasing = {read.number("random_erasing"),
                      read.choice("random_erasing_fill", erased_fill_names)},
          .mixing = {read.number("mixup"), read.number("cutmix")},
          .repeats = read.whole("repeated_augmentation"),
          .batch = read.whole("batch"),
          .seed = static_cast<std::uint64_t>(read.whole("seed"))};
}

ModelSpec Recipe::model(ExampleKind kind) const {
  const TypedValues read(values_);
  if (kind != ExampleKind::chunks) refuse_language_layers(read);
  if (kind != ExampleKind::images) refuse_settings_of_images(read);
  ModelSpec spec;
  spec.width = read.whole("width");
  spec.layers = read.whole("depth");
  spec.layer.attention.heads = read.whole("model_heads");
  const std::int64_t hidden = read.whole("mlp_width");
  spec.layer.mlp.width = hidden > 0 ? hidden : 4 * spec.width;
  spec.mechanism = mechanism();
  spec.arithmetic = read.choice("arithmetic", arithmetic_names);
  spec.multiplicative_layers = layers_in(read);
  if (kind != ExampleKind::images) {
    spec.input.kind = InputKind::tokens;
    spec.input.width = spec.width;
    spec.input.context = read.whole("context");
    spec.input.patch_height = spec.input.patch_width = 0;
    spec.input.class_tokens = 0;
    spec.layer.norm.eps = 1e-5;
    spec.layer.mlp.activation = Activation::gelu_tanh;
    spec.layer.scores.causal = kind == ExampleKind::chunks;
    spec.readout.kind = spec.layer.scores.causal ? Readout::next_token : Readout::mean_all;
    if (kind == ExampleKind::chunks) set_language_layers(read, spec);
    return spec;
  }
  spec.input.patch_height = spec.input.patch_width = read.whole("patch");
  const bool mean = read.choice("readout", image_readout_names) == ImageReadout::mean;
  if (!mean && find_mechanism(spec.mechanism.name).sequential) {
    throw bad_value("readout",
                    "mean with " + spec.mechanism.name + ", whose class token sees only itself",
                    "class");
  }
  spec.input.class_tokens = mean ? 0 : 1;
  spec.readout.kind = mean ? Readout::mean : Readout::class_token;
  spec.positions.kind = read.choice("positions", image_position_names);
  spec.stages = stages_in(read);
  if (!spec.stages.empty()) {
    const PyramidStage& last = spec.stages.back();
    spec.input.kind = InputKind::stages;
    spec.positions.kind = Positions::none;
    spec.layers = 0;
    for (const PyramidStage& stage : spec.stages) spec.layers += stage.layers;
    spec.width = last.width;
    spec.layer.mlp.width = last.mlp_width;
    spec.layer.attention.heads = last.heads;
    spec.layer.attention.head_width = last.width / last.heads;
  }
  return spec;
}

ModelSpec Recipe::coarse_model(ModelSpec fine) const {
  const TypedValues read(values_);
  const std::int64_t patch = read.whole("patch"), coarse = read.whole("coarse_patch");
  if (fine.reads_texts()) throw bad_value("coarse_patch", "0: a text has no patches", coarse);
  fine.input.patch_height = fine.input.patch_width = coarse;
  const ParameterValues parameters = make_mechanism(fine.mechanism)->choice().parameters;
  const TypedValues mechanism(parameters);
  const bool window = mechanism.has("conv_heads");
  if (window && parameters.at("dimensions") != ParameterValue(std::int64_t{1})) {
    const std::int64_t half = mechanism.whole("kernel") * patch / coarse / 2;
    fine.mechanism.parameters["kernel"] = 2 * half + 1;
  }
  return fine;
}

GradientForms Recipe::gradient_forms() const {
  const TypedValues read(values_);
  return {{read.choice("input_gradient", difference_gradient_names),
           read.choice("weight_gradient", difference_gradient_names)},
          read.choice("score_gradient", difference_gradient_names),
          read.flag("learnt_importances")};
}

Regularisation Recipe::regularisation() const {
  const TypedValues read(values_);
  return {.dropout = read.number("dropout"),
          .attention_dropout = read.number("attention_dropout"),
          .drop_path = read.number("drop_path"),
          .label_smoothing = read.number("label_smoothing"),
          .gumbel_noise = read.flag("gumbel_noise")};
}

double Recipe::bias_entropy() const { return TypedValues(values_).number("bias_entropy"); }

double Recipe::average_decay() const { return TypedValues(values_).number("average_decay"); }

OptimiserSettings Recipe::optimiser() const {
  const TypedValues read(values_);
  return {.kind = read.choice("optimiser", optimiser_kind_names),
          .beta1 = read.number("beta1"),
          .beta2 = read.number("beta2"),
          .momentum = read.number("momentum"),
          .weight_decay = read.number("weight_decay"),
          .clip = read.number("clip"),
          .rescales_adder = read.flag("adder_rescaling")};
}

double Recipe::rate_of_step(std::int64_t step) const {
  const TypedValues read(values_);
  RateSettings rate{.schedule = read.choice("schedule", rate_schedule_names),
                    .highest = read.number("rate"),
                    .warm_up = read.whole("warm_up"),
                    .steps = steps() - coarse_steps()};
  if (step >= coarse_steps()) return attnscope::rate_of_step(rate, step - coarse_steps());
  rate.steps = coarse_steps();
  if (read.number("coarse_rate") > 0) rate.highest = read.number("coarse_rate");
  return attnscope::rate_of_step(rate, step);
}

std::string Recipe::from() const { return TypedValues(values_).text("from"); }

std::vector<std::string> Recipe::from_without() const {
  return split_at_commas(TypedValues(values_).text("from_without"));
}

bool Recipe::has_learned_codes() const {
  const MechanismChoice choice = mechanism();
  if (choice.name != "hash") return false;
  const ParameterValues parameters = make_mechanism(choice)->choice().parameters;
  return TypedValues(parameters).is("codes", "learned");
}

std::vector<std::int64_t> Recipe::code_steps() const {
  std::vector<std::int64_t> list;
  const std::int64_t most = has_random_codes() ? 1 : steps();
  const std::int64_t count =
      has_learned_codes() ? std::min(TypedValues(values_).whole("code_updates"), most) : 0;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(i * steps() / count);
  return list;
}

std::int64_t Recipe::code_inputs() const { return TypedValues(values_).whole("code_inputs"); }
std::int64_t Recipe::code_pairs() const { return TypedValues(values_).whole("code_pairs"); }

bool Recipe::has_random_codes() const {
  return TypedValues(values_).choice("code_weights", code_weights_names) == CodeWeights::random;
}

std::int64_t Recipe::coarse_steps() const { return TypedValues(values_).whole("coarse_steps"); }
std::int64_t Recipe::steps() const { return TypedValues(values_).whole("steps"); }
std::int64_t Recipe::save_every() const { return TypedValues(values_).whole("save_every"); }
std::int64_t Recipe::probes() const { return TypedValues(values_).whole("probes"); }
std::int64_t Recipe::probe_every() const { return TypedValues(values_).whole("probe_every"); }

std::vector<std::int64_t> Recipe::checkpoints() const {
  const std::int64_t count = TypedValues(values_).whole("checkpoints");
  const auto last = static_cast<double>(steps());
  std::vector<std::int64_t> list{0};
  for (std::int64_t i = 1; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    const std::int64_t step = std::llround(std::pow(last, share));
    if (step > list.back() && step < steps()) list.push_back(step);
  }
  list.push_back(steps());
  if (coarse_steps() > 0) list.push_back(coarse_steps());
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace attnscope
