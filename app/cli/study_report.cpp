#include "app/cli/study_report.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/figure/figure_command.h"
#include "analysis/sweep/sweep.h"
#include "app/cli/interruption.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

ordered_json if_known(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

ordered_json if_any(std::int64_t value) { return value < 0 ? ordered_json() : ordered_json(value); }

/// The numbers of an outcome with their CSV names, in a fixed order.
std::vector<std::pair<const char*, double>> numbers_of(const Outcome& outcome) {
  return {{"accuracy", outcome.accuracy},
          {"accuracy_error", outcome.accuracy_error},
          {"accuracy_change", outcome.accuracy_change},
          {"accuracy_change_error", outcome.accuracy_change_error},
          {"divergence", outcome.divergence},
          {"divergence_error", outcome.divergence_error},
          {"bits_per_token", outcome.bits_per_token},
          {"bits_per_token_error", outcome.bits_per_token_error},
          {"bits_per_character", outcome.bits_per_character},
          {"bits_per_character_error", outcome.bits_per_character_error}};
}

ordered_json outcome_json(const StudyResult& result, std::size_t series, std::size_t column) {
  const Outcome outcome = outcome_of(result, series, column);
  ordered_json object = {{"predicted", outcome.predicted},
                         {"correct", outcome.correct},
                         {"not_finite", outcome.not_finite}};
  for (const auto& [name, value] : numbers_of(outcome)) object[name] = if_known(value);
  return object;
}

ordered_json column_json(const StudyResult& result, std::size_t series, std::size_t column) {
  const StudySeries::Column& of = result.series[series].columns[column];
  ordered_json object = {{"name", of.name},
                         {"rank", of.rank > 0 ? ordered_json(of.rank) : ordered_json()},
                         {"layer", if_any(of.layer)},
                         {"head", if_any(of.head)}};
  object.update(outcome_json(result, series, column));
  return object;
}

void print_study_json(const StudyResult& result, const std::vector<Subject>& subjects) {
  ordered_json list = ordered_json::array();
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    const StudySeries& series = result.series[s];
    ordered_json columns = ordered_json::array();
    for (std::size_t c = 0; c < series.columns.size(); ++c) {
      columns.push_back(column_json(result, s, c));
    }
    const auto rank = mean_equivalent_rank(series);
    const std::optional<NullOutcome> null = mean_null_of(series);
    list.push_back(
        {{"label", series.label},
         {"model", series.model},
         {"mechanism", series.mechanism},
         {"questions", series.done},
         {"mean_equivalent_rank", rank ? ordered_json(*rank) : ordered_json()},
         {"mean_null_rank", null ? ordered_json(null->rank) : ordered_json()},
         {"mean_rank_over_null", null ? ordered_json(null->rank_over_null) : ordered_json()},
         {"greatest_rank",
          series.greatest_rank > 0 ? ordered_json(series.greatest_rank) : ordered_json()},
         {"outcomes", std::move(columns)}});
  }
  ordered_json models = ordered_json::array();
  for (const Subject& subject : subjects) {
    models.push_back({{"model", subject.model->file().string()},
                      {"assumptions", assumptions_as_json(subject.model->assumptions())},
                      {"status", status_as_json(subject.model->status())}});
  }
  print_json({{"data", result.data},
              {"of_text", result.of_text},
              {"items", result.of_text ? ordered_json() : ordered_json(result.items)},
              {"seed", result.seed},
              {"changed", result.description},
              {"threshold", result.threshold},
              {"series", std::move(list)},
              {"models", std::move(models)}});
}

void print_study_csv(const StudyResult& result) {
  std::printf("series,mechanism,change,rank,layer,head,predicted,correct,not_finite");
  for (const auto& [name, value] : numbers_of({})) std::printf(",%s", name);
  std::printf(",mean_equivalent_rank,mean_null_rank,mean_rank_over_null\n");
  const auto known = [](double value) {
    return std::isnan(value) ? std::string() : rounded_text(value, 9);
  };
  const auto index = [](std::int64_t value, std::int64_t least) {
    return value < least ? std::string() : std::to_string(value);
  };
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    const StudySeries& series = result.series[s];
    const auto rank = mean_equivalent_rank(series);
    const std::optional<NullOutcome> null = mean_null_of(series);
    for (std::size_t c = 0; c < series.columns.size(); ++c) {
      const StudySeries::Column& column = series.columns[c];
      const Outcome outcome = outcome_of(result, s, c);
      std::printf("%s,%s,%s,%s,%s,%s,%lld,%lld,%lld", csv_field(series.label).c_str(),
                  csv_field(series.mechanism).c_str(), csv_field(column.name).c_str(),
                  index(column.rank, 1).c_str(), index(column.layer, 0).c_str(),
                  index(column.head, 0).c_str(), static_cast<long long>(outcome.predicted),
                  static_cast<long long>(outcome.correct),
                  static_cast<long long>(outcome.not_finite));
      for (const auto& [name, value] : numbers_of(outcome))
        std::printf(",%s", known(value).c_str());
      std::printf(",%s,%s,%s\n", rank ? known(*rank).c_str() : "",
                  null ? known(null->rank).c_str() : "",
                  null ? known(null->rank_over_null).c_str() : "");
    }
  }
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
  CLI::Option* const json = add_json_flag(command, arguments.json);
  command.add_flag("--csv", arguments.csv, "Print a row for each change as CSV")->excludes(json);
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

std::string questions_in_words(const StudyResult& result, const StudySeries& series) {
  const ItemChoice choice{series.count, result.seed};
  if (result.of_text) {
    return std::to_string(series.done) + (series.done == 1 ? " stretch" : " stretches") +
           " of the text";
  }
  return choice_in_words(result.items, choice, "images");
}

std::string with_error(double value, double error, int width, int decimals) {
  return number_cell(value, width, decimals) + " ±" + number_cell(error, decimals + 3, decimals);
}

void end_row(const Outcome& outcome) {
  if (outcome.not_finite > 0) {
    std::printf("  %lld not finite: wrong", static_cast<long long>(outcome.not_finite));
  }
  std::printf("\n");
}

int answer_study(const StudyArguments& arguments, const StudyRequest& request,
                 const std::vector<Subject>& subjects,
                 const std::function<void(const StudyResult& result, std::size_t series)>& print,
                 const char* errors_of_images) {
  refuse_to_overwrite_read(arguments.out);
  const std::optional<StudyResult> result = study_until_interrupted(request);
  if (!result) return kInterruptedStatus;
  if (arguments.json) {
    print_study_json(*result, subjects);
  } else if (arguments.csv) {
    print_study_csv(*result);
  } else {
    for (std::size_t i = 0; i < result->series.size(); ++i) print(*result, i);
    std::printf("errors: %s\n", result->of_text
                                    ? "standard deviations of 1000 resamples of the stretches"
                                    : errors_of_images);
  }
  if (!arguments.json) print_status(arguments.csv ? stderr : stdout, subjects);
  return 0;
}

}  // namespace attnscope
