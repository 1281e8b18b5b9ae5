#include "analysis/energy/request.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "core/error.h"
#include "core/model/model.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr EnergySetting settings[] = {
    {"arithmetic", "of the linear layers: multiplicative or adder"},
    {"channels", "of the image: 1 or more"},
    {"class_tokens", "0, 1 or 2"},
    {"classes", "outputs of the head, or words: 0 or more"},
    {"heads", "of every layer, divides the width; networks of one stage"},
    {"image", "side of the image in pixels"},
    {"layers", "1 to 10000; networks of one stage"},
    {"mlp_width", "hidden width of the FFN; networks of one stage"},
    {"multiplicative_ends",
     "first and last layers that stay multiplicative, with softmax instead of adder attention: 0 "
     "or more"},
    {"native", "true: the family's own windows and spatial reduction (PVTv2, Twins)"},
    {"positions", "false: no position embeddings"},
    {"qkv_bias", "false: no biases on queries, keys and values"},
    {"width", "D; networks of one stage"},
};

Error bad_value(const std::string& name, const std::string& expected, const std::string& found) {
  return Error(ErrorKind::usage, "the setting has no such value")
      .about(name)
      .expected(expected)
      .found("'" + found + "'");
}

/// The settings not yet understood.
class Remaining {
 public:
  explicit Remaining(const std::map<std::string, std::string>& all) : left_(all) {}

  std::optional<std::string> take(const std::string& name) {
    const auto found = left_.find(name);
    if (found == left_.end()) return std::nullopt;
    std::string value = found->second;
    left_.erase(found);
    return value;
  }

  /// `otherwise` if absent.
  std::int64_t whole(const std::string& name, std::int64_t minimum, std::int64_t otherwise,
                     std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) {
    const auto text = take(name);
    if (!text) return otherwise;
    const auto value = parse_whole(*text);
    if (!value || *value < minimum || *value > maximum) {
      throw bad_value(
          name, "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum),
          *text);
    }
    return *value;
  }

  bool truth(const std::string& name, bool otherwise) {
    const auto text = take(name);
    if (!text) return otherwise;
    if (*text != "true" && *text != "false") throw bad_value(name, "true or false", *text);
    return *text == "true";
  }

  [[nodiscard]] const std::map<std::string, std::string>& left() const { return left_; }

 private:
  std::map<std::string, std::string> left_;
};

Arithmetic arithmetic_of(const std::string& text) {
  if (text == "adder") return Arithmetic::adder;
  if (text == "multiplicative") return Arithmetic::multiplicative;
  throw bad_value("arithmetic", "multiplicative or adder", text);
}

Network architecture_asked_for(const EnergyRequest& request, Remaining& remaining) {
  NetworkExtents extents;
  extents.tokens = request.tokens;
  extents.image = remaining.whole("image", 1, 0);
  extents.channels = remaining.whole("channels", 1, 0);
  extents.classes = remaining.whole("classes", 0, -1);
  extents.class_tokens = remaining.whole("class_tokens", 0, -1);
  extents.positions = remaining.truth("positions", true) ? -1 : 0;
  if (request.tokens < 0) {
    throw bad_value("tokens", "1 or more", std::to_string(request.tokens));
  }
  if (!request.spec) {
    const NamedNetwork* named = find_named_architecture(request.architecture);
    if (named == nullptr) {
      throw unknown_name("architecture", request.architecture, architecture_names());
    }
    return named->make(*named, extents);
  }
  ModelSpec spec = *request.spec;
  if (extents.image > 0) spec.input.image_height = spec.input.image_width = extents.image;
  if (extents.channels > 0) spec.input.channels = extents.channels;
  if (extents.class_tokens >= 0) spec.input.class_tokens = extents.class_tokens;
  Network architecture = architecture_of(spec, std::filesystem::path(request.label).stem().string(),
                                         extents.tokens, extents.classes, request.weights);
  if (extents.positions == 0) architecture.stages[0].embedding.positions = 0;
  return architecture;
}

void override_extents(Network& architecture, Remaining& remaining) {
  const std::pair<const char*, std::int64_t Stage::*> extents[] = {
      {"width", &Stage::width},
      {"heads", &Stage::heads},
      {"layers", &Stage::layers},
      {"mlp_width", &Stage::mlp_width}};
  for (const auto& [name, extent] : extents) {
    // Layers are counted one by one.
    constexpr std::int64_t kMostLayers = 10'000;
    const std::int64_t value = extent == &Stage::layers ? remaining.whole(name, 1, 0, kMostLayers)
                                                        : remaining.whole(name, 1, 0);
    if (value == 0) continue;
    if (architecture.stages.size() > 1) {
      throw Error(ErrorKind::usage,
                  "a network of several stages has no single " + std::string(name))
          .about(architecture.name)
          .remedy("choose another size of the family");
    }
    architecture.stages[0].*extent = value;
  }
}

