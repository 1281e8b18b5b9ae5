#include "core/architecture/configuration/config_kind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/text/json.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::pair<std::string_view, KeyUse> kKeyUses[] = {
    {"member", KeyUse::member},     {"optional", KeyUse::optional},
    {"cap", KeyUse::cap},           {"fact", KeyUse::fact},
    {"side", KeyUse::side},         {"activation", KeyUse::activation},
    {"required", KeyUse::required}, {"harmless", KeyUse::harmless},
};

constexpr const char* kSections =
    "like (a kind); member, optional, cap, fact, side (key → member); activation (keys); required "
    "(key → value); harmless (reason → keys); set (member → value); flags, rotary, local_layers, "
    "defaults (objects); towers (key → kind); families, rules, tensors (lists); head (true or "
    "false); by_name (pattern → members); refuse (pattern → reason)";

Error wrong_kind(std::string what, const std::string& place, const ordered_json& found) {
  return Error(ErrorKind::damaged, std::move(what))
      .about("configuration " + place)
      .found(found.dump(-1, ' ', false, ordered_json::error_handler_t::replace).substr(0, 80));
}

std::string text_in(const ordered_json& value, const std::string& place) {
  if (!value.is_string()) throw wrong_kind("this is not a text", place, value);
  return value.get<std::string>();
}

bool truth_in(const ordered_json& value, const std::string& place) {
  if (!value.is_boolean()) throw wrong_kind("this is neither true nor false", place, value);
  return value.get<bool>();
}

std::vector<std::string> list_in(const ordered_json& value, const std::string& place) {
  if (!value.is_array()) throw wrong_kind("this is not a list of texts", place, value);
  std::vector<std::string> list;
  for (const ordered_json& text : value) list.push_back(text_in(text, place));
  return list;
}

const ordered_json& object_in(const ordered_json& value, const std::string& place) {
  if (!value.is_object()) throw wrong_kind("this is not an object", place, value);
  return value;
}

void check_is_member(const std::string& name, const std::string& place) {
  if (find_spec_member(name)) return;
  throw wrong_kind("the model has no such member", place, name)
      .remedy("known: " + spec_member_names());
}

/// Names that are separated by |.
std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> list;
  while (true) {
    const std::size_t bar = names.find('|');
    list.emplace_back(names.substr(0, bar));
    if (bar == std::string_view::npos) return list;
    names.remove_prefix(bar + 1);
  }
}

MemberValues members_in(const ordered_json& value, const std::string& place) {
  MemberValues members;
  for (const auto& [member, set] : object_in(value, place).items()) {
    check_is_member(member, place);
    members[member] = set.is_string() ? set.get<std::string>() : set.dump();
  }
  return members;
}

void parse_keys(KeyUse use, const ordered_json& value, const std::string& place,
                std::vector<ConfigKey>& keys) {
  if (use == KeyUse::activation) {
    for (std::string& name : list_in(value, place)) keys.push_back({std::move(name), use});
    return;
  }
  for (const auto& [name, held] : object_in(value, place).items()) {
    const std::string of = place + "." + name;
    if (use == KeyUse::harmless) {  // `name` is the reason
      for (std::string& key : list_in(held, of)) keys.push_back({std::move(key), use});
    } else if (use == KeyUse::required) {
      keys.push_back({name, use, held.dump()});
    } else {
      const std::string member = text_in(held, of);
      check_is_member(use == KeyUse::side ? member + "_height" : member, of);
      keys.push_back({name, use, member});
    }
  }
}

void parse_flags(const ordered_json& value, const std::string& place,
                 std::vector<ConfigFlag>& flags) {
  for (const auto& [key, held] : object_in(value, place).items()) {
    const std::string of = place + "." + key;
    ConfigFlag flag{.key = key, .usual = false, .values = {}, .facts = {}};
    if (!object_in(held, of).contains("default")) {
      throw wrong_kind("the flag has no default", of, held);
    }
    for (const auto& [name, part] : held.items()) {
      if (name == "default") {
        flag.usual = truth_in(part, of);
      } else if (name == "true" || name == "false") {
        flag.values[name == "true" ? 1 : 0] = members_in(part, of);
      } else if (name == "facts") {
        flag.facts = list_in(part, of);
      } else {
        throw wrong_kind("unknown key '" + name + "' of a flag", of, part)
            .remedy("known: default, true, false, facts");
      }
    }
    for (const std::string& fact : flag.facts) check_is_member(fact, of);
    std::erase_if(flags, [&](const ConfigFlag& other) { return other.key == flag.key; });
    flags.push_back(std::move(flag));
  }
}

