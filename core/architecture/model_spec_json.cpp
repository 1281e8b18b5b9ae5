#include "core/architecture/model_spec_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/architecture/model_options.h"
#include "core/architecture/spec/spec_members.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

constexpr const char* kHeadWidthScale = "head_width^-1/2";
constexpr const char* kWidthScale = "width^-1/2";
constexpr const char* kNoScale = "none";

/// What said which kind of model it is before its parts did; still read.
constexpr std::string_view kFormerFamily = "family";

/// The members of one stage, under their names.
struct StageMember {
  std::string_view name;
  std::int64_t PyramidStage::*member;
};

constexpr StageMember kStageMembers[] = {
    {"width", &PyramidStage::width},         {"layers", &PyramidStage::layers},
    {"heads", &PyramidStage::heads},         {"mlp_width", &PyramidStage::mlp_width},
    {"kernel", &PyramidStage::kernel},       {"stride", &PyramidStage::stride},
    {"reduction", &PyramidStage::reduction}, {"pooled", &PyramidStage::pooled},
    {"window", &PyramidStage::window},
};

constexpr std::string_view kOfLayer = "layer.";

const SpecMember& member_at(std::string_view name) {
  if (const SpecMember* member = find_spec_member(name)) return *member;
  throw unknown_name("model option", name, spec_member_names());
}

/// What stands under "a.b.c" of nested objects, made on the way.
template <class Json>
Json& at_path(Json& object, std::string_view path) {
  Json* place = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    place = &(*place)[std::string(path.substr(0, dot))];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *place;
}

// ---- member → JSON

json value_to_json(const auto& value) { return value; }

template <class Enum>
requires std::is_enum_v<Enum> json value_to_json(const Enum& value) { return enum_name(value); }

json value_to_json(const ScoreScale& scale) {
  if (scale.rule == ScoreScale::Rule::head_width) return kHeadWidthScale;
  if (scale.rule == ScoreScale::Rule::width) return kWidthScale;
  if (scale.number == 1) return kNoScale;
  return scale.number;
}

json value_to_json(const MechanismChoice& choice) {
  return {{"name", choice.name}, {"parameters", json::parse(to_json(choice.parameters))}};
}

json value_to_json(const PyramidStage& stage) {
  json object = json::object();
  for (const StageMember& member : kStageMembers) {
    object[std::string(member.name)] = stage.*member.member;
  }
  return object;
}

json value_to_json(const LayerDifference& difference) {
  json object = json::object();
  if (difference.layers.empty()) {
    object["layers"] = {{"first", difference.first}, {"every", difference.every}};
  } else {
    object["layers"] = difference.layers;
  }
  for (const auto& [path, text] : difference.members) at_path(object, path) = json::parse(text);
  return object;
}

template <class Element>
requires(std::is_class_v<Element> && !std::is_same_v<Element, std::string>) json
    value_to_json(const std::vector<Element>& elements) {
  json list = json::array();
  for (const Element& element : elements) list.push_back(value_to_json(element));
  return list;
}

// ---- JSON → member

[[noreturn]] void wrong_type(std::string_view wanted, const json& value) {
  throw Error(ErrorKind::damaged, "the value has the wrong type")
      .expected(std::string(wanted))
      .found(value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 80));
}

void set_from_json(std::int64_t& member, const json& value) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
    wrong_type("a whole number", value);
  }
  member = value.get<std::int64_t>();
}

void set_from_json(double& member, const json& value) {
  if (!value.is_number()) wrong_type("a number", value);
  member = value.get<double>();
}

void set_from_json(bool& member, const json& value) {
  if (!value.is_boolean()) wrong_type("true or false", value);
  member = value.get<bool>();
}

void set_from_json(std::string& member, const json& value) {
  if (!value.is_string()) wrong_type("a text", value);
  member = value.get<std::string>();
}

template <class Enum>
requires std::is_enum_v<Enum>
void set_from_json(Enum& member, const json& value) {
  const std::optional<Enum> named =
      value.is_string() ? enum_named<Enum>(value.get<std::string>()) : std::nullopt;
  if (!named) wrong_type("one of: " + name_list(kEnumNames<Enum>), value);
  member = *named;
}

void set_from_json(ScoreScale& member, const json& value) {
  using Rule = ScoreScale::Rule;
  if (value == kHeadWidthScale) {
    member = {Rule::head_width, 1};
  } else if (value == kWidthScale) {
    member = {Rule::width, 1};
  } else if (value == kNoScale) {
    member = {Rule::number, 1};
  } else if (value.is_number()) {
    member = {Rule::number, value.get<double>()};
  } else {
    wrong_type(std::string(kHeadWidthScale) + ", " + kWidthScale + ", " + kNoScale + " or a number",
               value);
  }
}

