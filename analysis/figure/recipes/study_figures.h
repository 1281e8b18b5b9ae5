// Settings and texts shared by the figures of truncation and ablation studies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/intervention/study.h"

namespace attnscope {

/// Figures of studies show no subjects.
inline constexpr FigureNeeds study_needs{.subject = SubjectNeed::none,
                                         .least = 0,
                                         .setting = "file",
                                         .unset = "needs the result of a study"};

[[nodiscard]] ParameterDescription study_file_setting(const std::string& command);

/// The study in the file of the setting "file". Throws like read_study, and Error(usage) for a
/// study of another kind.
[[nodiscard]] StudyResult study_shown(const Settings& read, StudyKind kind);

/// A number of an outcome that figures show.
struct OutcomeMeasure {
  std::string_view name;   ///< "accuracy": name in the setting
  std::string_view title;  ///< title of an axis, with its unit
  double factor;           ///< conversion from Outcome to that unit
  double Outcome::*value;
  double Outcome::*error;  ///< null if there is no error
  bool of_text;            ///< defined only for texts
};

/// All measures: "accuracy", "divergence", …
[[nodiscard]] const std::vector<OutcomeMeasure>& outcome_measures();
/// Finds a measure by name. Throws Error(usage) listing the names.
[[nodiscard]] const OutcomeMeasure& outcome_measure(std::string_view name);

/// Short labels that distinguish the series.
[[nodiscard]] std::vector<std::string> study_labels(const StudyResult& result);

/// The series with their mechanisms and numbers of items, for a caption: "fashion-softmax (softmax,
/// 10000 images) on train-images-idx3-ubyte".
[[nodiscard]] std::string study_in_words(const StudyResult& result);

/// Description of how the errors are computed.
[[nodiscard]] std::string errors_in_words(const StudyResult& result);

}  // namespace attnscope
