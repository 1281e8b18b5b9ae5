// attnscope sweep: spectra and ranks of models over a whole data set.
#include "analysis/sweep/sweep.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/sweep/process_team.h"
#include "analysis/sweep/team_sweep.h"
#include "analysis/tables/sweep_report.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/interruption.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/platform/process.h"

namespace attnscope {

namespace {

/// True if the environment names more than one process: Open MPI's mpirun, MPICH's PMI, or PMIx
/// (srun).
bool runs_under_mpi() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const size = std::getenv(name)) return std::string_view(size) != "1";
  }
  return std::getenv("PMIX_RANK") != nullptr;
}

std::filesystem::path plug_in() {
  constexpr const char* kFile = "libattnscope-mpi.so";
  // An unknown program's file must not lead to the current folder.
  const std::filesystem::path program = program_file();
  const std::filesystem::path folder = program.parent_path();
  for (const std::filesystem::path& path :
       {folder / kFile, folder.parent_path() / "lib" / "attnscope" / kFile}) {
    std::error_code ignored;
    if (!program.empty() && std::filesystem::exists(path, ignored)) return path;
  }
  throw Error(ErrorKind::unsupported,
              "the program was started as one of several processes, but built without MPI")
      .expected((folder / kFile).string())
      .remedy("build with libopenmpi-dev installed, or start a single process");
}

/// The team of processes started together with this one by mpirun or srun; null if this process
/// was started alone. Throws Error(unsupported) if it was not and the MPI plug-in
/// (libattnscope-mpi.so) is missing, because each process would then do all the work and write the
/// same file.
std::unique_ptr<ProcessTeam> process_team_here() {
  if (!runs_under_mpi()) return nullptr;
  void* const make =
      load_function(plug_in(), "attnscope_make_team", "the plug-in for MPI cannot be loaded");
  return std::unique_ptr<ProcessTeam>(reinterpret_cast<ProcessTeam* (*)()>(make)());
}

struct SweepArguments {
  ModelArguments models;
  std::string data_set;
  ItemChoice choice{10'000};
  std::int64_t first = 0, end = 0;
  std::string out;
  std::string identity = "as-is";
  AnalysedArgument analysed;
  bool head_numbers = false, baselines = false;
  std::optional<double> at_entropy = {};
  std::vector<double> thresholds = {0.9};
  RankShare share = RankShare::values;
  double checkpoint_seconds = 5;
  bool restart = false;
  TableFormat format = TableFormat::text;
};

std::string swept_as_text(const SweepResult& result, const std::string& out) {
  std::string text = out + ": " + swept_items_in_words(result);
  for (const SweepSeries& series : result.series) {
    const auto index = static_cast<std::size_t>(&series - result.series.data());
    text += swept_series_in_words(series) + report_as_text(swept_layers_report(result, index));
    if (result.numbers.heads) text += report_as_text(swept_heads_report(series));
  }
  return text;
}

nlohmann::ordered_json swept_as_json(const SweepResult& result,
                                     const std::vector<Subject>& subjects, const std::string& out) {
  nlohmann::ordered_json json = {{"file", out},
                                 {"data_set", result.data_set},
                                 {"first", result.first},
                                 {"count", result.count},
                                 {"items", result.items},
                                 {"seed", result.seed},
                                 {"thresholds", result.thresholds},
                                 {"share", name_of(rank_share_names, result.share)}};
  add_analysed(json, result.numbers.analysed);
  if (result.numbers.at_entropy) json["at_entropy"] = *result.numbers.at_entropy;
  json["series"] = nlohmann::ordered_json::array();
  for (const SweepSeries& series : result.series) {
    const auto index = static_cast<std::size_t>(&series - result.series.data());
    json["series"].push_back({{"label", series.label},
                              {"model", series.model},
                              {"mechanism", series.mechanism},
                              {"identity", series.identity},
                              {"labelled", series.labelled},
                              {"correct", series.correct},
                              {"layers", report_as_json(swept_layers_report(result, index))}});
  }
  json["assumed"] = status_lines(subjects);
  return json;
}

/// nullopt if it was interrupted; a message then explains how to resume. A null `team` means a
/// single process.
std::optional<SweepResult> sweep_until_interrupted(const SweepRequest& request, ProcessTeam* team,
                                                   const Interruption& interruption) {
  bool anything_done = false;
  std::int64_t done = 0, count = 0;
  try {
    SweepResult result = [&] {
      const TerminalProgress line(interruption.token());
      const auto advanced = [&](const SweepResult& so_far) {
        anything_done = true;
        done = so_far.done;
        count = so_far.count;
      };
      return team == nullptr ? run_sweep(request, line.progress(), advanced)
                             : lead_sweep(*team, request, line.progress(), advanced);
    }();
    if (!anything_done) {
      std::fprintf(stderr, "attnscope: %s holds this sweep already; --restart computes it again\n",
                   request.out.c_str());
    }
    return result;
  } catch (const Cancelled&) {
    if (anything_done) {
      std::fprintf(stderr,
                   "attnscope: stopped after %lld of %lld inputs; the same command resumes from "
                   "there (%s)\n",
                   static_cast<long long>(done), static_cast<long long>(count),
                   sweep_checkpoint(request.out).c_str());
    } else {
      std::fprintf(stderr, "attnscope: stopped; the same command resumes where this one began\n");
    }
    return std::nullopt;
  }
}

SweepRequest make_request(const SweepArguments& arguments) {
  SweepRequest request;
  request.views = identity_views(arguments.identity);
  refuse_standard_output(arguments.out, "a sweep resumes from its file after an interruption");
  std::vector<std::filesystem::path> read = files_read(arguments.models);
  request.data_set = open_data_set(arguments.data_set);
  for (const std::filesystem::path& file : request.data_set->files()) read.push_back(file);
  refuse_to_overwrite(arguments.out, read);
  check_hdf5_name(arguments.out);
  request.data_set_path = arguments.data_set;
  request.subjects = make_subjects_without_traces(arguments.models);
  refuse_to_overwrite_read(arguments.out);
  request.first = arguments.first;
  request.end = arguments.end;
  request.choice = arguments.choice;
  request.thresholds = arguments.thresholds;
  request.share = arguments.share;
  request.numbers = {analysed_of(arguments.analysed), arguments.head_numbers, arguments.baselines,
                     arguments.at_entropy};
  request.out = arguments.out;
  request.restart = arguments.restart;
  request.checkpoint_seconds = arguments.checkpoint_seconds;
  return request;
}

/// Runs the part of a process other than the first. Only the first process reports errors and
/// prints the result.
int assist(ProcessTeam& team, const SweepArguments& arguments) {
  const Interruption interruption;
  try {
    const SweepRequest request = make_request(arguments);
    assist_sweep(team, request, Progress({}, interruption.token()));
  } catch (const std::exception& why) {
    refuse_to_assist(team, why);
  }
  return 0;
}

/// The request of the first process. If it is invalid, the other processes of the team are
/// dismissed.
SweepRequest leading_request(const SweepArguments& arguments, ProcessTeam* team) {
  try {
    return make_request(arguments);
  } catch (...) {
    if (team != nullptr) dismiss_team(*team);
    throw;
  }
}

int run(const SweepArguments& arguments) {
  const std::unique_ptr<ProcessTeam> team = process_team_here();
  if (team && team->rank() > 0) return assist(*team, arguments);
  const Interruption interruption;
  const SweepRequest request = leading_request(arguments, team.get());
  const std::optional<SweepResult> swept =
      sweep_until_interrupted(request, team.get(), interruption);
  if (!swept) return kInterruptedStatus;
  const SweepResult& result = *swept;
  print_results(
      arguments.format, request.subjects,
      [&] {
        return swept_as_text(result, arguments.out) +
               (team ? "shared by " + std::to_string(team->size()) + " processes\n" : "");
      },
      [&] { return swept_as_json(result, request.subjects, arguments.out); },
      [&result] { return swept_layers_report(result); });
  return 0;
}

}  // namespace

