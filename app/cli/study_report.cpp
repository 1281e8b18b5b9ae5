#include "app/cli/study_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/figure/figure_command.h"
#include "analysis/sweep/sweep.h"
#include "app/cli/interruption.h"
#include "app/cli/standard_streams.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

/// The outcome of each change of a series, as JSON and CSV.
Report outcomes_report(const StudyResult& result, const StudySeries& series) {
  std::vector<ColumnOf<StudyChange>> columns = {
      {json_only("name"), [](const auto& change) { return change.column.name; }},
      {{.name = "change", .title = "change", .left = true, .json = false},
       [](const auto& change) { return change.column.name; }},
      {{.name = "rank"},
       [](const auto& change) { return known_if(change.column.rank > 0, change.column.rank); }},
      {{.name = "layer"}, [](const auto& change) { return if_any(change.column.layer); }},
      {{.name = "head"}, [](const auto& change) { return if_any(change.column.head); }}};
  const auto add = [&columns](const char* name, auto member) {
    columns.push_back(
        {{.name = name}, [member](const auto& change) { return change.outcome.*member; }});
  };
  add("predicted", &Outcome::predicted);
  add("correct", &Outcome::correct);
  add("not_finite", &Outcome::not_finite);
  add("accuracy", &Outcome::accuracy);
  add("accuracy_error", &Outcome::accuracy_error);
  add("accuracy_change", &Outcome::accuracy_change);
  add("accuracy_change_error", &Outcome::accuracy_change_error);
  add("divergence", &Outcome::divergence);
  add("divergence_error", &Outcome::divergence_error);
  add("bits_per_token", &Outcome::bits_per_token);
  add("bits_per_token_error", &Outcome::bits_per_token_error);
  add("bits_per_character", &Outcome::bits_per_character);
  add("bits_per_character_error", &Outcome::bits_per_character_error);
  columns.push_back(with_error({.title = "accuracy", .per_cent = true}, &Outcome::accuracy,
                               &Outcome::accuracy_error, 100));
  columns.push_back(with_error({.title = "change (points)"}, &Outcome::accuracy_change,
                               &Outcome::accuracy_change_error, 100));
  columns.push_back(with_error({.title = "divergence (bits)", .decimals = 4}, &Outcome::divergence,
                               &Outcome::divergence_error));
  if (result.of_text) {
    columns.push_back(with_error({.title = "bits a character", .decimals = 4},
                                 &Outcome::bits_per_character, &Outcome::bits_per_character_error));
  }
  const auto index = static_cast<std::size_t>(&series - result.series.data());
  return report_of(changes_of(result, index), std::move(columns));
}

Report series_report(const StudyResult& result) {
  using Series = StudySeries;
  const auto outcomes = [&result](const Series& series) {
    return table_cell(outcomes_report(result, series));
  };
  const auto of_null = [](double NullOutcome::*member) {
    return [member](const Series& series) {
      const std::optional<NullOutcome> null = mean_null_of(series);
      return null ? ReportValue((*null).*member) : ReportValue();
    };
  };
  return report_on(result.series,
                   {{json_only("label"), &Series::label},
                    {csv_only("series"), &Series::label},
                    {json_only("model"), &Series::model},
                    {{.name = "mechanism"}, &Series::mechanism},
                    {csv_only("outcomes"), outcomes},
                    {json_only("questions"), &Series::done},
                    {{.name = "mean_equivalent_rank"},
                     [](const Series& series) { return if_any(mean_equivalent_rank(series)); }},
                    {{.name = "mean_null_rank"}, of_null(&NullOutcome::rank)},
                    {{.name = "mean_rank_over_null"}, of_null(&NullOutcome::rank_over_null)},
                    {json_only("greatest_rank"),
                     [](const Series& series) {
                       return known_if(series.greatest_rank > 0, series.greatest_rank);
                     }},
                    {json_only("outcomes"), outcomes}});
}

ordered_json study_as_json(const StudyResult& result, const std::vector<Subject>& subjects) {
  ordered_json models = ordered_json::array();
  for (const Subject& subject : subjects) {
    models.push_back({{"model", subject.model->file().string()},
                      {"assumptions", assumptions_as_json(subject.model->assumptions())},
                      {"status", status_as_json(subject.model->status())}});
  }
  return {{"data", result.data},
          {"of_text", result.of_text},
          {"items", result.of_text ? ordered_json() : ordered_json(result.items)},
          {"seed", result.seed},
          {"changed", result.description},
          {"threshold", result.threshold},
          {"series", report_as_json(series_report(result))},
          {"models", std::move(models)}};
}

/// Description of the questions: "500 of 10000 images, spread evenly (seed 0)", "all 12 stretches
/// of the text".
std::string questions_in_words(const StudyResult& result, const StudySeries& series) {
  const ItemChoice choice{series.count, result.seed};
  if (result.of_text) {
    return std::to_string(series.done) + (series.done == 1 ? " stretch" : " stretches") +
           " of the text";
  }
  return choice_in_words(result.items, choice, "images");
}

