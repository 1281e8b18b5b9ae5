// What the figures of studies share: truncation and ablation.
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

/// The study the setting "file" names. Throws as read_study, and Error(usage) for one of another
/// kind.
[[nodiscard]] StudyResult study_shown(const Settings& read, StudyKind kind);

/// One number of an outcome that figures show.
struct OutcomeMeasure {
  std::string_view name;   ///< "accuracy": of the setting
  std::string_view title;  ///< with its unit: an axis
  double factor;           ///< from Outcome to that unit
  double Outcome::*value;
  double Outcome::*error;  ///< null for none
  bool of_text;            ///< known of texts alone
};

/// "accuracy", "divergence", …
[[nodiscard]] const std::vector<OutcomeMeasure>& outcome_measures();
/// Throws Error(usage) listing the names.
[[nodiscard]] const OutcomeMeasure& outcome_measure(std::string_view name);

/// What tells the series apart.
[[nodiscard]] std::vector<std::string> study_labels(const StudyResult& result);

/// "10000 images of train-images-idx3-ubyte: fashion-softmax (softmax)…", and how many are done
/// where it is not finished.
[[nodiscard]] std::string study_in_words(const StudyResult& result);

/// How the errors were found.
[[nodiscard]] std::string errors_in_words(const StudyResult& result);

}  // namespace attnscope
