#include "app/cli/assumptions.h"

#include <nlohmann/json.hpp>
#include <set>

namespace attnscope {

std::string assumptions_in_words(const Model& model) {
  constexpr std::size_t longest_value = 24;
  std::string list;
  for (const Assumption& assumption : model.assumptions()) {
    if (assumption.stated) continue;
    const bool is_long = assumption.value.size() > longest_value;
    list +=
        (list.empty() ? "" : ", ") + assumption.option + "=" + (is_long ? "…" : assumption.value);
  }
  if (list.empty()) return {};
  const std::string file = model.file().string();
  return "assumed for " + model.file().filename().string() + ", which does not say: " + list +
         " (attnscope inspect " + file + " says why)";
}

void print_assumptions(std::FILE* stream, const std::vector<Subject>& subjects) {
  std::set<const Model*> said;
  for (const Subject& subject : subjects) {
    if (!subject.model || !said.insert(subject.model.get()).second) continue;
    const std::string words = assumptions_in_words(*subject.model);
    if (!words.empty()) std::fprintf(stream, "%s\n", words.c_str());
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