RotaryKeys parse_rotary(const ordered_json& value, const std::string& place) {
  RotaryKeys keys;
  for (const auto& [name, key] : object_in(value, place).items()) {
    if (name != "theta" && name != "part") {
      throw wrong_kind("unknown key '" + name + "'", place, key).remedy("known: theta, part");
    }
    if (name == "theta") keys.theta = text_in(key, place);
    if (name == "part") keys.part = text_in(key, place);
  }
  return keys;
}

LocalLayers parse_local_layers(const ordered_json& value, const std::string& place) {
  LocalLayers keys;
  const std::map<std::string, std::string*, std::less<>> texts = {
      {"theta", &keys.theta},
      {"local_theta", &keys.local_theta},
      {"every", &keys.every},
      {"window", &keys.window}};
  for (const auto& [name, held] : object_in(value, place).items()) {
    if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = text_in(held, place);
    } else if (name == "least_window" && held.is_number_unsigned() && held <= 1000) {
      keys.least_window = held.get<int>();
    } else if (name == "first_is_local") {
      keys.first_is_local = truth_in(held, place);
    } else if (name == "scales") {
      keys.scales = truth_in(held, place);
    } else {
      throw wrong_kind("unknown key '" + name + "', or a wrong value", place, held)
          .remedy("known: theta, local_theta, every, window, least_window, first_is_local, scales");
    }
  }
  for (const auto& [name, text] : texts) {
    if (text->empty()) throw wrong_kind("the key " + name + " is missing", place, value);
  }
  return keys;
}

std::vector<ConfigRule> parse_rules(const ordered_json& value, const std::string& place) {
  std::vector<ConfigRule> rules;
  for (const std::string& name : list_in(value, place)) {
    rules.push_back(find_config_rule(name));
    if (rules.back()) continue;
    throw wrong_kind("unknown rule", place, name).remedy("known: " + config_rule_names());
  }
  return rules;
}

std::vector<std::pair<std::string, std::string>> parse_pairs(const ordered_json& value,
                                                             const std::string& place) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, text] : object_in(value, place).items()) {
    pairs.emplace_back(name, text_in(text, place + "." + name));
  }
  return pairs;
}

/// Parses a section of a kind other than "like".
void parse_section(const std::string& name, const ordered_json& value, const std::string& place,
                   ConfigKind& kind) {
  if (const auto use =
          std::ranges::find(kKeyUses, name, [](const auto& each) { return each.first; });
      use != std::end(kKeyUses)) {
    parse_keys(use->second, value, place, kind.keys);
  } else if (name == "families") {
    kind.families = list_in(value, place);
    if (kind.families.empty()) throw wrong_kind("a kind has at least one family", place, value);
  } else if (name == "set") {
    MemberValues members = members_in(value, place);
    members.merge(kind.set);
    kind.set = std::move(members);
  } else if (name == "tensors") {
    kind.tensors = list_in(value, place);
  } else if (name == "flags") {
    parse_flags(value, place, kind.flags);
  } else if (name == "head") {
    kind.has_head = truth_in(value, place);
  } else if (name == "towers") {
    kind.towers = parse_pairs(value, place);
  } else if (name == "rules") {
    kind.rules = parse_rules(value, place);
  } else if (name == "local_layers") {
    kind.local_layers = parse_local_layers(value, place);
  } else if (name == "rotary") {
    kind.rotary = parse_rotary(value, place);
  } else if (name == "by_name") {
    kind.by_name.clear();
    for (const auto& [pattern, members] : object_in(value, place).items()) {
      kind.by_name.emplace_back(pattern, members_in(members, place));
    }
  } else if (name == "refuse") {
    kind.refused = parse_pairs(value, place);
  } else if (name == "defaults") {
    kind.defaults = std::make_shared<const json>(json::parse(object_in(value, place).dump()));
  } else {
    throw wrong_kind("unknown key '" + name + "'", place, value)
        .remedy(std::string("known: ") + kSections);
  }
}

