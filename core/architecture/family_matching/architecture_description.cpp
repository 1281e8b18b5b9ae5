#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/architecture/configuration/config_kind.h"
#include "core/architecture/family_matching/tail_roles.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;

Error wrong(std::string what, const std::string& key) {
  return Error(ErrorKind::damaged, std::move(what)).about(key);
}

/// Suffixes of a BatchNorm's statistics.
constexpr const char* kRunningMean = ".running_mean";
constexpr const char* kRunningVariance = ".running_var";

constexpr std::string_view kOfMechanism = "layer.mechanism.";

/// Module name without the number of a layer in a deep head or a stem: "head" for "head.0",
/// "head.1", …; empty for other modules.
std::string numbered_module(const std::string& module) {
  for (const char* const each : {"head", "stem", "stem_norm", "stage.stem", "stage.stem_norm"}) {
    std::string name = each;
    const bool one = module.size() == name.size() + 2 && module.starts_with(name + ".");
    if (one && module.back() >= '0' && module.back() <= '9') return name;
  }
  return {};
}

/// True if a module may be a BatchNorm.
bool may_have_statistics(const std::string& module) {
  return module == "patch_norm_after" || module == "stage.patch_norm" ||
         numbered_module(module).ends_with("stem_norm");
}

std::string known_roles() {
  std::string text;
  for (const TensorRole& role : tensor_roles()) {
    text += (text.empty() ? "" : ", ") + std::string(role.name);
  }
  return text;
}

const TensorRole& find_role(const std::string& module, const std::string& key) {
  std::string wanted = module;
  if (const auto tail = tail_role(module)) wanted = "layer." + tail->name;
  if (const std::string name = numbered_module(module); !name.empty()) wanted = name;
  if (module.starts_with(kOfMechanism)) wanted = kOfMechanism.substr(0, kOfMechanism.size() - 1);
  const TensorRole* const found = find_tensor_role(wanted);
  if (found == nullptr) {
    throw wrong("unknown role '" + key + "' in the architecture description", "tensors")
        .remedy("known: " + known_roles());
  }
  return *found;
}

/// Parses the stored axes of each axis: [[1, 2], 0].
std::vector<std::vector<std::int64_t>> parse_axes(const json& value, const std::string& key) {
  constexpr std::size_t most = 8;
  const auto refuse = [&] {
    throw wrong("axes are a list of numbers from 0 on, or of lists of these: [[1, 2], 0]", key);
  };
  if (!value.is_array() || value.empty() || value.size() > most) refuse();
  std::vector<std::vector<std::int64_t>> axes;
  for (const json& group : value) {
    const json list = group.is_array() ? group : json::array({group});
    if (list.empty() || list.size() > most) refuse();
    axes.emplace_back();
    for (const json& axis : list) {
      if (!axis.is_number_unsigned() || axis >= most) refuse();
      axes.back().push_back(axis.get<std::int64_t>());
    }
  }
  return axes;
}

/// Parses [first, second] with first ≥ 0 and second > 0.
std::pair<std::int64_t, std::int64_t> parse_pair(const json& value, const std::string& key,
                                                 const char* what) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const bool two = value.is_array() && value.size() == 2 && value[0].is_number_unsigned() &&
                   value[1].is_number_unsigned() && value[0] <= most && value[1] <= most &&
                   value[1] > 0;
  if (!two) throw wrong(what, key).found(value.dump().substr(0, 80));
  return {value[0].get<std::int64_t>(), value[1].get<std::int64_t>()};
}

/// Parses "part": [k, n], the k-th of n equal parts of the rows, or "rows": [first, count].
RowRange parse_rows(const std::string& name, const json& value, const std::string& key) {
  if (name == "rows") {
    const auto [first, count] = parse_pair(value, key, "rows are [first, count], the first row 0");
    return {first, count, 0};
  }
  const char* const what = "a part is [k, n]: the k-th of n equal parts of the rows, from 0 on";
  const auto [part, parts] = parse_pair(value, key, what);
  if (part >= parts) throw wrong(what, key).found(value.dump());
  return {part, 1, parts};
}

