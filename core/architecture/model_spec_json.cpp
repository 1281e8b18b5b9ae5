#include "core/architecture/model_spec_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/architecture/model_options.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

// The names of enumerators, in the order of their declaration.
template <class Enum>
constexpr std::array<std::string_view, 0> kNames{};
template <>
constexpr std::array<std::string_view, 2> kNames<NormPosition>{"pre", "post"};
template <>
constexpr std::array<std::string_view, 2> kNames<Norm>{"layer", "rms"};
template <>
constexpr std::array<std::string_view, 6> kNames<Activation>{"gelu",       "gelu_tanh", "relu",
                                                             "quick_gelu", "silu",      "relu2"};
template <>
constexpr std::array<std::string_view, 2> kNames<MlpForm>{"plain", "gated"};
template <>
constexpr std::array<std::string_view, 6> kNames<Readout>{
    "class", "mean", "class_and_distilled", "none", "mean_all", "class_and_mean"};
template <>
constexpr std::array<std::string_view, 3> kNames<PositionResize>{"bicubic", "bicubic_antialiased",
                                                                 "bicubic_offset"};
template <>
constexpr std::array<std::string_view, 2> kNames<PatchOrder>{"channels_first", "channels_last"};
template <>
constexpr std::array<std::string_view, 2> kNames<Arithmetic>{"multiplicative", "adder"};
template <>
constexpr std::array<std::string_view, 2> kNames<Positions>{"none", "learned"};
template <>
constexpr std::array<std::string_view, 2> kNames<ResizeFilter>{"bilinear", "bicubic"};
template <>
constexpr std::array<std::string_view, 2> kNames<ResizeMode>{"shorter_side", "exact"};
template <>
constexpr std::array<std::string_view, 4> kNames<HeadActivation>{"none", "tanh", "gelu", "relu"};
template <>
constexpr std::array<std::string_view, 4> kNames<Tokenizer>{"characters", "bytes", "byte_pairs",
                                                            "ids"};
template <>
constexpr std::array<std::string_view, 3> kNames<LayerForm>{"transformer", "fastformer",
                                                            "fastformer_rescaled"};

constexpr const char* kHeadWidthScale = "head_width^-1/2";
constexpr const char* kWidthScale = "width^-1/2";
constexpr const char* kNoScale = "none";

template <class T>
using MemberOf = T ModelSpec::*;
using AnyMember =
    std::variant<MemberOf<std::int64_t>, MemberOf<double>, MemberOf<bool>, MemberOf<std::string>,
                 MemberOf<std::vector<double>>, MemberOf<std::vector<std::string>>,
                 MemberOf<std::vector<std::int64_t>>, MemberOf<std::vector<PyramidStage>>,
                 MemberOf<std::vector<MechanismChoice>>, MemberOf<MechanismChoice>,
                 MemberOf<NormPosition>, MemberOf<Activation>, MemberOf<Readout>,
                 MemberOf<PatchOrder>, MemberOf<Arithmetic>, MemberOf<Positions>,
                 MemberOf<ResizeFilter>, MemberOf<ResizeMode>, MemberOf<HeadActivation>,
                 MemberOf<Tokenizer>, MemberOf<LayerForm>, MemberOf<MlpForm>,
                 MemberOf<PositionResize>, MemberOf<ScoreScale>, MemberOf<Norm>>;

struct Member {
  std::string_view name;
  AnyMember member;
  std::string_view explanation;
};