/// Appends the kinds in `object` to `kinds`; "like" may name one of these or of `others`.
void add_kinds(const ordered_json& object, const std::string& family,
               std::span<const ConfigKind> others, std::vector<ConfigKind>& kinds) {
  const std::string root;
  for (const auto& [names, sections] : object_in(object, root).items()) {
    ConfigKind kind;
    if (const auto like = object_in(sections, names).find("like"); like != sections.end()) {
      const std::string name = text_in(*like, names);
      const auto own = std::ranges::find(kinds, name, &ConfigKind::name);
      const auto other = std::ranges::find(others, name, &ConfigKind::name);
      if (own == kinds.end() && other == others.end()) {
        throw wrong_kind("no kind before it has this name", names + ".like", *like);
      }
      kind = own != kinds.end() ? *own : *other;
      kind.defaults = nullptr;
    }
    kind.families = {family};
    std::vector<ConfigKey> taken_over = std::move(kind.keys);
    kind.keys.clear();
    for (const auto& [name, value] : sections.items()) {
      if (name != "like") parse_section(name, value, names + "." + name, kind);
    }
    kind.keys.insert(kind.keys.end(), taken_over.begin(), taken_over.end());
    for (const std::string& id : kind.families) {
      if (id.empty() ||
          std::ranges::find(family_files(), id, &FamilyFile::id) != family_files().end())
        continue;
      throw wrong_kind("no family has this id", names + ".families", id);
    }
    for (std::string& name : split_names(names)) {
      kinds.push_back(kind);
      kinds.back().name = std::move(name);
    }
  }
}

const ordered_json& shared_configuration() {
  static const ordered_json object = parse_ordered_json(shared_configuration_text());
  return object;
}

}  // namespace

std::vector<ConfigKind> parse_config_kinds(std::string_view json_text, const std::string& family) {
  std::vector<ConfigKind> kinds;
  add_kinds(parse_ordered_json(json_text), family, config_kinds(), kinds);
  return kinds;
}

const std::vector<ConfigKind>& config_kinds() {
  static const std::vector<ConfigKind> list = [] {
    std::vector<ConfigKind> kinds;
    add_kinds(shared_configuration().at("kinds"), "", {}, kinds);
    for (const FamilyFile& file : family_files()) {
      const ordered_json family = parse_ordered_json(file.text);
      const auto own = family.find("configuration");
      if (own != family.end()) add_kinds(*own, std::string(file.id), {}, kinds);
    }
    return kinds;
  }();
  return list;
}

const ConfigKind* find_config_kind(std::string_view name) {
  const auto found = std::ranges::find(config_kinds(), name, &ConfigKind::name);
  return found == config_kinds().end() ? nullptr : &*found;
}

const ConfigKind& config_kind(std::string_view name) {
  if (const ConfigKind* const found = find_config_kind(name)) return *found;
  throw Error(ErrorKind::unsupported, "internal error: no file describes this configuration")
      .about(std::string(name));
}

std::optional<std::string> unsupported_kind(std::string_view key, std::string_view name) {
  for (const auto& [pattern, what] :
       shared_configuration().at("unsupported").at(std::string(key)).items()) {
    if (matches_pattern(pattern, name)) return what.get<std::string>();
  }
  return std::nullopt;
}

json with_class_defaults(const json& object, const ConfigKind& kind) {
  json all = object;
  if (!kind.defaults) return all;
  for (const auto& [names, value] : kind.defaults->items()) {
    const std::vector<std::string> list = split_names(names);
    const bool has_one =
        std::ranges::any_of(list, [&](const std::string& name) { return object.contains(name); });
    if (!has_one) all[list.front()] = value;
  }
  return all;
}

}  // namespace attnscope
