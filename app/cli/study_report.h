// What truncate and ablate have in common: what they ask, where their work is kept, what they
// print.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/intervention/study.h"
#include "app/cli/model_arguments.h"

namespace attnscope {

struct StudyArguments {
  ModelArguments models;
  std::string data_set, text, out;
  ItemChoice choice;
  bool restart = false, json = false, csv = false;
};

/// MODEL…, --dataset, --input, --count, --seed, --out, --restart, --json, --csv.
void add_study_options(CLI::App& command, StudyArguments& arguments);

/// The models with their mechanisms and labels, none of them run.
[[nodiscard]] std::vector<Subject> study_subjects(const StudyArguments& arguments);

/// The request but for its series, with data set or text opened. Throws Error(usage).
[[nodiscard]] StudyRequest study_request(const StudyArguments& arguments);

/// Runs it with a line of progress and prints the answer as it is asked for: a table is printed
/// series by series by `print`, and below it what its errors are, of images or of a text. Returns
/// the exit status.
[[nodiscard]] int answer_study(
    const StudyArguments& arguments, const StudyRequest& request,
    const std::vector<Subject>& subjects,
    const std::function<void(const StudyResult& result, std::size_t series)>& print,
    const char* errors_of_images);

/// "500 of 10000 images, spread evenly (seed 0)", "all 12 stretches of the text".
[[nodiscard]] std::string questions_in_words(const StudyResult& result, const StudySeries& series);

/// "12.34 ± 0.56"; the error alone may be unknown.
[[nodiscard]] std::string with_error(double value, double error, int width, int decimals);

/// The end of an outcome's row: how many predictions were no numbers.
void end_row(const Outcome& outcome);

}  // namespace attnscope
