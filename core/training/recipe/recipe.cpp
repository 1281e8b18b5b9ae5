#include "core/training/recipe/recipe.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/parameters/typed_values.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

enum class ImageReadout { class_token, mean };
constexpr EnumName<ImageReadout> image_readout_names[] = {{ImageReadout::class_token, "class"},
                                                          {ImageReadout::mean, "mean"}};
constexpr EnumName<Arithmetic> arithmetic_names[] = {{Arithmetic::multiplicative, "multiplicative"},
                                                     {Arithmetic::adder, "adder"}};

template <class Enum, std::size_t n>
std::vector<std::string> spellings(const EnumName<Enum> (&names)[n]) {
  std::vector<std::string> list;
  for (const EnumName<Enum>& one : names) list.emplace_back(one.name);
  return list;
}

std::vector<ParameterDescription> data_settings() {
  using namespace setting;
  return {
      text("dataset", "",
           "what is learnt: IDX images, a folder of class folders, NPZ or HDF5 with "
           "images and labels, or a text file; of a folder of IDX files train-…"),
      text("test_dataset", "",
           "what it is tested on; empty: t10k-… beside train-…, and of a text "
           "its last tenth"),
      whole("items", 0, {0, 1e9}, "images that are learnt from, the first ones; 0: all"),
      whole("test_items", 0, {0, 1e9}, "images or stretches of text it is tested on; 0: all"),
      text("labels", "",
           "names of the classes in the order of their numbers, with commas between; empty: the "
           "data set's, or numbers"),
      whole("shift", 0, {0, 64}, "images are moved by up to so many pixels to each side"),
      flag("flip", false, "every other image is mirrored"),
      number("crop", 1, {0.01, 1},
             "squares of at least this share of an image's area fill all of it; 1: never"),
  };
}

std::vector<ParameterDescription> model_settings() {
  using namespace setting;
  return {
      whole("patch", 4, {1, 1024}, "side of a patch, in pixels"),
      whole("context", 64, {2, 65536}, "characters that a model of texts sees"),
      whole("width", 48, {1, 16384}, "D, channels of a token"),
      whole("depth", 6, {1, 512}, "how many layers"),
      whole("model_heads", 3, {1, 512}, "H, a divisor of the width"),
      whole("mlp_width", 0, {0, 65536}, "hidden channels of the MLPs; 0: four times the width"),
      choice("readout", spellings(image_readout_names), "class",
             "what of an image is read: the class token, or the mean of all patches"),
      text("mechanism", "softmax",
           name_list(trained_attentions(), &TrainedAttentionEntry::name) +
               ", with parameters: adder,identity=true; hash,codes=sign; "
               "daft-conv,full_keys=true,conv_heads=3"),
      choice("arithmetic", spellings(arithmetic_names), "multiplicative",
             "of the linear layers inside the blocks; adder ones take a LayerNorm each"),
      text("multiplicative_layers", "",
           "of adder arithmetic: blocks that stay multiplicative, with softmax for adder: 0,5"),
      choice("score_gradient", spellings(difference_gradient_names), "sign",
             "of adder attention to queries and keys (Adder, Eq. 23, Table 3)"),
      choice("input_gradient", spellings(difference_gradient_names), "hard_tanh",
             "of adder layers to their inputs (Adder, Eq. 6, Table 3)"),
      choice("weight_gradient", spellings(difference_gradient_names), "full",
             "of adder layers to their weights (Adder, Eq. 5)"),
  };
}