/// Parses a shape such as [3, 12, -1].
Shape parse_shape(const json& value, const std::string& key) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  Shape shape;
  for (const json& extent : value.is_array() ? value : json::array()) {
    const bool fits = extent.is_number_integer() && extent <= most && (extent > 0 || extent == -1);
    if (!fits || shape.size() == 8) break;
    shape.push_back(extent.get<std::int64_t>());
  }
  const bool all = value.is_array() && !shape.empty() && shape.size() == value.size();
  if (!all || std::ranges::count(shape, std::int64_t{-1}) > 1) {
    throw wrong("a shape is a list of sizes, one of which may be -1 for the rest", key)
        .found(value.dump().substr(0, 80));
  }
  return shape;
}

/// Parses a list of patterns, whose tensors are concatenated along the rows.
void parse_join(const json& value, const std::string& key, TensorPattern& pattern) {
  const bool texts = value.is_array() && value.size() >= 2 && value.size() <= 64 &&
                     std::ranges::all_of(value, [](const json& one) { return one.is_string(); });
  if (!texts || !pattern.pattern.empty()) {
    throw wrong("join is a list of at least two patterns, in place of pattern", key)
        .found(value.dump().substr(0, 80));
  }
  pattern.pattern = value[0].get<std::string>();
  for (std::size_t i = 1; i < value.size(); ++i) pattern.joined.push_back(value[i]);
}

TensorPattern parse_pattern(const json& value, const std::string& key) {
  TensorPattern pattern;
  if (value.is_string()) {
    pattern.pattern = value.get<std::string>();
  } else if (value.is_object()) {
    for (const auto& [name, held] : value.items()) {
      if (name == "join") {
        parse_join(held, key, pattern);
      } else if (name == "part" || (name == "rows" && !pattern.rows)) {
        pattern.rows = parse_rows(name, held, key);
      } else if (name == "shape") {
        pattern.shape = parse_shape(held, key);
      } else if (name == "pattern" && held.is_string() && pattern.joined.empty()) {
        pattern.pattern = held.get<std::string>();
      } else if (name == "transposed" && held.is_boolean()) {
        pattern.transposed = held.get<bool>();
      } else if (name == "optional" && held.is_boolean()) {
        pattern.optional = held.get<bool>();
      } else if (name == "axes") {
        pattern.axes = parse_axes(held, key);
      } else if (name == "layer_axis" && held == 0) {
        pattern.of_all_layers = true;
      } else {
        throw wrong("unknown key '" + name + "' of a pattern, or a wrong value", key)
            .remedy(
                "known: pattern (text) or join (list of texts), transposed, optional (true or "
                "false), shape, axes, part or rows (lists), layer_axis (0)");
      }
    }
  } else {
    throw wrong("a pattern is a text, an object with 'pattern', or a list of these", key);
  }
  if (pattern.pattern.ends_with('?')) {
    pattern.pattern.pop_back();
    pattern.optional = true;
  }
  if (pattern.pattern.empty() || pattern.pattern.size() > 1000) {
    throw wrong("a pattern must have 1 to 1000 bytes", key);
  }
  return pattern;
}

constexpr std::string_view kOfExperts = "layer.experts_";
/// Placeholders of numbers from 0, whose tensors are concatenated.
constexpr std::string_view kCounted[] = {"{head}", "{expert}"};

/// Checks the placeholders of a pattern: a role of each layer names {layer}, or {stage} and
/// {block}; a role of each stage may name {stage}, one of experts {expert}.
void check_placeholders(const std::string& key, const TensorPattern& given) {
  const std::string& pattern = given.pattern;
  const auto has = [&](std::string_view placeholder) {
    return pattern.find(placeholder) != std::string::npos;
  };
  if (has("{expert}") && !key.starts_with(kOfExperts)) {
    throw wrong("only a pattern of a role layer.experts_… may contain {expert}", key)
        .found(pattern);
  }
  for (const std::string& joined : given.joined) {
    const bool counts = std::ranges::any_of(kCounted, [&](std::string_view counted) {
      return joined.find(counted) != std::string::npos || has(counted);
    });
    if (counts || joined.empty()) {
      throw wrong("a joined pattern must not be empty or contain {head} or {expert}", key)
          .found(joined);
    }
    check_placeholders(key, {.pattern = joined, .of_all_layers = given.of_all_layers});
  }
  const bool of_layer = is_layer_role(key), of_stage = key.starts_with("stage.");
  const bool names_layer = has("{layer}") || (has("{stage}") && has("{block}"));
  if (given.of_all_layers && (names_layer || !of_layer)) {
    throw wrong(
        "a pattern with layer_axis must have a role of a layer and must not contain {layer}", key)
        .found(pattern);
  }
  if (of_layer && !names_layer && !given.of_all_layers) {
    throw wrong("the pattern of a role of each layer must contain {layer}, or {stage} and {block}",
                key)
        .found(pattern);
  }
  if (!of_layer && (has("{layer}") || has("{block}") || (!of_stage && has("{stage}")))) {
    throw wrong("the role is not per layer: its pattern must not contain {layer} or {block}", key)
        .found(pattern);
  }
}

