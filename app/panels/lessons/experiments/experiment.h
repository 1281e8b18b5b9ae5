// Live experiments of lessons: sliders on numbers that are recomputed as they move. Each has its
// own file and a line in experiments.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

class QWidget;

namespace attnscope {

class LessonLoan;
class Session;
class SpectrumStore;

/// Data that an experiment may use, and the settings in its lesson.
struct ExperimentContext {
  Session& session;
  SpectrumStore& spectra;
  LessonLoan& loan;  ///< must be told before an experiment changes the session
  std::map<std::string, std::string> settings;
};

struct ExperimentEntry {
  std::string_view name;
  std::vector<std::string_view> settings;  ///< known names
  QWidget* (*make)(const ExperimentContext& context);
};

[[nodiscard]] std::span<const ExperimentEntry> experiments();

/// Creates an experiment. Throws Error(damaged) listing the known names or settings.
[[nodiscard]] QWidget* make_experiment(const std::string& name, const ExperimentContext& context);

}  // namespace attnscope
