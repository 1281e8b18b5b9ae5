// Comparisons of trainings: variants of one recipe, each with several seeds, in one folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/training/run_folder.h"
#include "core/parameters/parameters.h"
#include "core/progress.h"

namespace attnscope {

/// Settings of a variant that differ from the shared recipe.
struct TrainingVariant {
  std::string name;   ///< name in folder names: "adder-identity"
  std::string label;  ///< label in figures: "adder layers, adder + I"
  ParameterValues changes;
};

struct TrainingStudy {
  std::string_view name;    ///< "adder-rank"
  std::string_view title;   ///< one line about what is compared
  std::string_view source;  ///< "Adder, Fig. 2, 3"
  std::vector<TrainingVariant> variants;
  std::string_view needs = {};  ///< key that the recipe must set, "from"; empty: none
};

/// All studies that can be trained.
[[nodiscard]] std::span<const TrainingStudy> training_studies();
/// Finds a study by name. Throws Error(usage) listing the studies.
[[nodiscard]] const TrainingStudy& find_training_study(std::string_view name);

/// The study with some of its variants, in their order: those whose name is one of the texts in
/// `chosen`, which commas separate, or whose name or label contains a text that is no variant's
/// name. Throws Error(usage) listing all variants if a text selects none.
[[nodiscard]] TrainingStudy with_variants(TrainingStudy study, const std::string& chosen);

/// The recipe of a variant's run: the shared one with the variant's changes. Throws Error(usage).
[[nodiscard]] Recipe recipe_of_variant(const Recipe& recipe, const TrainingVariant& one,
                                       std::int64_t seed);

/// Throws Error(usage) if the study sets one of the `given` settings itself, or the recipe lacks
/// the one that it needs, and the errors of a TrainingRun for data that do not fit a variant.
/// `named` is the name of a setting in errors, such as its option.
void check_training_study(const TrainingStudy& study, const Recipe& recipe,
                          std::span<const std::string> given,
                          const std::function<std::string(const std::string& key)>& named);

/// One run of a study, in FOLDER/VARIANT-seedN.
struct StudyRun {
  std::size_t variant = 0;
  std::int64_t seed = 1;
  RunFolder folder;
};

/// A study in a folder; study.json holds its name, its seeds and, unless it has all, its variants.
struct StudyFolder {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path description() const { return folder / "study.json"; }
};

/// Makes the folder with study.json and the recipe of every run; seeds count from the recipe's own.
/// A variant's changes override the recipe. Throws Error(usage) if the folder exists and holds
/// anything but remains of an interrupted begin_study.
void begin_study(const StudyFolder& folder, const TrainingStudy& study, const Recipe& recipe,
                 std::int64_t seeds);

/// The runs of a study: all its variants with the first seed, then all with the second, …, so that
/// finished runs can be compared at any time. Throws Error(usage) for a folder without a study.
[[nodiscard]] std::vector<StudyRun> runs_of(const StudyFolder& folder);
/// The study in the folder, with the variants that it was begun with. Throws like runs_of.
[[nodiscard]] TrainingStudy study_of(const StudyFolder& folder);

/// Callback after every step of every run.
using StudyStepDone = std::function<void(const StudyRun& one, const TrainingRun& run)>;

/// Trains every unfinished run, one after the other, each resumed from its state. Throws Error;
/// Cancelled, with the state saved.
void train_study(const StudyFolder& folder, const Progress& progress,
                 const StudyStepDone& step_done = {});

}  // namespace attnscope
