#include "analysis/training/training_study.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "analysis/training/training_history.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/read_file.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestDescription = std::size_t{1} << 20;  // size in bytes

/// True if `chosen`, a variant's name or a part of names and labels, selects the variant.
bool selects(const std::string& chosen, const TrainingStudy& study, const TrainingVariant& one) {
  const bool whole =
      std::ranges::find(study.variants, chosen, &TrainingVariant::name) != study.variants.end();
  if (whole) return one.name == chosen;
  return one.name.find(chosen) != std::string::npos || one.label.find(chosen) != std::string::npos;
}

/// Contents of study.json.
struct StudyDescription {
  TrainingStudy study;
  std::vector<std::int64_t> seeds;
};

StudyDescription description_in(const StudyFolder& folder) {
  if (!fs::exists(folder.description())) {
    throw Error(ErrorKind::usage, "the folder holds no study")
        .in_file(folder.folder)
        .expected("study.json");
  }
  return with_file(folder.description(), [&] {
    const auto json = parse_json(read_file(folder.description(), kLongestDescription));
    const bool complete = json.is_object() && json.contains("study") &&
                          json.at("study").is_string() && json.contains("seeds") &&
                          json.at("seeds").is_array();
    if (!complete)
      throw Error(ErrorKind::damaged, "the study's description must hold a name and seeds");
    for (const auto& seed : json.at("seeds")) {
      if (!seed.is_number_integer()) throw Error(ErrorKind::damaged, "a seed must be an integer");
    }
    TrainingStudy study = find_training_study(json.at("study").get<std::string>());
    if (json.contains("variants")) {
      if (!json.at("variants").is_string()) {
        throw Error(ErrorKind::damaged, "the study's variants must be names with commas between");
      }
      study = with_variants(std::move(study), json.at("variants").get<std::string>());
    }
    return StudyDescription{std::move(study), json.at("seeds").get<std::vector<std::int64_t>>()};
  });
}

RunFolder run_folder(const StudyFolder& folder, const TrainingVariant& one, std::int64_t seed) {
  return {folder.folder / (one.name + "-seed" + std::to_string(seed))};
}

/// True if the last step is made, tested and logged.
bool is_done(const RunFolder& folder) {
  if (!fs::exists(folder.log())) return false;
  const auto last = static_cast<double>(recipe_of(folder).steps());
  const TrainingLog log = read_training_log(folder.log());
  for (const char* const table : {"steps/step", "tests/step", "probes/step"}) {
    if (log.last(table).value_or(last) != last) return false;
  }
  return log.find("steps/step") != nullptr;
}

/// True for the folder of a study's run that holds at most a recipe, as a study leaves it that is
/// killed while it is being made.
bool is_unbegun_run(const fs::path& folder) {
  if (!fs::is_directory(folder) || folder.filename().string().find("-seed") == std::string::npos) {
    return false;
  }
  const fs::path recipe = RunFolder{folder}.recipe();
  return std::ranges::all_of(fs::directory_iterator(folder), [&](const auto& entry) {
    return entry.path().filename() == recipe.filename() || is_abandoned(entry.path(), recipe);
  });
}

}  // namespace

TrainingStudy with_variants(TrainingStudy study, const std::string& chosen) {
  std::vector<std::string> parts;
  std::istringstream stream(chosen);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto selected = [&](const TrainingVariant& one) { return selects(part, study, one); };
    if (part.empty() || std::ranges::none_of(study.variants, selected)) {
      throw unknown_name("variant of " + std::string(study.name), part,
                         name_list(study.variants, &TrainingVariant::name));
    }
    parts.push_back(part);
  }
  std::vector<TrainingVariant> kept;
  for (const TrainingVariant& one : study.variants) {
    const auto by = [&](const std::string& part) { return selects(part, study, one); };
    if (std::ranges::any_of(parts, by)) kept.push_back(one);
  }
  study.variants = std::move(kept);
  return study;
}

Recipe recipe_of_variant(const Recipe& recipe, const TrainingVariant& one, std::int64_t seed) {
  ParameterValues values = recipe.values();
  for (const auto& [key, value] : one.changes) values.insert_or_assign(key, value);
  values["seed"] = seed;
  return Recipe(values);
}

void check_training_study(const TrainingStudy& study, const Recipe& recipe,
                          std::span<const std::string> given,
                          const std::function<std::string(const std::string&)>& named) {
  const std::string needed(study.needs);
  for (const TrainingVariant& variant : study.variants) {
    for (const auto& [key, value] : variant.changes) {
      // A key that the study needs may be that of some variants alone.
      if (key == needed || std::ranges::find(given, key) == given.end()) continue;
      throw Error(ErrorKind::usage, "the study sets this option itself")
          .about(named(key))
          .remedy("leave it out, or train a run without a study");
    }
  }
  if (!needed.empty() && std::get<std::string>(recipe.values().at(needed)).empty()) {
    throw Error(ErrorKind::usage, "the study needs this option")
        .about(named(needed))
        .expected(description_of("a recipe", recipe_settings(), needed).explanation);
  }
  const auto data = open_training_data(recipe.data());
  const auto seed = static_cast<std::int64_t>(recipe.data().seed);
  for (const TrainingVariant& one : study.variants) {
    (void)TrainingRun(recipe_of_variant(recipe, one, seed), data);
  }
}

void begin_study(const StudyFolder& folder, const TrainingStudy& study, const Recipe& recipe,
                 std::int64_t seeds) {
  make_new_folder(folder.description(), "study", is_unbegun_run);
  const auto first = static_cast<std::int64_t>(recipe.data().seed);
  nlohmann::ordered_json description = {{"study", study.name}, {"seeds", nlohmann::json::array()}};
  if (study.variants.size() < find_training_study(study.name).variants.size()) {
    description["variants"] = name_list(study.variants, &TrainingVariant::name, ",");
  }
  for (std::int64_t seed = first; seed < first + seeds; ++seed) {
    description["seeds"].push_back(seed);
    for (const TrainingVariant& one : study.variants) {
      const RunFolder run = run_folder(folder, one, seed);
      fs::create_directories(run.folder);
      write_file(run.recipe(), recipe_of_variant(recipe, one, seed).to_json());
    }
  }
  write_file(folder.description(), description.dump(2) + "\n");
}

TrainingStudy study_of(const StudyFolder& folder) { return description_in(folder).study; }

std::vector<StudyRun> runs_of(const StudyFolder& folder) {
  const StudyDescription description = description_in(folder);
  const std::vector<TrainingVariant>& variants = description.study.variants;
  std::vector<StudyRun> runs;
  for (const std::int64_t seed : description.seeds) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      runs.push_back({i, seed, run_folder(folder, variants[i], seed)});
    }
  }
  return runs;
}

void train_study(const StudyFolder& folder, const Progress& progress,
                 const StudyStepDone& step_done) {
  for (const StudyRun& one : runs_of(folder)) {
    if (is_done(one.folder)) continue;
    (void)train(one.folder, progress.silent(), [&](const TrainingRun& run) {
      if (step_done) step_done(one, run);
    });
  }
}

}  // namespace attnscope