/// nullopt if it was interrupted; a message then explains how to resume.
std::optional<StudyResult> study_until_interrupted(const StudyRequest& request) {
  const Interruption interruption;
  bool kept = false, advanced = false;
  try {
    StudyResult result = [&] {
      const TerminalProgress line(interruption.token());
      return run_study(request, line.progress(), [&](const StudyResult&) {
        advanced = true;
        kept = !request.out.empty();
      });
    }();
    if (!advanced) {
      std::fprintf(stderr, "attnscope: %s holds this study already; --restart computes it again\n",
                   request.out.c_str());
    }
    return result;
  } catch (const Cancelled&) {
    std::fprintf(
        stderr, "attnscope: stopped; %s\n",
        kept ? ("the same command resumes from " + sweep_checkpoint(request.out).string()).c_str()
             : "nothing was kept");
    return std::nullopt;
  }
}

}  // namespace

void add_study_options(CLI::App& command, StudyArguments& arguments) {
  add_model_argument(command, arguments.models, true, true);
  add_data_set_option(command, arguments.data_set, "Labelled images");
  command
      .add_option(
          "--input", arguments.text,
          "Text for language models: a .txt file, FILE.txt#FIRST-LAST (characters), text:WORDS, "
          "ids:1,2,3, or - for standard input; read in stretches of the model's context")
      ->type_name("X");
  add_choice_options(command, arguments.choice,
                     "Number of images, or of stretches of the text (all)");
  command
      .add_option("--out", arguments.out,
                  "Keep every answer in an HDF5 file, for figures. After an interruption (Ctrl-C) "
                  "the same command resumes from FILE.unfinished")
      ->type_name("FILE");
  command.add_flag("--restart", arguments.restart,
                   "Start over: discard unfinished work, and replace a finished file");
  add_format_options(command, arguments.format, "a row for each change");
  add_mechanism_options(command, arguments.models);
}

std::vector<Subject> study_subjects(const StudyArguments& arguments) {
  std::vector<Subject> subjects;
  for (const std::string& text : arguments.models.models) {
    const ModelArgument argument = split_without_input(text);
    Subject subject;
    subject.model = load_model(argument.file, options_of(arguments.models, argument));
    const MechanismArgument laid =
        mechanism_argument(arguments.models, argument, subject.model->spec().mechanism);
    subject.mechanism = laid.choice;
    subject.parameters = laid.parameters;
    subject.label = subject_name(*subject.model, laid.choice);
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

StudyRequest study_request(const StudyArguments& arguments) {
  if (arguments.data_set.empty() == arguments.text.empty()) {
    throw Error(ErrorKind::usage, "give a data set of images, or a text")
        .expected("--dataset DATASET or --input TEXT");
  }
  StudyRequest request;
  request.choice = arguments.choice;
  request.restart = arguments.restart;
  request.out = arguments.out;
  std::vector<std::filesystem::path> read = files_read(arguments.models);
  if (arguments.text.empty()) {
    request.data_set = open_data_set(arguments.data_set);
    request.data = arguments.data_set;
    for (const std::filesystem::path& file : request.data_set->files()) read.push_back(file);
  } else {
    const Input input = open_input_argument(arguments.text);
    const Text* const text = std::get_if<Text>(&input.content);
    if (!text) {
      throw Error(ErrorKind::usage, "the input is not a text")
          .about("--input")
          .found(arguments.text)
          .remedy("images are judged with --dataset");
    }
    request.text = *text;
    request.data = arguments.text;
    read.push_back(file_of_locator(arguments.text));
  }
  if (!arguments.out.empty()) {
    refuse_standard_output(arguments.out, "a study resumes from its file after an interruption");
    refuse_to_overwrite(arguments.out, read);
    check_hdf5_name(arguments.out);
  }
  return request;
}

std::vector<StudyChange> changes_of(const StudyResult& result, std::size_t series) {
  std::vector<StudyChange> changes;
  for (const StudySeries::Column& column : result.series[series].columns) {
    changes.push_back({column, outcome_of(result, series, changes.size())});
  }
  return changes;
}

ColumnOf<StudyChange> with_error(ReportColumn column, double Outcome::*value,
                                 double Outcome::*error, double factor) {
  const int decimals = column.decimals;
  const char* const unit = column.per_cent ? " %" : "";
  return {std::move(column), nullptr, [=](const StudyChange& change) {
            return number_cell(factor * change.outcome.*value, 0, decimals) + " ±" +
                   number_cell(factor * change.outcome.*error, decimals + 3, decimals) + unit;
          }};
}

ColumnOf<StudyChange> not_finite_column() {
  return {{.left = true}, nullptr, [](const StudyChange& change) {
            const std::int64_t count = change.outcome.not_finite;
            return count > 0 ? std::to_string(count) + " not finite: wrong" : std::string();
          }};
}

int answer_study(
    const StudyArguments& arguments, const StudyRequest& request,
    const std::vector<Subject>& subjects,
    const std::function<std::string(const StudyResult& result, std::size_t series)>& as_text,
    const char* errors_of_images) {
  refuse_to_overwrite_read(arguments.out);
  const std::optional<StudyResult> result = study_until_interrupted(request);
  if (!result) return kInterruptedStatus;
  const auto text = [&] {
    std::string tables;
    for (std::size_t i = 0; i < result->series.size(); ++i) {
      const StudySeries& series = result->series[i];
      tables += series.label + ": " + series.mechanism + ", " +
                questions_in_words(*result, series) + "\n" + as_text(*result, i);
    }
    return tables + "errors: " +
           (result->of_text ? "standard deviations of 1000 resamples of the stretches"
                            : errors_of_images) +
           "\n";
  };
  print_results(
      arguments.format, subjects, text, [&] { return study_as_json(*result, subjects); },
      [&result] { return series_report(*result); });
  return 0;
}

}  // namespace attnscope