/// True for tables, which may be named like a tensor or like the module that holds it.
bool is_table(const std::string& module) {
  constexpr std::string_view tables[] = {"token_embedding", "token_types", "positions",
                                         "decoder_token_embedding", "decoder_positions"};
  return std::ranges::find(tables, module) != std::end(tables);
}

void add_table(ArchitectureDescription& description, const std::string& module,
               const TensorPattern& pattern, bool of_module) {
  const bool of_tokens = module.ends_with("token_embedding"),
             of_places = module.ends_with("positions");
  const std::string role = of_tokens ? module + ".weight" : module;
  std::vector<TensorPattern>& patterns = description.tensors[role];
  patterns.push_back(pattern);
  if (!of_module) return;
  patterns.push_back(pattern);
  patterns.back().pattern += ".weight";
  for (std::string& joined : patterns.back().joined) joined += ".weight";
  // The more common form comes first, since error messages name the first pattern.
  if (!of_places) std::swap(patterns[patterns.size() - 2], patterns.back());
}

void parse_role(ArchitectureDescription& description, const std::string& key, const json& value) {
  RoleParts split = parts_of_role(key);
  const TensorRole& role = find_role(split.module, key);
  const bool table = is_table(split.module);
  if ((!split.part.empty() && !role.module && !table) || (split.part == ".bias" && table)) {
    throw wrong("this role is one tensor: it has no .weight or .bias", key);
  }
  if (split.part.starts_with(".running") && !may_have_statistics(split.module)) {
    throw wrong("this role has no running statistics", key);
  }
  // A head or stem given as one layer is the first layer of it.
  for (const char* const name : {"head", "stem", "stem_norm"}) {
    if (split.module == name) split.module += ".0";
  }
  std::vector<TensorPattern> patterns;
  if (value.is_array()) {
    for (const json& alternative : value) patterns.push_back(parse_pattern(alternative, key));
  } else {
    patterns.push_back(parse_pattern(value, key));
  }
  for (const TensorPattern& pattern : patterns) {
    check_placeholders(key, pattern);
    if (is_table(split.module)) {
      add_table(description, split.module, pattern, split.part.empty());
      continue;
    }
    if (!role.module || !split.part.empty()) {
      description.tensors[split.module + split.part].push_back(pattern);
      continue;
    }
    TensorPattern weight = pattern, bias = pattern;
    for (auto& [each, part] : {std::pair(&weight, ".weight"), std::pair(&bias, ".bias")}) {
      each->pattern += part;
      for (std::string& joined : each->joined) joined += part;
    }
    bias.optional = true;
    bias.transposed = false;
    bias.shape.clear();
    bias.axes.clear();
    description.tensors[split.module + ".weight"].push_back(std::move(weight));
    for (const char* const part : {kRunningMean, kRunningVariance}) {
      if (!may_have_statistics(split.module)) break;
      TensorPattern statistics = bias;
      statistics.pattern = pattern.pattern + part;
      description.tensors[split.module + part].push_back(std::move(statistics));
    }
    description.tensors[split.module + ".bias"].push_back(std::move(bias));
  }
}

/// Checks that the roles of MLPs, or of experts with the prefix `experts`, are there together.
void check_mlp_roles(const ArchitectureDescription& description, const std::string& experts) {
  const auto has = [&](const char* part) {
    return description.tensors.contains("layer." + experts + part + ".weight");
  };
  const bool hidden = has("mlp1") || has("mlp_gate_and_mlp1");
  if (hidden != has("mlp2")) {
    throw wrong("the description has no pattern for layer." + experts + "mlp" +
                    (hidden ? "2" : "1") + ".weight",
                "tensors")
        .remedy("an MLP has both; a model without MLPs neither");
  }
  if (experts.empty() || hidden == description.tensors.contains("layer.router.weight")) return;
  throw wrong(std::string("the description has no pattern for layer.") +
                  (hidden ? "router.weight" : "experts_mlp1.weight"),
              "tensors")
      .remedy("experts have a router; a model without experts has none");
}