void set_from_json(MechanismChoice& member, const json& value) {
  if (value.is_string()) {
    member = {value.get<std::string>(), {}};
    return;
  }
  if (!value.is_object() || !value.contains("name")) {
    wrong_type(R"({"name": …, "parameters": {…}})", value);
  }
  MechanismChoice choice;
  for (const auto& [key, held] : value.items()) {
    if (key == "name") {
      set_from_json(choice.name, held);
    } else if (key == "parameters" && held.is_object()) {
      choice.parameters = parameters_from_json(held.dump());
    } else {
      wrong_type(R"({"name": …, "parameters": {…}})", value);
    }
  }
  member = std::move(choice);
}

void set_from_json(PyramidStage& member, const json& value) {
  if (!value.is_object()) wrong_type("an object of whole numbers", value);
  PyramidStage stage;
  for (const auto& [key, held] : value.items()) {
    const auto found = std::find_if(std::begin(kStageMembers), std::end(kStageMembers),
                                    [&](const StageMember& known) { return known.name == key; });
    if (found == std::end(kStageMembers)) {
      throw Error(ErrorKind::damaged, "unknown key '" + key + "' of a stage")
          .expected(name_list(kStageMembers, &StageMember::name));
    }
    set_from_json(stage.*found->member, held);
  }
  member = stage;
}

void set_from_json(LayerDifference& member, const json& value);

template <class Element>
void set_from_json(std::vector<Element>& member, const json& value) {
  if (!value.is_array()) wrong_type("a list", value);
  std::vector<Element> elements(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) set_from_json(elements[i], value[i]);
  member = std::move(elements);
}

void set_member(ModelSpec& spec, const SpecMember& member, const json& value) {
  try {
    std::visit([&](auto pointer) { set_from_json(*pointer, value); }, member.of(spec));
  } catch (Error& error) {
    error.about(std::string(member.name));
    throw;
  }
}

/// One member that an object states.
struct Statement {
  const SpecMember* member;
  const json* value;
};

/// The members that `object` states, which stands at `prefix` ("layer.norm.", "" at the root): by
/// their places, and at the root by the names of their options too.
void collect(const json& object, const std::string& prefix, std::vector<Statement>& found) {
  const auto& members = spec_members();
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix + key;
    const auto leaf = std::find_if(members.begin(), members.end(),
                                   [&](const SpecMember& member) { return member.path == path; });
    const bool inside = std::any_of(members.begin(), members.end(), [&](const SpecMember& member) {
      return member.path.starts_with(path + ".");
    });
    const SpecMember* const named = prefix.empty() ? find_spec_member(key) : nullptr;
    if (leaf != members.end()) {
      found.push_back({&*leaf, &value});
    } else if (inside && value.is_object()) {
      collect(value, path + ".", found);
    } else if (named) {
      found.push_back({named, &value});
    } else if (!prefix.empty() || key != kFormerFamily) {
      throw Error(ErrorKind::damaged, "unknown key '" + path + "' in the architecture")
          .remedy("known: " + spec_member_names());
    }
  }
}

std::vector<Statement> statements(const json& object, const std::string& prefix = "") {
  std::vector<Statement> found;
  collect(object, prefix, found);
  return found;
}

std::int64_t whole_number(const json& object, const char* key, std::int64_t usual,
                          std::int64_t least) {
  if (!object.contains(key)) return usual;
  std::int64_t number = 0;
  set_from_json(number, object[key]);
  if (number < least) wrong_type(std::to_string(least) + " or more", object[key]);
  return number;
}

void set_from_json(LayerDifference& member, const json& value) {
  const char* const form = R"({"layers": [0, 2] or {"first": 0, "every": 2}, "scores": {…}, …})";
  if (!value.is_object() || !value.contains("layers")) wrong_type(form, value);
  LayerDifference difference;
  const json& layers = value["layers"];
  if (layers.is_object()) {
    difference.first = whole_number(layers, "first", 0, 0);
    difference.every = whole_number(layers, "every", 1, 1);
  } else {
    set_from_json(difference.layers, layers);
    if (difference.layers.empty()) wrong_type(form, value);
  }
  json changes = value;
  changes.erase("layers");
  ModelSpec tried;
  for (const auto& [changed, held] : statements(changes, std::string(kOfLayer))) {
    set_member(tried, *changed, *held);
    difference.members[std::string(changed->path.substr(kOfLayer.size()))] = held->dump();
  }
  member = std::move(difference);
}

void set_family(ModelSpec& spec, const json& value) {
  if (value.is_string() && set_former_family(spec, value.get<std::string>())) return;
  throw Error(ErrorKind::unsupported, "unknown family")
      .about(std::string(kFormerFamily))
      .expected("vit, pyramid, causal_lm or text_classifier")
      .found(value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 80));
}

/// An image without patches is no image.
void settle(ModelSpec& spec) {
  InputSpec& input = spec.input;
  const bool patches = input.patch_height != 0 || input.patch_width != 0;
  if (input.kind == InputKind::patches && !patches) input.kind = InputKind::embeddings;
}

json parse_object(std::string_view text) {
  json object = parse_json(text);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the architecture is not a JSON object {…}");
  }
  return object;
}

// ---- text → JSON of the type the member has

template <class T>
constexpr bool kFreeText = std::is_same_v<T, MechanismChoice> || std::is_enum_v<T>;