const std::vector<Member>& members() {
  using S = ModelSpec;
  static const std::vector<Member> list = {
      {"family", &S::family, "kind of transformer: vit, pyramid, causal_lm or text_classifier"},
      {"channels", &S::channels, "channels of the image"},
      {"image_height", &S::image_height, "pixels; positions are interpolated if it differs"},
      {"image_width", &S::image_width, "pixels; positions are interpolated if it differs"},
      {"patch_height", &S::patch_height, "pixels; 0 for an encoder of given tokens"},
      {"patch_width", &S::patch_width, "pixels; 0 for an encoder of given tokens"},
      {"patch_stride", &S::patch_stride, "pixels from patch to patch; 0: they tile the image"},
      {"patch_padding", &S::patch_padding, "zeros around the image, in pixels"},
      {"patch_order", &S::patch_order, "how a flattened patch is ordered"},
      {"width", &S::width, "D, of a token"},
      {"layers", &S::layers, "number of blocks"},
      {"heads", &S::heads, "H, of each block"},
      {"head_width", &S::head_width, "d, of one head; 0 means width / heads"},
      {"scale", &S::scale, "of the scores q·k: head_width^-1/2, width^-1/2, none (1) or a number"},
      {"scale_by_layer", &S::scale_by_layer, "divide the scores by the layer's number, from 1 on"},
      {"mlp_width", &S::mlp_width, "of the hidden layer of each block's MLP"},
      {"activation", &S::activation, "of the MLP"},
      {"mlp_form", &S::mlp_form, "whether a gate multiplies the MLP's hidden layer"},
      {"norm_position", &S::norm_position, "LayerNorm before (pre) or after (post) each part"},
      {"norm", &S::norm, "how tokens are normalised: LayerNorm (layer) or by their RMS (rms)"},
      {"norm_eps", &S::norm_eps, "added to the variance, or to the mean square, of a norm"},
      {"arithmetic", &S::arithmetic, "of the linear layers"},
      {"class_tokens", &S::class_tokens, "the first tokens: 0, 1, or 2 (distilled)"},
      {"register_tokens", &S::register_tokens, "between the class token and the patches"},
      {"positions", &S::positions, "position embeddings"},
      {"position_resize", &S::position_resize, "how positions are brought to another grid"},
      {"final_norm", &S::final_norm, "LayerNorm after the last block"},
      {"readout", &S::readout, "what the head reads"},
      {"head_activation", &S::head_activation, "between the layers of a deep head"},
      {"input_mean", &S::input_mean, "subtracted from pixels in [0, 1], per channel"},
      {"input_std", &S::input_std, "pixels are divided by it, per channel"},
      {"resize_mode", &S::resize_mode, "how an image is brought to the model's size"},
      {"resize_filter", &S::resize_filter, "antialiased"},
      {"crop_fraction", &S::crop_fraction, "of the resized image that the centre crop keeps"},
      {"mechanism", &S::mechanism, "what it was trained with"},
      {"labels", &S::labels, "names of the classes; of a causal_lm, what each token says"},
      {"layer_mechanisms", &S::layer_mechanisms, "of each layer, where they differ, as JSON"},
      {"multiplicative_layers", &S::multiplicative_layers,
       "adder arithmetic: layers whose linear layers stay multiplicative"},
      {"stages", &S::stages, "of a pyramid, as JSON"},
      {"embedding_norm_eps", &S::embedding_norm_eps,
       "in the LayerNorms of a pyramid's embeddings and reductions"},
      {"vocabulary", &S::vocabulary, "number of tokens that a model of texts knows"},
      {"context", &S::context, "the most tokens of one text"},
      {"embedding_scale", &S::embedding_scale, "of the token embeddings; 0: √width"},
      {"padding", &S::padding, "the token that a text_classifier never sees; -1: none"},
      {"tokenizer", &S::tokenizer, "how a text becomes tokens"},
      {"layer_form", &S::layer_form, "what a layer of a language model does around its attention"},
      {"logit_scale", &S::logit_scale, "of a language model's logits; 0: 1/√width"},
      {"importance_scale", &S::importance_scale, "greatest logit of fastformer_rescaled"},
  };
  return list;
}

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

std::string known_members() {
  std::string text;
  for (const Member& member : members()) {
    if (!text.empty()) text += ", ";
    text += member.name;
  }
  return text;
}

const Member* find_member(std::string_view name) {
  const auto& list = members();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Member& member) { return member.name == name; });
  return found == list.end() ? nullptr : &*found;
}

const Member& member_at(std::string_view name) {
  if (const Member* member = find_member(name)) return *member;
  throw unknown_name("model option", name, known_members());
}