void check_roles(const ArchitectureDescription& description) {
  const auto has = [&](const char* role) { return description.tensors.contains(role); };
  check_mlp_roles(description, "");
  check_mlp_roles(description, "experts_");
  if (description.spec.is_pyramid()) {
    // The layers of a pyramid may attend in different ways, which only the file shows.
    if (!has("stage.patch.weight")) {
      throw wrong("the description has no pattern for stage.patch", "tensors");
    }
    return;
  }
  std::vector<const char*> needed;
  if (description.spec.reads_texts()) needed = {"token_embedding.weight"};
  if (description.spec.reads_texts() && description.spec.positions.kind == Positions::learned) {
    needed.push_back("positions");
  }
  if (description.spec.layer.form == LayerForm::fastformer_encoder) {
    needed.insert(needed.end(), {"layer.query_importance.weight", "layer.key_importance.weight",
                                 "layer.transform.weight", "pooling1.weight", "pooling2.weight",
                                 "head.0.weight"});
  }
  for (const char* role : needed) {
    if (has(role)) continue;
    throw wrong("the description has no pattern for " + std::string(role) +
                    ", which a model of its kind needs",
                "tensors");
  }
  if (has("layer.mamba_input.weight")) return;  // has queries, keys and values
  // A projection of queries may have their gates, too.
  const bool queries = has("layer.query.weight") || has("layer.query_gate.weight");
  const bool apart = has("layer.key.weight") && has("layer.value.weight");
  const bool from_latents = has("layer.latent_key_value.weight") ||
                            (has("layer.latent_key.weight") && has("layer.latent_value.weight"));
  const bool separate = queries && (apart || (has("layer.latent.weight") && from_latents));
  // Both forms are allowed if the model may have either.
  const auto optional = [&](const char* role) {
    const auto& patterns = description.tensors.find(role)->second;
    return std::all_of(patterns.begin(), patterns.end(),
                       [](const TensorPattern& pattern) { return pattern.optional; });
  };
  const bool either = has("layer.qkv.weight") && separate && optional("layer.qkv.weight") &&
                      optional("layer.query.weight") && optional("layer.key.weight") &&
                      optional("layer.value.weight");
  if (has("layer.qkv.weight") == separate && !either) {
    throw wrong(
        "give either layer.qkv, or all of layer.query, layer.key and layer.value, or layer.query, "
        "layer.latent and layer.latent_key_value, or layer.latent_key and layer.latent_value",
        "tensors");
  }
}

