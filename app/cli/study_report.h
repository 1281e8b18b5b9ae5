// What truncate and ablate have in common: what they ask, where their work is kept, what they
// print.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/intervention/study.h"
#include "app/cli/model_arguments.h"

namespace attnscope {

struct StudyArguments {
  ModelArguments models;
  std::string data_set, text, out;
  ItemChoice choice;
  double checkpoint_seconds = 5;
  bool restart = false, json = false, csv = false;
};

/// MODEL…, --dataset, --input, --count, --seed, --out, --restart, --json, --csv.
void add_study_options(CLI::App& command, StudyArguments& arguments);

/// The models with their mechanisms and labels, none of them run.
[[nodiscard]] std::vector<Subject> study_subjects(const StudyArguments& arguments);

/// The request but for its series, with data set or text opened. Throws Error(usage).
[[nodiscard]] StudyRequest study_request(const StudyArguments& arguments);

/// Runs it with a line of progress. None if it was interrupted; then it has said how to go on.
[[nodiscard]] std::optional<StudyResult> study_until_interrupted(const StudyRequest& request);

/// "500 of 10000 images, spread evenly (seed 0)", "all 12 stretches of the text".
[[nodiscard]] std::string questions_in_words(const StudyResult& result, const StudySeries& series);

/// The outcome of a column, key by key; what is not known is null.
[[nodiscard]] nlohmann::ordered_json outcome_json(const StudyResult& result, std::size_t series,
                                                  std::size_t column);

/// Everything: the series with their columns, and what was assumed of the models.
void print_study_json(const StudyResult& result, const std::vector<Subject>& subjects);
/// A row for each series and column.
void print_study_csv(const StudyResult& result);

}  // namespace attnscope
