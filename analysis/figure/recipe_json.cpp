#include "analysis/figure/recipe_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr EnumName<ParameterKind> kind_names[] = {
    {ParameterKind::flag, "flag"},       {ParameterKind::whole, "whole"},
    {ParameterKind::number, "number"},   {ParameterKind::choice, "choice"},
    {ParameterKind::text, "text"},       {ParameterKind::file, "file"},
    {ParameterKind::indices, "indices"}, {ParameterKind::numbers, "numbers"},
    {ParameterKind::names, "names"}};

Json value_as_json(const ParameterValue& value) {
  if (std::holds_alternative<IndexRanges>(value)) return to_string(value);  // "0,2-3"
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, IndexRanges>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

Json setting_as_json(const ParameterDescription& setting) {
  Json object = {{"name", setting.name},
                 {"type", name_of(kind_names, setting.kind)},
                 {"default", value_as_json(setting.default_value)}};
  if (std::isfinite(setting.bounds.minimum)) object["minimum"] = setting.bounds.minimum;
  if (std::isfinite(setting.bounds.maximum)) object["maximum"] = setting.bounds.maximum;
  if (!setting.unit.empty()) object["unit"] = setting.unit;
  if (!setting.choices.empty()) object["choices"] = setting.choices;
  if (!setting.words.empty()) object["words"] = setting.words;
  object["range"] = range_of(setting);
  object["explanation"] = setting.explanation;
  return object;
}

Json needs_as_json(const FigureNeeds& needs) {
  Json object = {{"subjects", name_of(subject_need_names, needs.subject)}, {"least", needs.least}};
  if (needs.most > 0) object["most"] = needs.most;
  if (needs.input != InputNeed::any) object["input"] = name_of(input_need_names, needs.input);
  if (!needs.mechanism.empty()) object["mechanism"] = needs.mechanism;
  if (needs.readout) object["readout"] = true;
  if (!needs.setting.empty()) object["setting"] = needs.setting;
  return object;
}

}  // namespace

std::string figures_as_json() {
  Json list = Json::array();
  for (const FigureRecipe& recipe : figure_recipes()) {
    Json settings = Json::array();
    for (const ParameterDescription& setting : recipe.settings) {
      settings.push_back(setting_as_json(setting));
    }
    list.push_back({{"name", recipe.name},
                    {"title", recipe.title},
                    {"source", recipe.source},
                    {"needs", needs_as_json(recipe.needs)},
                    {"settings", std::move(settings)}});
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attnscope
