#include "app/cli/assumptions.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace attnscope {

namespace {

/// "heads=3, activation=gelu"; long values are left out: stages=….
void add_assumption(std::string& list, const std::string& option, const std::string& value) {
  constexpr std::size_t longest_value = 24;
  list += (list.empty() ? "" : ", ") + option + "=" + (value.size() > longest_value ? "…" : value);
}

}  // namespace

std::string assumptions_in_words(const Model& model) {
  std::string list;
  for (const Assumption& assumption : model.assumptions()) {
    if (!assumption.stated) add_assumption(list, assumption.option, assumption.value);
  }
  if (list.empty()) return {};
  const std::string file = model.file().string();
  return "assumed for " + model.file().filename().string() + ", which does not say: " + list +
         " (attnscope inspect " + file + " says why)";
}

std::string assumptions_in_words(const Trace& trace) {
  constexpr std::string_view assumed = "assumed ";
  std::string list;
  for (const auto& [key, value] : trace.provenance) {
    if (key.starts_with(assumed)) add_assumption(list, key.substr(assumed.size()), value);
  }
  return list.empty() ? list : "assumed when " + trace.model_name + " was recorded: " + list;
}

std::string assumptions_in_words(const Subject& subject) {
  if (subject.model) return assumptions_in_words(*subject.model);
  return subject.trace ? assumptions_in_words(*subject.trace) : std::string();
}

void print_assumptions(std::FILE* stream, const std::vector<Subject>& subjects) {
  std::set<std::string> said;
  for (const Subject& subject : subjects) {
    const std::string words = assumptions_in_words(subject);
    if (!words.empty() && said.insert(words).second) std::fprintf(stream, "%s\n", words.c_str());
  }
}

nlohmann::ordered_json assumptions_as_json(const std::vector<Assumption>& assumptions) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Assumption& assumption : assumptions) {
    list.push_back({{"option", assumption.option},
                    {"value", assumption.value},
                    {"reason", assumption.reason},
                    {"stated", assumption.stated}});
  }
  return list;
}

}  // namespace attnscope
