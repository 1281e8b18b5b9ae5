// Creation of descriptions of settings.
#include <utility>

#include "core/error.h"
#include "core/parameters/parameters.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

ParameterDescription described(std::string name, ParameterKind kind, ParameterValue otherwise,
                               std::string explanation) {
  ParameterDescription description;
  description.name = std::move(name);
  description.kind = kind;
  description.default_value = std::move(otherwise);
  description.explanation = std::move(explanation);
  return description;
}

}  // namespace

ParameterDescription ParameterDescription::or_word(std::vector<std::string> more) && {
  words.insert(words.end(), more.begin(), more.end());
  return std::move(*this);
}

ParameterDescription ParameterDescription::by_default(std::string word) && {
  default_value = std::move(word);
  return std::move(*this);
}

ParameterDescription ParameterDescription::in(std::string of) && {
  unit = std::move(of);
  return std::move(*this);
}

namespace setting {

ParameterDescription flag(std::string name, bool otherwise, std::string explanation) {
  return described(std::move(name), ParameterKind::flag, otherwise, std::move(explanation));
}

ParameterDescription whole(std::string name, std::int64_t otherwise, Bounds bounds,
                           std::string explanation) {
  ParameterDescription description =
      described(std::move(name), ParameterKind::whole, otherwise, std::move(explanation));
  description.bounds = bounds;
  return description;
}

ParameterDescription number(std::string name, double otherwise, Bounds bounds,
                            std::string explanation) {
  ParameterDescription description =
      described(std::move(name), ParameterKind::number, otherwise, std::move(explanation));
  description.bounds = bounds;
  return description;
}

ParameterDescription choice(std::string name, std::vector<std::string> choices,
                            std::string_view otherwise, std::string explanation) {
  ParameterDescription description = described(std::move(name), ParameterKind::choice,
                                               std::string(otherwise), std::move(explanation));
  description.choices = std::move(choices);
  return description;
}

ParameterDescription text(std::string name, std::string otherwise, std::string explanation) {
  return described(std::move(name), ParameterKind::text, std::move(otherwise),
                   std::move(explanation));
}

ParameterDescription file(std::string name, std::string explanation) {
  return described(std::move(name), ParameterKind::file, std::string(), std::move(explanation));
}

ParameterDescription indices(std::string name, std::string_view otherwise,
                             std::string explanation) {
  ParameterDescription description =
      described(std::move(name), ParameterKind::indices, IndexRanges(), std::move(explanation));
  if (!otherwise.empty()) description.default_value = parse_parameter(description, otherwise);
  return description;
}

ParameterDescription numbers(std::string name, std::vector<double> otherwise, Bounds bounds,
                             std::string explanation) {
  ParameterDescription description = described(std::move(name), ParameterKind::numbers,
                                               std::move(otherwise), std::move(explanation));
  description.bounds = bounds;
  return description;
}

ParameterDescription names(std::string name, std::vector<std::string> choices,
                           std::vector<std::string> otherwise, std::string explanation) {
  ParameterDescription description = described(std::move(name), ParameterKind::names,
                                               std::move(otherwise), std::move(explanation));
  description.choices = std::move(choices);
  return description;
}

}  // namespace setting

const ParameterDescription* find_description(std::span<const ParameterDescription> descriptions,
                                             std::string_view name) {
  for (const ParameterDescription& description : descriptions) {
    if (description.name == name) return &description;
  }
  return nullptr;
}

const ParameterDescription& description_of(std::string_view owner,
                                           std::span<const ParameterDescription> descriptions,
                                           std::string_view name) {
  if (const ParameterDescription* found = find_description(descriptions, name)) return *found;
  const std::string known = name_list(descriptions, &ParameterDescription::name);
  throw unknown_name("parameter of " + std::string(owner), name, known.empty() ? "none" : known);
}

}  // namespace attnscope
