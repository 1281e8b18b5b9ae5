#include "core/architecture/configuration/config_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// True if a key with this value has no effect.
bool is_off(const json& value) {
  // NOLINTNEXTLINE(readability-container-size-empty): empty() of a JSON text is false
  return value.is_null() || value == false || value == 0 || value == "" ||
         ((value.is_array() || value.is_object()) && value.empty());
}

[[noreturn]] void refuse(const std::string& key, std::string expected, const json& value) {
  throw Error(ErrorKind::unsupported, "the value in the configuration is not supported")
      .about(key)
      .expected(std::move(expected))
      .found(json_text(value))
      .remedy("--option ignore=config." + key + " if it does not change the computation");
}

/// Refuses whole numbers beyond 2^53, in arrays and objects, too: they are not exact in every
/// reader of JSON, and arithmetic with them overflows.
void refuse_large(const std::string& key, const json& value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (value.is_structured()) {
    for (const json& part : value) refuse_large(key, part);
  } else if (value.is_number_unsigned()
                 ? value.get<std::uint64_t>() > std::uint64_t{kMost}
                 : value.is_number_integer() && value.get<std::int64_t>() < -kMost) {
    refuse(key, "a whole number of at most 2^53", value);
  }
}

}  // namespace

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 200);
}

std::string activation_named(const std::string& name, const std::string& key) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"gelu", "gelu"},
      {"gelu_python", "gelu"},
      {"gelu_new", "gelu_tanh"},
      {"gelu_fast", "gelu_tanh"},
      {"gelu_tanh", "gelu_tanh"},
      {"gelu_pytorch_tanh", "gelu_tanh"},
      {"gelu_accurate", "gelu_tanh"},
      {"quick_gelu", "quick_gelu"},
      {"quickgelu", "quick_gelu"},
      {"silu", "silu"},
      {"swish", "silu"},
      {"relu", "relu"},
      {"relu2", "relu2"},
  };
  std::string names;
  for (const auto& [theirs, ours] : known) {
    if (theirs == name) return std::string(ours);
    names += (names.empty() ? "" : ", ") + std::string(theirs);
  }
  throw Error(ErrorKind::unsupported, "unknown activation").about(key).expected(names).found(name);
}

void forget_head(NeighbourConfig& config) {
  config.values.erase("readout");
  config.values.erase("labels");
  config.classes = -1;
}

bool ConfigReader::has(const std::string& key) const { return object_.contains(key); }

bool ConfigReader::flag(const std::string& key, bool usual) {
  const json& value = take_value(key);
  if (!has(key)) return usual;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_null() && !usual) return false;
  throw Error(ErrorKind::damaged, "the value has the wrong type")
      .about(key)
      .expected("true or false")
      .found(json_text(value));
}

/// BLOOM's files have `num_attention_heads: null` next to the number that `n_head` gives.
bool ConfigReader::says_under_another_name(const ConfigKey& key,
                                           std::span<const ConfigKey> keys) const {
  // Two required values may be the same without meaning the same.
  if (key.use == KeyUse::required) return false;
  return std::ranges::any_of(keys, [&](const ConfigKey& other) {
    if (other.use == KeyUse::required || other.what.empty() || other.what != key.what ||
        other.name == key.name)
      return false;
    const auto found = object_.find(other.name);
    return found != object_.end() && !found->is_null();
  });
}

void ConfigReader::take(std::span<const ConfigKey> keys) {
  for (const auto& [name, value] : object_.items()) {
    for (const ConfigKey& key : keys) {
      if (taken_.contains(name) || !matches_pattern(key.name, name)) continue;
      taken_.insert(name);
      if (value.is_null() && says_under_another_name(key, keys)) continue;
      take_one(key, name, value);
    }
  }
}

void ConfigReader::take(const ConfigKind& kind) {
  for (const auto& [member, value] : kind.set) config_.values[member] = value;
  take(kind.keys);
  for (const ConfigFlag& each : kind.flags) {
    for (const auto& [member, value] : each.values[flag(each.key, each.usual) ? 1 : 0]) {
      config_.values[member] = value;
      if (std::ranges::count(each.facts, member) > 0) config_.facts.insert(member);
    }
  }
}

void ConfigReader::take_one(const ConfigKey& key, const std::string& name, const json& value) {
  const std::string& member = key.what;
  switch (key.use) {
    case KeyUse::harmless:
      return;
    case KeyUse::cap:
      if (!value.is_null() && !value.is_number()) refuse(name, "a number, or null for none", value);
      config_.values[member] = value.is_null() ? "0" : value.dump();
      return;
    case KeyUse::member:
    case KeyUse::optional:
    case KeyUse::fact:
      if (value.is_null() && key.use != KeyUse::member) return;
      if (!value.is_number()) refuse(name, "a number", value);
      config_.values[member] = value.dump();
      if (key.use == KeyUse::fact) config_.facts.insert(member);
      return;
    case KeyUse::side: {
      const bool two = value.is_array() && value.size() == 2;
      const json &height = two ? value[0] : value, &width = two ? value[1] : value;
      if (!height.is_number_integer() || !width.is_number_integer()) {
        refuse(name, "a number of pixels, or two", value);
      }
      config_.values[member + "_height"] = height.dump();
      config_.values[member + "_width"] = width.dump();
      config_.facts.insert({member + "_height", member + "_width"});
      return;
    }
    case KeyUse::activation:
      if (!value.is_string()) refuse(name, "the name of an activation", value);
      config_.values["activation"] = activation_named(value.get<std::string>(), name);
      return;
    case KeyUse::required:
      // An off value is accepted unless the required value is on.
      if (value.dump() == key.what || (is_off(value) && is_off(json::parse(key.what)))) return;
      refuse(name, key.what, value);
  }
}

const json& ConfigReader::take_value(const std::string& key) {
  static const json nothing;
  taken_.insert(key);
  const auto found = object_.find(key);
  if (found == object_.end()) return nothing;
  refuse_large(key, *found);
  return *found;
}

json ConfigReader::take_rest(std::span<const std::string> kept) {
  json rest = json::object();
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(kept, name) != kept.end() || !taken_.insert(name).second) continue;
    rest[name] = value;
  }
  return rest;
}

void ConfigReader::finish(const std::string& prefix) {
  for (const auto& [name, value] : object_.items()) {
    if (taken_.contains(name) || is_off(value)) continue;
    config_.unknown.emplace_back(prefix + name, json_text(value));
  }
}

}  // namespace attnscope
