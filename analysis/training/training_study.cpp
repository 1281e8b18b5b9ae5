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

TrainingVariant variant(const char* name, const char* label, const char* arithmetic,
                        const char* mechanism) {
  return {name,
          label,
          {{"arithmetic", std::string(arithmetic)}, {"mechanism", std::string(mechanism)}}};
}

/// Adder layers and attention with the given gradients with respect to layer inputs and scores.
TrainingVariant adder_gradients(const char* name, const char* label, const char* inputs,
                                const char* scores, const char* mechanism = "adder") {
  TrainingVariant made = variant(name, label, "adder", mechanism);
  made.changes["input_gradient"] = std::string(inputs);
  made.changes["score_gradient"] = std::string(scores);
  return made;
}

/// Head widths at a total width of 64 and with one head, × linear layers × attention. All
/// attentions of a width follow each other, first with multiplicative layers, so that widths can be
/// compared early.
std::vector<TrainingVariant> widths_of_heads() {
  constexpr std::int64_t kTotalWidth = 64;
  struct Attention {
    const char *name, *label, *mechanism;
  };
  constexpr Attention attentions[] = {{"softmax", "softmax", "softmax"},
                                      {"adder", "adder", "adder"},
                                      {"adder-identity", "adder + I", "adder,identity=true"}};
  std::vector<TrainingVariant> variants;
  const auto add = [&](const char* arithmetic, std::int64_t width, std::int64_t heads) {
    const bool adder = std::string_view(arithmetic) == "adder";
    const std::string shape = std::to_string(width) + "x" + std::to_string(heads);
    const std::string words = "d = " + std::to_string(width) + ", H = " + std::to_string(heads);
    for (const Attention& one : attentions) {
      const std::string name = shape + "-" + arithmetic + "-" + one.name;
      const std::string label = words + (adder ? ", adder layers, " : ", ") + one.label;
      TrainingVariant made = variant(name.c_str(), label.c_str(), arithmetic, one.mechanism);
      made.changes["width"] = width * heads;
      made.changes["model_heads"] = heads;
      variants.push_back(std::move(made));
    }
  };
  for (const char* const arithmetic : {"multiplicative", "adder"}) {
    for (const std::int64_t width : {64, 32, 16, 8}) add(arithmetic, width, kTotalWidth / width);
    for (const std::int64_t width : {32, 16, 8}) add(arithmetic, width, 1);
  }
  return variants;
}

std::vector<TrainingStudy> all_studies() {
  return {
      {"adder-rank",
       "linear layers × attention: is it the scores or the layers that change the rank?",
       "Adder, Fig. 2, 3",
       {variant("multiplicative-softmax", "multiplicative, softmax", "multiplicative", "softmax"),
        variant("multiplicative-adder", "multiplicative, adder", "multiplicative", "adder"),
        variant("multiplicative-adder-identity", "multiplicative, adder + I", "multiplicative",
                "adder,identity=true"),
        variant("adder-softmax", "adder layers, softmax", "adder", "softmax"),
        variant("adder-adder", "adder layers, adder", "adder", "adder"),
        variant("adder-adder-identity", "adder layers, adder + I", "adder",
                "adder,identity=true")}},
      {"adder-width",
       "head width 8 to 64, at a total width of 64 and with one head × linear layers × attention",
       "Adder, Section 3.2.2", widths_of_heads()},
      {"adder-gradients",
       "gradients of adder layers × of adder scores, and identity",
       "Adder, Table 3",
       {adder_gradients("sign-sign", "layers sign, scores sign", "sign", "sign"),
        adder_gradients("sign-hardtanh", "layers sign, scores HardTanh", "sign", "hard_tanh"),
        adder_gradients("hardtanh-hardtanh", "layers HardTanh, scores HardTanh", "hard_tanh",
                        "hard_tanh"),
        adder_gradients("hardtanh-sign", "layers HardTanh, scores sign", "hard_tanh", "sign"),
        adder_gradients("hardtanh-sign-identity", "layers HardTanh, scores sign, + I", "hard_tanh",
                        "sign", "adder,identity=true")}},
      {"adder-parts",
       "linear layers {multiplicative, adder} × attention {dot product, adder}",
       "Adder, Table 4",
       {variant("multiplicative-softmax", "multiplicative, dot product", "multiplicative",
                "softmax"),
        variant("adder-softmax", "adder layers, dot product", "adder", "softmax"),
        variant("multiplicative-adder", "multiplicative, adder", "multiplicative",
                "adder,identity=true"),
        variant("adder-adder", "adder layers, adder", "adder", "adder,identity=true")}},
  };
}

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

std::span<const TrainingStudy> training_studies() {
  static const std::vector<TrainingStudy> list = all_studies();
  return list;
}

const TrainingStudy& find_training_study(std::string_view name) {
  for (const TrainingStudy& study : training_studies()) {
    if (study.name == name) return study;
  }
  throw unknown_name("study", name, name_list(training_studies(), &TrainingStudy::name));
}

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
      ParameterValues values = recipe.values();
      for (const auto& [key, value] : one.changes) values.insert_or_assign(key, value);
      values["seed"] = seed;
      const RunFolder run = run_folder(folder, one, seed);
      fs::create_directories(run.folder);
      write_file(run.recipe(), Recipe(values).to_json());
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
