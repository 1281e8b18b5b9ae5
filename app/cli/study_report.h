// The common part of truncate and ablate: options, request, progress, output.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/intervention/study.h"
#include "analysis/report/report.h"
#include "app/cli/model_arguments.h"
#include "app/cli/table_format.h"

namespace attnscope {

struct StudyArguments {
  ModelArguments models;
  std::string data_set, text, out;
  ItemChoice choice;
  bool restart = false;
  TableFormat format = TableFormat::text;
};

/// Adds MODEL…, --dataset, --input, --count, --seed, --out, --restart, --json, --csv.
void add_study_options(CLI::App& command, StudyArguments& arguments);

/// The models with their mechanisms and labels, without running them.
[[nodiscard]] std::vector<Subject> study_subjects(const StudyArguments& arguments);

/// The request without its series, with the data set or text opened. Throws Error(usage).
[[nodiscard]] StudyRequest study_request(const StudyArguments& arguments);

/// Runs the request with a progress line and prints the result as table, JSON or CSV. `as_text`
/// returns the table of one series, which is printed below a line with its model and questions;
/// after the tables follows an explanation of their errors, which for images is
/// `errors_of_images`. Returns the exit status.
[[nodiscard]] int answer_study(
    const StudyArguments& arguments, const StudyRequest& request,
    const std::vector<Subject>& subjects,
    const std::function<std::string(const StudyResult& result, std::size_t series)>& as_text,
    const char* errors_of_images);

/// One column of a series and its outcome.
struct StudyChange {
  StudySeries::Column column;
  Outcome outcome;
};
/// The changes of a series, first the unchanged model.
[[nodiscard]] std::vector<StudyChange> changes_of(const StudyResult& result, std::size_t series);

/// Column of the text with `factor` times a value and its error, "12.34 ± 0.56"; the error may be
/// unknown (NaN).
[[nodiscard]] ColumnOf<StudyChange> with_error(ReportColumn column, double Outcome::*value,
                                               double Outcome::*error, double factor = 1);

/// The number of predictions that are not finite, at the end of a row.
[[nodiscard]] ColumnOf<StudyChange> not_finite_column();

}  // namespace attnscope