std::vector<ParameterDescription> descent_settings() {
  using namespace setting;
  return {
      whole("steps", 1000, {1, 1e9}, "of the whole run"),
      whole("batch", 64, {1, 65536}, "examples of a step"),
      choice("optimiser", spellings(optimiser_kind_names), "adamw", "adamw or sgd"),
      number("rate", 2e-3, {0, 1e3}, "the highest learning rate"),
      choice("schedule", spellings(rate_schedule_names), "cosine", "of the rate after the warm-up"),
      whole("warm_up", 100, {0, 1e9}, "steps in which the rate rises; at most all of them"),
      number("weight_decay", 0.05, {0, 10}, "of matrices; not of norms, biases and positions"),
      number("momentum", 0.9, {0, 0.999999}, "of sgd"),
      number("beta1", 0.9, {0, 0.999999}, "of adamw"),
      number("beta2", 0.999, {0, 0.9999999}, "of adamw"),
      number("clip", 1, {0, 1e9}, "gradients together longer than this are shortened; 0: never"),
      flag("adder_rescaling", true, "gradients of adder weights get AdderNet's length"),
      whole("seed", 1, {0, 4294967295.0}, "of the first values, the order and the variation"),
      whole("checkpoints", 12, {1, 1000}, "how many models are kept, at logarithmic steps"),
      whole("save_every", 100, {1, 1e9}, "steps after which the state is saved, to resume from"),
      whole("probes", 8, {0, 10000}, "test images or texts whose maps are followed"),
      whole("probe_every", 0, {0, 1e9},
            "steps after which they are followed; 0: at checkpoints alone"),
  };
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// "adder,identity=true".
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

/// "0,2-3", or none.
std::vector<std::int64_t> layers_in(const TypedValues& read) {
  const std::string& text = read.text("multiplicative_layers");
  if (text.empty()) return {};
  const ParameterDescription one = setting::indices("multiplicative_layers", "0", "layers");
  const ParameterValues values{{one.name, parse_parameter(one, text)}};
  return TypedValues(values).indices(one.name, read.whole("depth"));
}

Error bad_value(const char* key, const std::string& expected, std::int64_t found) {
  return Error(ErrorKind::usage, "the recipe's values do not go together")
      .about(key)
      .expected(expected)
      .found(std::to_string(found));
}

}  // namespace

std::span<const ParameterDescription> recipe_settings() {
  static const std::vector<ParameterDescription> list = [] {
    std::vector<ParameterDescription> all = data_settings();
    for (auto& more : {model_settings(), descent_settings()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return list;
}

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
  if (read.whole("warm_up") > read.whole("steps")) {
    throw bad_value("warm_up", "at most the steps, " + std::to_string(read.whole("steps")),
                    read.whole("warm_up"));
  }
  (void)layers_in(read);
  (void)make_trained_attention({.mechanism = mechanism()});
}

Recipe Recipe::from_json(std::string_view text) {
  if (!parse_json(text).is_object()) {
    throw Error(ErrorKind::damaged, "a recipe is a JSON object {\"dataset\": …}");
  }
  return Recipe(parameters_from_json(text));
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
  return {.dataset = read.text("dataset"),
          .test_dataset = read.text("test_dataset"),
          .items = read.whole("items"),
          .test_items = read.whole("test_items"),
          .labels = split_at_commas(read.text("labels")),
          .context = read.whole("context"),
          .shift = read.whole("shift"),
          .flip = read.flag("flip"),
          .crop = read.number("crop"),
          .batch = read.whole("batch"),
          .seed = static_cast<std::uint64_t>(read.whole("seed"))};
}

ModelSpec Recipe::model(bool texts) const {
  const TypedValues read(values_);
  ModelSpec spec;
  spec.width = read.whole("width");
  spec.layers = read.whole("depth");
  spec.layer.attention.heads = read.whole("model_heads");
  const std::int64_t hidden = read.whole("mlp_width");
  spec.layer.mlp.width = hidden > 0 ? hidden : 4 * spec.width;
  spec.mechanism = mechanism();
  spec.arithmetic = read.choice("arithmetic", arithmetic_names);
  spec.multiplicative_layers = layers_in(read);
  if (texts) {
    spec.input.kind = InputKind::tokens;
    spec.input.width = spec.width;
    spec.input.context = read.whole("context");
    spec.input.patch_height = spec.input.patch_width = 0;
    spec.input.class_tokens = 0;
    spec.layer.norm.eps = 1e-5;
    spec.layer.mlp.activation = Activation::gelu_tanh;
    spec.layer.scores.causal = true;
    spec.readout.kind = Readout::next_token;
    return spec;
  }
  spec.input.patch_height = spec.input.patch_width = read.whole("patch");
  const bool mean = read.choice("readout", image_readout_names) == ImageReadout::mean;
  spec.input.class_tokens = mean ? 0 : 1;
  spec.readout.kind = mean ? Readout::mean : Readout::class_token;
  return spec;
}

GradientForms Recipe::gradient_forms() const {
  const TypedValues read(values_);
  return {{read.choice("input_gradient", difference_gradient_names),
           read.choice("weight_gradient", difference_gradient_names)},
          read.choice("score_gradient", difference_gradient_names)};
}

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

RateSettings Recipe::rate() const {
  const TypedValues read(values_);
  return {.schedule = read.choice("schedule", rate_schedule_names),
          .highest = read.number("rate"),
          .warm_up = read.whole("warm_up"),
          .steps = read.whole("steps")};
}

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
  return list;
}

}  // namespace attnscope
