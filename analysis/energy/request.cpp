#include "analysis/energy/request.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/parameters/typed_values.h"
#include "core/shown_text.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr const char* kOwn = "own";

std::vector<ParameterDescription> make_settings() {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const auto own_or = [](ParameterDescription&& description) {
    return std::move(description).or_word({kOwn}).by_default(kOwn);
  };
  std::vector<ParameterDescription> list;
  const auto& arithmetics = kEnumNames<Arithmetic>;
  list.push_back(own_or(setting::choice("arithmetic", {arithmetics.begin(), arithmetics.end()},
                                        kOwn, "of the linear layers")));
  list.push_back(own_or(setting::whole("channels", 0, {1, kAny}, "of the image")));
  list.push_back(own_or(setting::whole("class_tokens", 0, {0, 2}, "before the patches")));
  list.push_back(
      own_or(setting::whole("classes", 0, {0, kAny}, "outputs of the head: classes, or words")));
  list.push_back(own_or(setting::whole(
      "heads", 0, {1, kAny}, "H of every layer, a divisor of the width; networks of one stage")));
  list.push_back(own_or(setting::whole("image", 0, {1, kAny}, "side of the image").in("pixels")));
  // Layers are counted one by one, which requires a limit.
  list.push_back(own_or(setting::whole("layers", 0, {1, 10'000}, "L; networks of one stage")));
  list.push_back(own_or(
      setting::whole("mlp_width", 0, {1, kAny}, "hidden width of the FFN; networks of one stage")));
  list.push_back(own_or(setting::whole("multiplicative_ends", 0, {0, kAny},
                                       "first and last layers that stay multiplicative, with "
                                       "softmax instead of adder attention")));
  list.push_back(own_or(setting::flag(
      "native", true,
      "the family's own windows and spatial reduction (PVTv2, Twins). own: true, but false for "
      "networks by name under the convention ecoformer, which counts all keys")));
  list.push_back(own_or(setting::flag("positions", true, "learned position embeddings")));
  list.push_back(own_or(setting::flag("qkv_bias", true, "biases of queries, keys and values")));
  list.push_back(own_or(setting::whole("width", 0, {1, kAny}, "D; networks of one stage")));
  return list;
}

/// The settings of a request; the network's own values for those that were not given.
class ResolvedSettings {
 public:
  explicit ResolvedSettings(const ParameterValues& given)
      : values_(complete_values("the network", energy_settings(), given)), read_(values_) {}
  ResolvedSettings(const ResolvedSettings&) = delete;
  ResolvedSettings& operator=(const ResolvedSettings&) = delete;

  [[nodiscard]] std::int64_t whole(std::string_view name, std::int64_t own) const {
    return read_.is(name, kOwn) ? own : read_.whole(name);
  }
  [[nodiscard]] bool flag(std::string_view name, bool own) const {
    return read_.is(name, kOwn) ? own : read_.flag(name);
  }
  [[nodiscard]] Arithmetic arithmetic(Arithmetic own) const {
    constexpr const char* name = "arithmetic";
    return read_.is(name, kOwn) ? own : enum_named<Arithmetic>(read_.text(name)).value();
  }

 private:
  ParameterValues values_;
  TypedValues read_;  // typed access to values_
};

const NamedNetwork& named_network(const std::string& name) {
  if (const NamedNetwork* named = find_named_architecture(name)) return *named;
  throw unknown_name("architecture", name, architecture_names());
}

Network architecture_asked_for(const EnergyRequest& request, const ResolvedSettings& settings) {
  NetworkExtents extents;
  extents.tokens = request.tokens;
  extents.image = settings.whole("image", 0);
  extents.channels = settings.whole("channels", 0);
  extents.classes = settings.whole("classes", -1);
  extents.class_tokens = settings.whole("class_tokens", -1);
  extents.positions = settings.flag("positions", true) ? -1 : 0;
  if (!request.spec) {
    const NamedNetwork& named = named_network(request.architecture);
    return named.make(named, extents);
  }
  ModelSpec spec = *request.spec;
  if (extents.image > 0) spec.input.image_height = spec.input.image_width = extents.image;
  if (extents.channels > 0) spec.input.channels = extents.channels;
  if (extents.class_tokens >= 0) spec.input.class_tokens = extents.class_tokens;
  const std::string name = shown_text(std::filesystem::path(request.label).stem().string());
  Network architecture =
      architecture_of(spec, name, extents.tokens, extents.classes, request.weights);
  if (extents.positions == 0) architecture.stages[0].embedding.positions = 0;
  return architecture;
}

void override_extents(Network& architecture, const ResolvedSettings& settings) {
  const std::pair<const char*, std::int64_t Stage::*> extents[] = {
      {"width", &Stage::width},
      {"heads", &Stage::heads},
      {"layers", &Stage::layers},
      {"mlp_width", &Stage::mlp_width}};
  for (const auto& [name, extent] : extents) {
    const std::int64_t value = settings.whole(name, 0);
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

/// Name of the network's own mechanism, which is the default.
std::string mechanism_of_network(const EnergyRequest& request) {
  if (request.spec) return request.spec->mechanism.name;
  const NamedNetwork& named = named_network(request.architecture);
  return named.make(named, {}).mechanism.name;
}

/// Parts of the network's own attention that are not counted: ", without spatial reduction". Empty
/// if all are counted.
std::string keys_in_words(const Network& network, bool native) {
  bool windows = false, reduction = false;
  for (const Stage& stage : network.stages) {
    windows = windows || stage.window_tokens > 0;
    reduction = reduction || stage.reduction > 1;
  }
  if (native || (!windows && !reduction)) return {};
  const std::string both = windows && reduction ? "windows and " : windows ? "windows" : "";
  return ", without " + both + (reduction ? "spatial reduction" : "");
}

/// Adds a note on how a causal network is counted, if its scores are pairwise.
void say_pairs(const MechanismEntry& mechanism, Network& network) {
  if (!network.causal || !mechanism.rows) return;
  if (!network.note.empty()) network.note += "; ";
  network.note += "scores of all N x N pairs of tokens, though no token sees later ones";
  if (network.head_tokens > 1) network.note += ", and the head for every token";
}

std::string known_settings(const MechanismEntry& mechanism) {
  std::string known = name_list(energy_settings(), &ParameterDescription::name);
  for (const ParameterDescription& description : mechanism.counted_parameters()) {
    known += ", " + description.name;
  }
  return known;
}

}  // namespace

std::span<const ParameterDescription> energy_settings() {
  static const std::vector<ParameterDescription> settings = make_settings();
  return settings;
}

void set(EnergyRequest& request, std::string_view name, std::string_view text) {
  if (const ParameterDescription* known = find_description(energy_settings(), name)) {
    request.settings.insert_or_assign(known->name, parse_parameter(*known, text));
    return;
  }
  const MechanismEntry& mechanism = find_counted_mechanism(
      request.mechanism.name.empty() ? mechanism_of_network(request) : request.mechanism.name);
  const std::vector<ParameterDescription> parameters = mechanism.counted_parameters();
  const ParameterDescription* known = find_description(parameters, name);
  if (known == nullptr) throw unknown_name("setting", name, known_settings(mechanism));
  request.mechanism.parameters.insert_or_assign(known->name, parse_parameter(*known, text));
}

EnergyRequest energy_request_of(const Model& model) {
  EnergyRequest request;
  request.spec = model.spec();
  request.weights = weight_extents(model);
  request.label = model.file().string();
  return request;
}

EnergySubject resolve(const EnergyRequest& request) {
  if (request.tokens < 0) {
    throw Error(ErrorKind::usage, "the number of tokens is negative")
        .about("tokens")
        .expected("1 or more, or 0 for the network's own")
        .found(std::to_string(request.tokens));
  }
  const ResolvedSettings settings(request.settings);
  EnergySubject subject;
  Network& architecture = subject.architecture = architecture_asked_for(request, settings);
  override_extents(architecture, settings);
  architecture.query_key_value_biases =
      settings.flag("qkv_bias", architecture.query_key_value_biases);

  AccountingOptions& options = subject.options;
  options.convention = request.convention;
  options.arithmetic = settings.arithmetic(architecture.arithmetic);
  options.multiplicative_ends =
      settings.whole("multiplicative_ends", architecture.multiplicative_ends);
  // EcoFormer's tables count these networks as if every query attended to all keys.
  const bool all_keys = !request.spec && request.convention == CostConvention::ecoformer;
  options.native_attention = settings.flag("native", architecture.native_attention && !all_keys);

  const std::string& name = request.mechanism.name;
  const bool own = name.empty() || name == architecture.mechanism.name;
  options.mechanism = own ? architecture.mechanism : MechanismChoice{name, {}};
  const MechanismEntry& mechanism = find_counted_mechanism(options.mechanism.name);
  const std::vector<ParameterDescription> parameters = mechanism.counted_parameters();
  for (const auto& [parameter, value] : request.mechanism.parameters) {
    const ParameterDescription& description = description_of(mechanism.name, parameters, parameter);
    options.mechanism.parameters.insert_or_assign(parameter, checked_parameter(description, value));
  }
  const auto along_a_line = [](const Stage& stage) {
    return stage.embedding.kind == StageEmbedding::Kind::table ||
           stage.embedding.kind == StageEmbedding::Kind::sound;
  };
  if (std::ranges::any_of(architecture.stages, along_a_line)) {
    options.mechanism = choice_over_tokens(std::move(options.mechanism), false);
  }
  static_cast<void>(MechanismCost(options.mechanism));  // throws if unknown
  say_pairs(mechanism, architecture);
  check(subject.architecture);
  subject.constants = find_energy_constants(request.constants);
  subject.label = subject.architecture.title + ", " + to_string(options.mechanism);
  if (options.arithmetic == Arithmetic::adder) subject.label += ", adder layers";
  subject.label += keys_in_words(architecture, options.native_attention);
  return subject;
}

EnergyRequest parse_energy_request(std::string_view text) {
  EnergyRequest request;
  std::istringstream words{std::string(text)};
  words >> request.architecture;
  std::vector<std::pair<std::string, std::string>> settings;
  for (std::string word; words >> word;) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw Error(ErrorKind::usage, "a setting is written name=value").found("'" + word + "'");
    }
    const std::string name = word.substr(0, sign), value = word.substr(sign + 1);
    if (name == "mechanism") {
      request.mechanism.name = value;
    } else if (name == "convention") {
      request.convention = find_convention(value);
    } else if (name == "constants") {
      request.constants = value;
    } else if (name == "tokens") {
      const ParameterDescription tokens =
          setting::whole(name, 0, {1, std::numeric_limits<double>::infinity()}, "N");
      request.tokens = std::get<std::int64_t>(parse_parameter(tokens, value));
    } else {
      settings.emplace_back(name, value);
    }
  }
  // Set last: a parameter belongs to the mechanism, which may be named before or after it.
  for (const auto& [name, value] : settings) set(request, name, value);
  return request;
}

std::string command_line(const EnergyRequest& request) {
  std::string command = "attnscope energy " + (request.spec ? request.label : request.architecture);
  if (!request.mechanism.name.empty()) command += " --mechanism " + request.mechanism.name;
  command += " --convention " + std::string(name_of(request.convention));
  if (request.constants != "fp32") command += " --constants " + request.constants;
  if (request.tokens > 0) command += " --tokens " + std::to_string(request.tokens);
  for (const ParameterValues* values : {&request.mechanism.parameters, &request.settings}) {
    for (const auto& [name, value] : *values) command += " --set " + name + "=" + to_string(value);
  }
  return command;
}

EnergyTotals totals_of(const OperationCount& count, const EnergyConstants& constants) {
  return {.multiplications = static_cast<double>(count.multiplications),
          .additions = static_cast<double>(count.additions),
          .energy_pj = operations_energy_pj(count, constants),
          .traffic_pj = traffic_energy_pj(count, constants)};
}

}  // namespace attnscope
