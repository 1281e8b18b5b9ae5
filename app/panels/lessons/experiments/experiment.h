// Live experiments of lessons: sliders on numbers that are recomputed as they move. Each has its
// own file and a line in experiments.cpp.
#pragma once

#include <QString>
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
  /// Names of numbers that it publishes, which predictions of the lesson may be compared with.
  std::vector<std::string_view> readings = {};
};

[[nodiscard]] std::span<const ExperimentEntry> experiments();

/// Creates an experiment. Throws Error(damaged) listing the known names or settings.
[[nodiscard]] QWidget* make_experiment(const std::string& name, const ExperimentContext& context);

/// Publishes the present value of one of the experiment's readings, or (empty) withdraws it.
void publish_reading(QWidget& experiment, const QString& name, const QString& value);
/// The published value; empty if there is none.
[[nodiscard]] QString reading_of(const QWidget& experiment, const QString& name);
/// The tables and sentences that the experiment shows, as lines of plain text with cells separated
/// by tabs; empty if it shows none.
[[nodiscard]] QString shown_numbers(const QWidget& experiment);

}  // namespace attnscope