std::string known_settings(const MechanismEntry& mechanism) {
  std::string known;
  for (const EnergySetting& setting : settings) {
    known += (known.empty() ? "" : ", ") + std::string(setting.name);
  }
  for (const ParameterDescription& description : mechanism.counted_parameters()) {
    known += ", " + description.name;
  }
  return known;
}

}  // namespace

std::span<const EnergySetting> energy_settings() { return settings; }

EnergyRequest energy_request_of(const Model& model) {
  EnergyRequest request;
  request.spec = model.spec();
  request.weights = weight_extents(model);
  request.label = model.file().string();
  return request;
}

EnergySubject understand(const EnergyRequest& request) {
  Remaining remaining(request.settings);
  EnergySubject subject;
  subject.architecture = architecture_asked_for(request, remaining);
  override_extents(subject.architecture, remaining);
  subject.architecture.query_key_value_biases =
      remaining.truth("qkv_bias", subject.architecture.query_key_value_biases);

  AccountingOptions& options = subject.options;
  options.convention = find_convention(request.convention);
  options.arithmetic = subject.architecture.arithmetic;
  if (const auto text = remaining.take("arithmetic")) options.arithmetic = arithmetic_of(*text);
  options.multiplicative_ends =
      remaining.whole("multiplicative_ends", 0, subject.architecture.multiplicative_ends);
  options.native_attention = remaining.truth("native", subject.architecture.native_attention);

  const bool own =
      request.mechanism.empty() || request.mechanism == subject.architecture.mechanism.name;
  options.mechanism = own ? subject.architecture.mechanism : MechanismChoice{request.mechanism, {}};
  const MechanismEntry& mechanism = find_counted_mechanism(options.mechanism.name);
  for (const ParameterDescription& description : mechanism.counted_parameters()) {
    if (const auto text = remaining.take(description.name)) {
      options.mechanism.parameters[description.name] = parse_parameter(description, *text);
    }
  }
  if (!remaining.left().empty()) {
    throw unknown_name("setting", remaining.left().begin()->first, known_settings(mechanism));
  }
  static_cast<void>(MechanismCost(options.mechanism));  // is there such a one
  check(subject.architecture);
  subject.constants = find_energy_constants(request.constants);
  subject.label = subject.architecture.title + ", " + to_string(options.mechanism);
  if (options.arithmetic == Arithmetic::adder) subject.label += ", adder layers";
  return subject;
}

EnergyRequest parse_energy_request(std::string_view text) {
  EnergyRequest request;
  std::istringstream words{std::string(text)};
  words >> request.architecture;
  for (std::string word; words >> word;) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw bad_value(word, "name=value", word);
    }
    const std::string name = word.substr(0, sign), value = word.substr(sign + 1);
    if (name == "mechanism") {
      request.mechanism = value;
    } else if (name == "convention") {
      request.convention = value;
    } else if (name == "constants") {
      request.constants = value;
    } else if (name == "tokens") {
      const auto tokens = parse_whole(value);
      if (!tokens || *tokens < 1) throw bad_value(name, "a whole number from 1", value);
      request.tokens = *tokens;
    } else {
      request.settings[name] = value;
    }
  }
  return request;
}

std::string command_line(const EnergyRequest& request) {
  std::string command = "attnscope energy " + (request.spec ? request.label : request.architecture);
  if (!request.mechanism.empty()) command += " --mechanism " + request.mechanism;
  command += " --convention " + request.convention;
  if (request.constants != "fp32") command += " --constants " + request.constants;
  if (request.tokens > 0) command += " --tokens " + std::to_string(request.tokens);
  for (const auto& [name, value] : request.settings) command += " --set " + name + "=" + value;
  return command;
}

EnergyTotals totals_of(const OperationCount& count, const EnergyConstants& constants) {
  return {.multiplications = static_cast<double>(count.multiplications),
          .additions = static_cast<double>(count.additions),
          .energy_pj = operations_energy_pj(count, constants),
          .traffic_pj = traffic_energy_pj(count, constants)};
}

}  // namespace attnscope
