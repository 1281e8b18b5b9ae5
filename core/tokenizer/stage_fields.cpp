#include "core/tokenizer/stage_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace attnscope {

StageFields::StageFields(const nlohmann::json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "a part of the tokenizer is not a JSON object").about(place_);
  }
}

Error StageFields::refused(const std::string& key, std::string expected) const {
  const auto found = object_.find(key);
  std::string text = found == object_.end() ? "nothing" : found->dump(-1, ' ', true);
  if (text.size() > 80) text = text.substr(0, 80) + "…";
  return Error(ErrorKind::damaged, "the tokenizer's setting is invalid")
      .about(place_of(key))
      .expected(std::move(expected))
      .found(std::move(text));
}

void StageFields::for_each(
    const std::string& key,
    const std::function<void(const nlohmann::json&, const std::string&)>& use) {
  const nlohmann::json& items = at(key);
  if (!items.is_array()) throw refused(key, "a list");
  for (std::size_t i = 0; i < items.size(); ++i) {
    use(items[i], place_of(key) + "[" + std::to_string(i) + "]");
  }
}

const nlohmann::json* StageFields::find(const std::string& key) {
  asked_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json& StageFields::at(const std::string& key) {
  const nlohmann::json* const found = find(key);
  if (!found) throw refused(key, "a value");
  return *found;
}

std::optional<std::string> StageFields::optional_text(const std::string& key) {
  const nlohmann::json* const found = find(key);
  if (!found) return std::nullopt;
  if (!found->is_string()) throw refused(key, "a string");
  return found->get<std::string>();
}

std::string StageFields::text(const std::string& key) {
  const auto found = optional_text(key);
  if (!found) throw refused(key, "a string");
  return *found;
}

bool StageFields::flag(const std::string& key, std::optional<bool> if_missing) {
  const nlohmann::json* const found = find(key);
  if (found && found->is_boolean()) return found->get<bool>();
  if (found || !if_missing) throw refused(key, "true or false");
  return *if_missing;
}

std::int64_t StageFields::whole(const std::string& key, std::optional<std::int64_t> if_missing) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const nlohmann::json* const found = find(key);
  if (!found && if_missing) return *if_missing;
  if (!found || !found->is_number_unsigned() || found->get<std::uint64_t>() > most) {
    throw refused(key, "a whole number");
  }
  return found->get<std::int64_t>();
}

SplitPattern StageFields::pattern(const std::string& key) {
  const nlohmann::json& value = at(key);
  if (value.is_object() && value.size() == 1 && value.begin().value().is_string()) {
    const auto text = value.begin().value().get<std::string>();
    if (value.begin().key() == "String") return SplitPattern::literal(text);
    if (value.begin().key() == "Regex") return SplitPattern::regular_expression(text);
  }
  throw refused(key, R"({"String": …} or {"Regex": …})");
}

void StageFields::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (asked_.contains(key)) continue;
    throw Error(ErrorKind::unsupported, "this setting of a tokenizer is not known")
        .about(place_of(key))
        .found(value.dump(-1, ' ', true).substr(0, 80));
  }
}

}  // namespace attnscope
