// The common part of truncate and ablate: options, request, progress, output.
#pragma once

#include <string>
#include <vector>

#include "analysis/intervention/study.h"
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

/// Runs the request with a progress line and prints the result as table, JSON or CSV. Returns the
/// exit status.
[[nodiscard]] int answer_study(const StudyArguments& arguments, const StudyRequest& request,
                               const std::vector<Subject>& subjects);

}  // namespace attnscope
