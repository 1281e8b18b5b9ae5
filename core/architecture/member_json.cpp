#include "core/architecture/member_json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr const char* kHeadWidthScale = "head_width^-1/2";
constexpr const char* kWidthScale = "width^-1/2";
constexpr const char* kNoScale = "none";

/// Member of a stage with its name.
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
    const auto found =
        std::find_if(std::begin(kStageMembers), std::end(kStageMembers),
                     [&name = key](const StageMember& known) { return known.name == name; });
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

/// Collects the members that `object` gives. `prefix` is its path ("layer.norm.", "" at the root).
/// Keys are paths, and at the root also option names.
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
    } else {
      throw Error(ErrorKind::damaged, "unknown key '" + path + "' in the architecture")
          .remedy("known: " + spec_member_names());
    }
  }
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
  std::vector<Statement> stated;
  collect(changes, std::string(kOfLayer), stated);
  for (const auto& [changed, held] : stated) {
    set_member(tried, *changed, *held);
    difference.members[std::string(changed->path.substr(kOfLayer.size()))] = held->dump();
  }
  member = std::move(difference);
}

}  // namespace

json member_as_json(ModelSpec& spec, const SpecMember& member) {
  return std::visit([](auto pointer) { return value_to_json(*pointer); }, member.of(spec));
}

void set_member(ModelSpec& spec, const SpecMember& member, const json& value) {
  try {
    std::visit([&](auto pointer) { set_from_json(*pointer, value); }, member.of(spec));
  } catch (Error& error) {
    error.about(std::string(member.name));
    throw;
  }
}

std::vector<Statement> statements(const json& object) {
  std::vector<Statement> found;
  collect(object, "", found);
  return found;
}

}  // namespace attnscope