Action add_sweep(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<SweepArguments>();
  added = parent.add_subcommand("sweep", "Spectra and ranks over a whole data set");
  add_model_argument(*added, arguments->models, true, true);
  add_data_set_option(*added, arguments->data_set, "Images")->required();
  add_choice_options(*added, arguments->choice, "Number of inputs, at most");
  add_value_option(*added, "--first", arguments->first, "First item that is swept", "N")
      ->check(CLI::NonNegativeNumber);
  added
      ->add_option("--end", arguments->end,
                   "First item that is no longer swept: --end 50 sweeps the first 50")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  added
      ->add_option("--out", arguments->out,
                   "The result, an HDF5 file. After an interruption (Ctrl-C) the same command "
                   "resumes from FILE.unfinished")
      ->required()
      ->type_name("FILE");
  add_identity_option(*added, arguments->identity);
  added
      ->add_option("--threshold", arguments->thresholds,
                   "Threshold of the equivalent rank, above 0, at most 1; may be repeated")
      ->type_name("T")
      ->allow_extra_args(false)
      ->capture_default_str();
  add_share_option(*added, arguments->share);
  add_analysed_options(*added, arguments->analysed);
  added->add_flag(
      "--head-numbers", arguments->head_numbers,
      "Also compute every number of attnscope heads: distances, ranks without sinks, norms");
  added->add_flag("--baselines", arguments->baselines,
                  "Also compute ranks of null models: maps with shuffled rows, and rank / null");
  add_entropy_option(*added, arguments->at_entropy);
  add_value_option(*added, "--checkpoint-seconds", arguments->checkpoint_seconds,
                   "Seconds between two writes of unfinished work", "SECONDS")
      ->check(CLI::NonNegativeNumber);
  added->add_flag("--restart", arguments->restart,
                  "Start over: discard unfinished work, and replace a finished file");
  add_format_options(*added, arguments->format, "a row for each layer");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope sweep softmax.h5 adder.h5 --dataset t10k-images.gz --out sweep.h5",
                "attnscope figure sweep-spectrum --set file=sweep.h5 --out spectrum.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
