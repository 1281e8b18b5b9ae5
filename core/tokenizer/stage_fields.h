// Members of one stage in a tokenizer.json. Every member must be read: unknown members are refused,
// never skipped.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/budget.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/tokenizer/split_pattern.h"

namespace attnscope {

class StageFields {
 public:
  /// `place`: name of the object in errors, "normalizer". Throws Error(damaged) unless `object` is
  /// a JSON object.
  StageFields(const nlohmann::json& object, std::string place);

  /// The member `key`; null if it is missing or null.
  [[nodiscard]] const nlohmann::json* find(const std::string& key);
  [[nodiscard]] const nlohmann::json& at(const std::string& key);
  [[nodiscard]] std::string text(const std::string& key);
  [[nodiscard]] std::optional<std::string> optional_text(const std::string& key);
  [[nodiscard]] bool flag(const std::string& key, std::optional<bool> if_missing = std::nullopt);
  /// An integer from 0 to 2^53.
  [[nodiscard]] std::int64_t whole(const std::string& key,
                                   std::optional<std::int64_t> if_missing = std::nullopt);
  /// A pattern given as {"String": …} or {"Regex": …}.
  [[nodiscard]] SplitPattern pattern(const std::string& key);
  /// Calls `use` with each item of the list `key` and the item's name in errors.
  void for_each(const std::string& key,
                const std::function<void(const nlohmann::json&, const std::string&)>& use);
  [[nodiscard]] std::string place_of(const std::string& key) const { return place_ + "." + key; }

  /// An error that names the member.
  [[nodiscard]] Error refused(const std::string& key, std::string expected) const;
  /// Throws Error(unsupported) naming a member that was not read.
  void finish() const;

 private:
  const nlohmann::json& object_;
  std::string place_;
  std::set<std::string> asked_;
};

/// Entry of the list of a kind of stage.
template <class Stage>
struct StageKind {
  std::string_view name;  ///< "type" in JSON
  Stage (*make)(StageFields&);
};

/// Charges the work of a stage to the rule `place`, which errors then name. This overload is for
/// models, which are not charged.
template <class Stage>
[[nodiscard]] Stage charged_to(const std::string&, Stage stage) {
  return stage;
}
template <class Result, class... Arguments>
[[nodiscard]] std::function<Result(Arguments...)> charged_to(
    const std::string& place, std::function<Result(Arguments...)> stage) {
  return [place, stage = std::move(stage)](Arguments... arguments) -> Result {
    const WorkRule rule(place);
    return stage(std::forward<Arguments>(arguments)...);
  };
}

/// Makes the stage described by `object`. Throws Error(unsupported) for an unknown type, naming it
/// and the known ones.
template <class Stage, std::size_t n>
[[nodiscard]] Stage make_stage(const StageKind<Stage> (&kinds)[n], const nlohmann::json& object,
                               const std::string& place) {
  const WorkRule rule(place);
  StageFields fields(object, place);
  const std::string type = fields.text("type");
  for (const StageKind<Stage>& kind : kinds) {
    if (kind.name != type) continue;
    Stage stage = kind.make(fields);
    fields.finish();
    return charged_to(place, std::move(stage));
  }
  throw Error(ErrorKind::unsupported, "this part of a tokenizer is not implemented")
      .about(place)
      .expected(name_list(kinds, &StageKind<Stage>::name))
      .found(type);
}

/// The stages in the list `key` of a stage, each made by `make(item, name in errors)`.
template <class Stage>
[[nodiscard]] std::vector<Stage> make_stages(StageFields& fields, const std::string& key,
                                             Stage (*make)(const nlohmann::json&,
                                                           const std::string&)) {
  std::vector<Stage> stages;
  fields.for_each(key, [&](const nlohmann::json& item, const std::string& place) {
    stages.push_back(make(item, place));
  });
  return stages;
}

}  // namespace attnscope
