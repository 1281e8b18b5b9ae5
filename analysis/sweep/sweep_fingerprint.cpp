#include "analysis/sweep/sweep_fingerprint.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/sweep/content_hash.h"
#include "analysis/sweep/statistics.h"
#include "core/architecture/model_spec_json.h"
#include "core/checkpoint/weight_files.h"

namespace attnscope {

nlohmann::json subject_fingerprint(const std::string& label, const Subject& subject) {
  const Model& model = *subject.model;
  std::string read_as = to_json(model.spec());
  for (const Assumption& each : model.assumptions()) {
    read_as += "\n" + each.option + "=" + each.value;
  }
  return {label, content_hash(weight_files(model.file())), to_string(subject.mechanism),
          subject.parameters ? content_hash(*subject.parameters) : std::string(),
          content_hash(read_as)};
}

std::string sweep_fingerprint(const SweepRequest& request) {
  using nlohmann::json;
  json subjects = json::array();
  for (const Subject& subject : request.subjects) {
    subjects.push_back(subject_fingerprint(subject.label, subject));
  }
  std::vector<std::filesystem::path> data = request.data_set->files();
  if (data.empty()) data = {request.data_set_path};
  json views = json::array();
  for (const IdentityView view : request.views) views.push_back(static_cast<int>(view));
  json statistics = json::array();
  for (const SweepStatistic& statistic : sweep_statistics()) statistics.push_back(statistic.name);
  json all = {{"version", ATTNSCOPE_VERSION},
              {"subjects", subjects},
              {"data_set", content_hash(data)},
              {"size", request.data_set->size()},
              {"first", request.first},
              {"count", chosen_count(request.items(), request.choice)},
              {"seed", request.choice.seed},
              {"thresholds", request.thresholds},
              {"views", views},
              {"statistics", statistics},
              {"numbers", in_words(request.numbers)}};
  if (request.end > 0) all["items"] = request.items();
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string fingerprint_difference(const std::string& one, const std::string& other) {
  using nlohmann::json;
  // Keys of the fingerprint with their names in messages.
  constexpr std::pair<const char*, const char*> kParts[] = {
      {"version", "the version of the program"},
      {"subjects", "the models"},
      {"data_set", "the contents of the data set"},
      {"size", "the size of the data set"},
      {"first", "the first input"},
      {"items", "the last input"},
      {"count", "the number of inputs"},
      {"seed", "the seed"},
      {"thresholds", "the thresholds"},
      {"views", "the view of the identity"},
      {"statistics", "the statistics of each map"},
      {"numbers", "the further numbers"},
      {"changes", "the changes to the maps"}};
  const json a = json::parse(one, nullptr, false), b = json::parse(other, nullptr, false);
  if (!a.is_object() || !b.is_object()) return one == other ? "" : "everything";
  std::string words;
  for (const auto& [key, part] : kParts) {
    if (a.value(key, json()) == b.value(key, json())) continue;
    words += (words.empty() ? "" : ", ") + std::string(part);
  }
  return words;
}

}  // namespace attnscope