std::vector<std::string> parse_list(const json& value, const std::string& key) {
  if (!value.is_array()) throw wrong("this is not a list of texts", key);
  std::vector<std::string> texts;
  for (const json& text : value) {
    if (!text.is_string()) throw wrong("this is not a text", key);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::map<std::string, std::string, std::less<>> parse_texts(const json& value,
                                                            const std::string& key) {
  if (!value.is_object()) throw wrong("this is not an object of texts", key);
  std::map<std::string, std::string, std::less<>> texts;
  for (const auto& [name, text] : value.items()) {
    if (!text.is_string()) throw wrong("this is not a text", key + " " + name);
    texts[name] = text.get<std::string>();
  }
  return texts;
}

json parse_object(std::string_view text) {
  json object = parse_json(text);
  if (object.is_object()) return object;
  throw Error(ErrorKind::damaged, "an architecture description is a JSON object {…}")
      .found(object.type_name());
}

bool gives_heads(const std::string& members) {
  return std::ranges::count(members_in_json(members), "heads") > 0;
}

/// Merges `own` over the family that its "like" names; null values remove keys.
json with_what_it_is_like(json own) {
  const auto like = own.find("like");
  if (like == own.end()) return own;
  const auto& families = architecture_families();
  const auto family = std::ranges::find_if(families, [&](const ArchitectureFamily& one) {
    return *like == one.id || *like == one.name;
  });
  if (family == families.end()) {
    throw Error(ErrorKind::usage, "unknown family")
        .about("like")
        .expected(name_list(families, &ArchitectureFamily::name))
        .found(like->dump());
  }
  json whole = with_what_it_is_like(parse_object(family->description));
  whole.erase("name");
  whole.erase("configuration");  // its kinds of configurations are known already
  own.erase(like);
  whole.merge_patch(own);
  return whole;
}

}  // namespace

std::vector<std::string> revisions_in(std::string_view json_text) {
  nlohmann::ordered_json one = parse_ordered_json(json_text);
  const auto given = one.find("revisions");
  if (given == one.end()) return {std::string(json_text)};
  const nlohmann::ordered_json revisions = *given;
  if (!revisions.is_array() ||
      !std::ranges::all_of(revisions, [](const auto& revision) { return revision.is_object(); })) {
    throw wrong("`revisions` must list objects, each with its differences from the one before it",
                "revisions");
  }
  one.erase("revisions");
  std::vector<std::string> texts = {one.dump(2)};
  for (const nlohmann::ordered_json& revision : revisions) {
    one.merge_patch(revision);
    texts.push_back(one.dump(2));
  }
  return texts;
}

std::span<const ArchitectureFamily> architecture_families() {
  static const std::vector<ArchitectureFamily> list = [] {
    std::vector<ArchitectureFamily> families;
    for (const FamilyFile& file : family_files()) {
      for (std::string& text : revisions_in(file.text)) {
        std::string name = parse_object(text).at("name").get<std::string>();
        families.push_back({std::string(file.id), std::move(name), std::move(text)});
      }
    }
    return families;
  }();
  return list;
}

const ArchitectureFamily& built_in_family(std::string_view id) {
  const auto found = std::ranges::find(architecture_families(), id, &ArchitectureFamily::id);
  if (found != architecture_families().end()) return *found;
  throw Error(ErrorKind::unsupported, "internal error: no family has this id")
      .about(std::string(id));
}

ArchitectureDescription parse_architecture_description(std::string_view json_text) {
  const json object = with_what_it_is_like(parse_object(json_text));
  ArchitectureDescription description;
  for (const auto& [key, value] : object.items()) {
    if (key == "name" && value.is_string()) {
      description.name = value.get<std::string>();
    } else if (key == "model" || key == "assume") {
      const std::string text = value.dump();
      description.spec = model_spec_from_json(text, description.spec, false);
      description.gives_heads |= gives_heads(text);
      if (key == "assume") continue;
      for (std::string& member : members_in_json(text)) description.stated.insert(member);
    } else if (key == kQkvRowsOption && value.is_string() &&
               enum_named<QkvRows>(value.get<std::string>())) {
      description.qkv_rows = *enum_named<QkvRows>(value.get<std::string>());
    } else if (key == "first_stage" && value.is_number_unsigned() && value <= 1000) {
      description.first_stage = value.get<std::int64_t>();
    } else if (key == "needs_positions" && value.is_boolean()) {
      description.needs_positions = value.get<bool>();
    } else if (key == "reasons") {
      description.reasons = parse_texts(value, key);
    } else if (key == "where" && value.is_object()) {
      for (const auto& [role, members] : value.items()) {
        (void)find_role(parts_of_role(role).module, role);
        (void)model_spec_from_json(members.dump(), {}, false);
        description.where[role] = members.dump();
        description.gives_heads |= gives_heads(members.dump());
      }
    } else if (key == "prefixes") {
      description.prefixes = parse_list(value, key);
    } else if (key == "harmless") {
      description.harmless = parse_list(value, key);
    } else if (key == "refuse") {
      description.refused = parse_texts(value, key);
    } else if (key == "configuration") {
      // The order of its keys counts.
      description.configuration = parse_ordered_json(json_text).at(key).dump();
      (void)parse_config_kinds(description.configuration, "");
    } else if (key == "tensors" && value.is_object()) {
      for (const auto& [role, pattern] : value.items()) parse_role(description, role, pattern);
    } else {
      throw wrong("unknown key '" + key + "' in the architecture description, or a wrong value",
                  key)
          .remedy(
              "known: name (text), like (a family's name or file), model, assume (members of the "
              "model), "
              "tensors (role to "
              "pattern), "
              "where (role to members), qkv_rows (parts_first or heads_first), first_stage "
              "(number), "
              "needs_positions (true or false), reasons, prefixes (list of texts), harmless (list "
              "of patterns), refuse, configuration (kind to its keys)");
    }
  }
  if (description.name.empty()) description.name = "user's description";
  check_roles(description);
  return description;
}

}  // namespace attnscope
