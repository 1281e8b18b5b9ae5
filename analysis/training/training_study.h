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

/// What a variant sets in the recipe that all share.
struct TrainingVariant {
  std::string name;   ///< of folders: "adder-identity"
  std::string label;  ///< shown: "adder layers, adder + I"
  ParameterValues changes;
};

struct TrainingStudy {
  std::string_view name;    ///< "adder-rank"
  std::string_view title;   ///< what it compares
  std::string_view source;  ///< "Adder, Fig. 2, 3"
  std::vector<TrainingVariant> variants;
};

/// One line a study.
[[nodiscard]] std::span<const TrainingStudy> training_studies();
/// Throws Error(usage) listing the studies.
[[nodiscard]] const TrainingStudy& find_training_study(std::string_view name);

/// One of a study's runs; it lies in FOLDER/VARIANT-seedN.
struct StudyRun {
  std::size_t variant = 0;
  std::int64_t seed = 1;
  RunFolder folder;
};

/// A study in a folder: which, of what recipe, with how many seeds, is said in study.json.
struct StudyFolder {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path description() const { return folder / "study.json"; }
};

/// Makes the folder with study.json and the recipe of every run, seeds from the recipe's own on.
/// Throws Error(usage) if the folder is there and holds anything, and for changes that the recipe
/// sets itself.
void begin_study(const StudyFolder& folder, const TrainingStudy& study, const Recipe& recipe,
                 std::int64_t seeds);

/// Its runs: all variants with the first seed, then all with the second, …: what is done can be
/// compared at any time. Throws Error(usage) for a folder without a study.
[[nodiscard]] std::vector<StudyRun> runs_of(const StudyFolder& folder);
/// The study in the folder. Throws so too.
[[nodiscard]] const TrainingStudy& study_of(const StudyFolder& folder);

/// Called after every step of every run.
using StudyStepDone = std::function<void(const StudyRun& one, const TrainingRun& run)>;

/// Trains every run that is not at its end, one after the other; each goes on from where it was.
/// Throws Error; Cancelled, with the state saved.
void train_study(const StudyFolder& folder, const Progress& progress,
                 const StudyStepDone& step_done = {});

}  // namespace attnscope
