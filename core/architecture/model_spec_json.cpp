#include "core/architecture/model_spec_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/architecture/member_json.h"
#include "core/architecture/model_options.h"
#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

const SpecMember& member_at(std::string_view name) {
  if (const SpecMember* member = find_spec_member(name)) return *member;
  throw unknown_name("model option", name, spec_member_names());
}

/// Sets the input kind to embeddings if there are no patches.
void settle(ModelSpec& spec) {
  InputSpec& input = spec.input;
  const bool patches = input.patch_height != 0 || input.patch_width != 0;
  if (input.kind == InputKind::patches && !patches) input.kind = InputKind::embeddings;
}

json parse_architecture(std::string_view text) {
  json object = parse_json(text);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the architecture is not a JSON object {…}");
  }
  return object;
}

// ---- text → JSON of the type the member has

template <class T>
constexpr bool kFreeText = std::is_same_v<T, MechanismChoice> || std::is_enum_v<T>;

/// Parses a list given as JSON or as comma-separated elements.
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

}  // namespace

bool LayerDifference::holds(std::int64_t layer) const {
  if (!layers.empty()) return std::find(layers.begin(), layers.end(), layer) != layers.end();
  return layer >= first && (layer - first) % every == 0;
}

namespace {

/// Turns `layer`, which has the settings of the other layers, into the `place`-th tail layer.
void become_tail_layer(const ModelSpec& spec, std::int64_t place, LayerSpec& layer) {
  const TailSpec& tail = spec.tail;
  if (tail.heads) {
    layer.attention.head_width = spec.width_of_head() * layer.attention.heads / tail.heads;
    layer.attention.heads = tail.heads;
  }
  if (tail.mlp_width) layer.mlp.width = tail.mlp_width;
  if (tail.kind == Tail::class_attention) {
    layer.attention.of = Attending::class_token;
    return;
  }
  const bool crosses = place % 2 == 1;
  layer.attention.of = crosses ? Attending::encoder : Attending::self;
  layer.scores.causal = !crosses;
  // Cross-attention has no relative positions (T5), and the MLP follows the cross-attention.
  if (crosses) layer.scores.bias = ScoreBias::none;
  if (!crosses) layer.mlp.form = MlpForm::none;
}

}  // namespace

LayerSpec layer_of(const ModelSpec& spec, std::int64_t layer) {
  ModelSpec changed;
  changed.layer = spec.layer;
  if (!spec.stages.empty()) {
    const LayerPlace place = place_of_layer(spec, layer);
    const PyramidStage& stage = spec.stages[place.stage];
    changed.layer.attention.heads = stage.heads;
    changed.layer.attention.head_width = stage.width / stage.heads;
    changed.layer.mlp.width = stage.mlp_width;
    if (spec.shifts_windows()) {
      changed.layer.scores.window = stage.window;
      changed.layer.scores.window_form = place.block % 2 ? WindowForm::around : WindowForm::chunk;
    }
  }
  if (layer >= spec.body_layers()) {
    become_tail_layer(spec, layer - spec.body_layers(), changed.layer);
    return changed.layer;
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
    at_path(object, member.path) = member_as_json(read, member);
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ModelSpec model_spec_from_json(std::string_view text, const ModelSpec& defaults, bool complete) {
  const json object = parse_architecture(text);
  ModelSpec spec = defaults;
  for (const auto& [member, value] : statements(object)) set_member(spec, *member, *value);
  settle(spec);
  if (complete) validate(spec);
  return spec;
}

std::vector<std::string> members_in_json(std::string_view text) {
  std::vector<std::string> names;
  const json object = parse_architecture(text);
  for (const auto& [member, value] : statements(object)) names.emplace_back(member->name);
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
    options.push_back({kIgnoreOption, "patterns of tensors to leave out: blocks.*.aux*", {}});
    options.push_back({kStateDictOption, "which of several state dicts in the file", {}});
    options.push_back({kQkvRowsOption,
                       "rows of a fused weight: all queries, all keys, all values (parts_first), "
                       "or the queries, keys and values of each head in turn (heads_first)",
                       {kEnumNames<QkvRows>.begin(), kEnumNames<QkvRows>.end()}});
    return options;
  }();
  return list;
}

std::string option_text(const ModelSpec& spec, std::string_view option) {
  if (is_file_option(option)) return {};
  ModelSpec read = spec;
  const json value = member_as_json(read, member_at(option));
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
  const SpecMember& member = member_at(option);
  try {
    set_member(spec, member,
               std::visit([&]<class T>(T*) { return json_from_text<T>(text); }, member.of(spec)));
    settle(spec);
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, "the model option has a wrong value")
        .about(std::string(option))
        .expected(error.expected_text())
        .found("'" + std::string(text) + "'");
  }
}

}  // namespace attnscope
