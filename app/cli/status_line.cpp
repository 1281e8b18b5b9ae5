#include "app/cli/status_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/shown_text.h"

namespace attnscope {

namespace {

/// Appends "heads=3, activation=gelu"; long values are left out: stages=….
void add_assumption(std::string& list, const std::string& option, const std::string& value) {
  constexpr std::size_t longest_value = 24;
  list += (list.empty() ? "" : ", ") + option + "=" + (value.size() > longest_value ? "…" : value);
}

/// `about` introduces the assumptions: "assumed for vit.pt, which does not say: ".
std::string line_of(const ModelStatus& status, const std::string& name, const std::string& about,
                    const std::string& end) {
  if (status.state == ModelState::confirmed) return "confirmed: " + name + " " + status.reference;
  std::string assumed, slight;
  for (const Assumption& each : status.influential)
    add_assumption(assumed, each.option, each.value);
  for (const Assumption& each : status.harmless) add_assumption(slight, each.option, each.value);
  if (!assumed.empty()) assumed = about + assumed;
  if (!slight.empty()) {
    assumed += assumed.empty() ? about + "of little weight: " : "; of little weight: ";
    assumed += slight;
  }
  if (!assumed.empty()) assumed += end;
  if (status.state == ModelState::contradicted) {
    return "CONTRADICTED: " + name + " " + status.reference + (assumed.empty() ? "" : "; ") +
           assumed;
  }
  if (status.state == ModelState::known) return assumed;
  return "unconfirmed: " + assumed + (status.reference.empty() ? "" : "; it " + status.reference);
}

}  // namespace

std::string status_line(const Model& model) {
  const std::string name = model.file().filename().string();
  return shown_text(line_of(model.status(), name, "assumed for " + name + ", which does not say: ",
                            " (attnscope inspect " + model.file().string() + " says why)"));
}

std::string status_line(const Trace& trace) {
  return shown_text(line_of(recorded_status(trace.provenance), trace.model_name,
                            "assumed when " + trace.model_name + " was recorded: ", ""));
}

std::string status_line(const Subject& subject) {
  if (subject.model) return status_line(*subject.model);
  return subject.trace ? status_line(*subject.trace) : std::string();
}

std::vector<std::string> status_lines(const std::vector<Subject>& subjects) {
  std::vector<std::string> lines;
  for (const Subject& subject : subjects) {
    std::string words = status_line(subject);
    if (words.empty() || std::ranges::find(lines, words) != lines.end()) continue;
    lines.push_back(std::move(words));
  }
  return lines;
}

void print_status(std::FILE* stream, const std::vector<Subject>& subjects) {
  for (const std::string& line : status_lines(subjects)) {
    std::fprintf(stream, "%s\n", line.c_str());
  }
}

void print_status(std::FILE* stream, const Model& model, const char* before) {
  const std::string line = status_line(model);
  if (!line.empty()) std::fprintf(stream, "%s%s\n", before, line.c_str());
}

nlohmann::ordered_json status_as_json(const ModelStatus& status) {
  static constexpr const char* kWords[] = {"known", "confirmed", "unconfirmed", "contradicted"};
  const auto options = [](const std::vector<Assumption>& list) {
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const Assumption& each : list) names.push_back(each.option);
    return names;
  };
  nlohmann::ordered_json reference;
  if (!status.reference.empty()) reference = status.reference;
  return {{"state", kWords[static_cast<std::size_t>(status.state)]},
          {"assumed", options(status.influential)},
          {"of_little_weight", options(status.harmless)},
          {"reference", std::move(reference)}};
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
