#include "app/cli/study_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/figure/figure_command.h"
#include "analysis/sweep/sweep.h"
#include "analysis/tables/study_report.h"
#include "app/cli/interruption.h"
#include "app/cli/standard_streams.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

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
          {"threshold", result.threshold.level},
          {"share", name_of(rank_share_names, result.threshold.of)},
          {"series", report_as_json(series_report(result))},
          {"models", std::move(models)}};
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
          "ids:1,2,3, or - for standard input; read in chunks of the model's context")
      ->type_name("X");
  add_choice_options(command, arguments.choice, "Number of images, or of chunks of the text (all)");
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
    for (const std::filesystem::path& file : files_of_locator(arguments.text)) {
      read.push_back(file);
    }
  }
  if (!arguments.out.empty()) {
    refuse_standard_output(arguments.out, "a study resumes from its file after an interruption");
    refuse_to_overwrite(arguments.out, read);
    check_hdf5_name(arguments.out);
  }
  return request;
}

int answer_study(const StudyArguments& arguments, const StudyRequest& request,
                 const std::vector<Subject>& subjects) {
  refuse_to_overwrite_read(arguments.out);
  const std::optional<StudyResult> result = study_until_interrupted(request);
  if (!result) return kInterruptedStatus;
  const auto text = [&] {
    // The unchanged model of an ablation is in the line above the table.
    const bool with_whole = result->kind == StudyKind::truncation;
    std::string tables;
    for (std::size_t i = 0; i < result->series.size(); ++i) {
      tables += series_in_words(*result, i) + "\n" +
                report_as_text(changes_report(*result, i, with_whole)) + "\n";
    }
    return tables + study_errors_in_words(*result);
  };
  print_results(
      arguments.format, subjects, text, [&] { return study_as_json(*result, subjects); },
      [&result] { return series_report(*result); });
  return 0;
}

}  // namespace attnscope