std::string list_of(const auto& names) {
  std::string text;
  for (const auto& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

// ---- member → JSON

json value_to_json(const auto& value) { return value; }

template <class Enum>
requires std::is_enum_v<Enum> json value_to_json(const Enum& value) {
  return kNames<Enum>.at(static_cast<std::size_t>(value));
}

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

template <class Element>
requires std::is_class_v<Element> json value_to_json(const std::vector<Element>& elements) {
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
  const auto& names = kNames<Enum>;
  const auto found = value.is_string()
                         ? std::find(names.begin(), names.end(), value.get<std::string>())
                         : names.end();
  if (found == names.end()) wrong_type("one of: " + list_of(names), value);
  member = static_cast<Enum>(found - names.begin());
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

template <class Element>
void set_from_json(std::vector<Element>& member, const json& value) {
  if (!value.is_array()) wrong_type("a list", value);
  std::vector<Element> elements(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) set_from_json(elements[i], value[i]);
  member = std::move(elements);
}

void set_member(ModelSpec& spec, const Member& member, const json& value) {
  try {
    std::visit([&](auto pointer) { set_from_json(spec.*pointer, value); }, member.member);
  } catch (Error& error) {
    error.about(std::string(member.name));
    throw;
  }
}

json parse_object(std::string_view text) {
  json object = parse_json(text);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the architecture is not a JSON object {…}");
  }
  return object;
}

// ---- text → JSON of the type the member has

bool is_free_text(const AnyMember& member) {
  return std::visit(
      []<class T>(MemberOf<T>) {
        return std::is_same_v<T, std::string> || std::is_same_v<T, MechanismChoice> ||
               std::is_enum_v<T>;
      },
      member);
}

json json_from_text(const Member& member, std::string_view text) {
  if (is_free_text(member.member)) {
    if (!text.empty() && text.front() == '{') return parse_json_or_null(text);
    return std::string(text);
  }
  const bool objects =
      std::holds_alternative<MemberOf<std::vector<PyramidStage>>>(member.member) ||
      std::holds_alternative<MemberOf<std::vector<MechanismChoice>>>(member.member);
  if (objects && text.empty()) return json::array();
  const bool numbers = std::holds_alternative<MemberOf<std::vector<double>>>(member.member) ||
                       std::holds_alternative<MemberOf<std::vector<std::int64_t>>>(member.member);
  if (numbers || std::holds_alternative<MemberOf<std::vector<std::string>>>(member.member)) {
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
  const json value = parse_json_or_null(text);
  return value.is_null() ? json(std::string(text)) : value;
}

}  // namespace

std::string to_json(const ModelSpec& spec) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Member& member : members()) {
    std::visit(
        [&](auto pointer) { object[std::string(member.name)] = value_to_json(spec.*pointer); },
        member.member);
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ModelSpec model_spec_from_json(std::string_view text, const ModelSpec& defaults, bool complete) {
  const json object = parse_object(text);
  ModelSpec spec = defaults;
  for (const auto& [key, value] : object.items()) {
    const Member* member = find_member(key);
    if (!member) {
      throw Error(ErrorKind::damaged, "unknown key '" + key + "' in the architecture")
          .remedy("known: " + known_members());
    }
    set_member(spec, *member, value);
  }
  if (complete) validate(spec);
  return spec;
}

std::vector<std::string> members_in_json(std::string_view text) {
  std::vector<std::string> names;
  const json object = parse_object(text);
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

const std::vector<ModelOption>& model_options() {
  static const std::vector<ModelOption> list = [] {
    std::vector<ModelOption> options;
    for (const Member& member : members()) {
      Names choices;
      std::visit(
          [&]<class T>(MemberOf<T>) {
            if constexpr (std::is_enum_v<T>) choices.assign(kNames<T>.begin(), kNames<T>.end());
            if constexpr (std::is_same_v<T, bool>) choices = {"false", "true"};
          },
          member.member);
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
  const json value = std::visit([&](auto pointer) { return value_to_json(spec.*pointer); },
                                member_at(option).member);
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
  const Member& member = member_at(option);
  try {
    set_member(spec, member, json_from_text(member, text));
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, "the model option has a wrong value")
        .about(std::string(option))
        .expected(error.expected_text())
        .found("'" + std::string(text) + "'");
  }
}

}  // namespace attnscope