/// A list as text: JSON, or its elements with commas between them.
json list_from_text(std::string_view text, bool numbers) {
  if (text.starts_with('[')) return parse_json_or_null(text);
  json list = json::array();
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string element(text.substr(0, comma));
    list.push_back(numbers ? parse_json_or_null(element) : json(element));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return list;
}

template <class T>
json json_from_text(std::string_view text) {
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return list_from_text(text, false);
  } else if constexpr (std::is_same_v<T, std::vector<double>> ||
                       std::is_same_v<T, std::vector<std::int64_t>>) {
    return list_from_text(text, true);
  } else if constexpr (kFreeText<T>) {
    if (text.starts_with('{')) return parse_json_or_null(text);
    return std::string(text);
  } else {
    constexpr bool objects = std::is_class_v<T> && !std::is_same_v<T, ScoreScale>;
    if (objects && text.empty()) return json::array();
    const json value = parse_json_or_null(text);
    return value.is_null() ? json(std::string(text)) : value;
  }
}

json json_of(const ModelSpec& spec, const SpecMember& member) {
  ModelSpec read = spec;
  return std::visit([](auto pointer) { return value_to_json(*pointer); }, member.of(read));
}

}  // namespace

bool LayerDifference::holds(std::int64_t layer) const {
  if (!layers.empty()) return std::find(layers.begin(), layers.end(), layer) != layers.end();
  return layer >= first && (layer - first) % every == 0;
}

LayerSpec layer_of(const ModelSpec& spec, std::int64_t layer) {
  ModelSpec changed;
  changed.layer = spec.layer;
  if (!spec.stages.empty()) {
    const PyramidStage& stage = spec.stages[place_of_layer(spec, layer).stage];
    changed.layer.attention.heads = stage.heads;
    changed.layer.attention.head_width = stage.width / stage.heads;
    changed.layer.mlp.width = stage.mlp_width;
  }
  for (const LayerDifference& difference : spec.differences) {
    if (!difference.holds(layer)) continue;
    for (const auto& [path, text] : difference.members) {
      set_member(changed, member_at(std::string(kOfLayer) + path), json::parse(text));
    }
  }
  return changed.layer;
}

std::string to_json(const ModelSpec& spec) {
  ModelSpec read = spec;
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const SpecMember& member : spec_members()) {
    at_path(object, member.path) =
        std::visit([](auto pointer) { return value_to_json(*pointer); }, member.of(read));
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ModelSpec model_spec_from_json(std::string_view text, const ModelSpec& defaults, bool complete) {
  const json object = parse_object(text);
  ModelSpec spec = defaults;
  for (const auto& [member, value] : statements(object)) set_member(spec, *member, *value);
  // Last: files that have it state all members, those that go without saying too.
  if (object.contains(kFormerFamily)) set_family(spec, object[std::string(kFormerFamily)]);
  settle(spec);
  if (complete) validate(spec);
  return spec;
}

std::vector<std::string> members_in_json(std::string_view text) {
  std::vector<std::string> names;
  const json object = parse_object(text);
  for (const auto& [member, value] : statements(object)) names.emplace_back(member->name);
  if (object.contains(kFormerFamily)) names.emplace_back("input.kind");
  return names;
}

const std::vector<ModelOption>& model_options() {
  static const std::vector<ModelOption> list = [] {
    std::vector<ModelOption> options;
    ModelSpec spec;
    for (const SpecMember& member : spec_members()) {
      Names choices;
      std::visit(
          [&]<class T>(T*) {
            if constexpr (std::is_enum_v<T>) {
              choices.assign(kEnumNames<T>.begin(), kEnumNames<T>.end());
            }
            if constexpr (std::is_same_v<T, bool>) choices = {"false", "true"};
          },
          member.of(spec));
      options.push_back({member.name, member.explanation, std::move(choices)});
    }
    options.push_back(
        {kIgnoreOption, "patterns of tensors that take no part, by your word: blocks.*.aux*", {}});
    options.push_back({kStateDictOption, "which of several state dicts in the file", {}});
    return options;
  }();
  return list;
}

std::string option_text(const ModelSpec& spec, std::string_view option) {
  if (is_file_option(option)) return {};
  const json value = json_of(spec, member_at(option));
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.at("parameters").empty()) return value.at("name");
  if (!value.is_array() || (!value.empty() && value.front().is_object())) return value.dump();
  std::string text;
  for (const json& element : value) {
    if (!text.empty()) text += ',';
    text += element.is_string() ? element.get<std::string>() : element.dump();
  }
  return text;
}

void apply_override(ModelSpec& spec, std::string_view option, std::string_view text) {
  const SpecMember* const member = option == kFormerFamily ? nullptr : &member_at(option);
  try {
    if (member) {
      set_member(
          spec, *member,
          std::visit([&]<class T>(T*) { return json_from_text<T>(text); }, member->of(spec)));
    } else {
      set_family(spec, std::string(text));
    }
    settle(spec);
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, "the model option has a wrong value")
        .about(std::string(option))
        .expected(error.expected_text())
        .found("'" + std::string(text) + "'");
  }
}

}  // namespace attnscope
