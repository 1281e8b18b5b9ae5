// attnscope sweep: spectra and ranks of models over a whole data set.
#include "analysis/sweep/sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>

#include "analysis/heads/head_table.h"
#include "analysis/report/report.h"
#include "analysis/sweep/process_team.h"
#include "analysis/sweep/sweep_summary.h"
#include "analysis/sweep/team_sweep.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/interruption.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/platform/process.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

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
  std::vector<double> thresholds = {0.9};
  double checkpoint_seconds = 5;
  bool restart = false;
  bool json = false;
};

double mean_of(const LayerSweep& layer, std::string_view statistic) {
  const auto found = layer.statistics.find(std::string(statistic));
  return found == layer.statistics.end() ? std::nan("") : swept_statistic(found->second, -1).mean;
}

/// Means over heads and inputs, one row per layer, without columns that are empty for all layers.
Report head_numbers(const SweepSeries& series) {
  using Layer = LayerSweep;
  std::vector<ColumnOf<Layer>> columns = {
      {{.title = "layer", .width = 7}, [&series](const Layer& layer) {
         return static_cast<std::int64_t>(&layer - series.layers.data());
       }}};
  for (const HeadMeasure& measure : head_measures()) {
    if (measure.value == &HeadRow::null_rank || measure.value == &HeadRow::rank_over_null) continue;
    const std::string heading(measure.heading);
    columns.push_back({{.title = heading,
                        .width = std::max(static_cast<int>(columns_of(heading)), 7) + 2,
                        .decimals = std::max(measure.decimals, 1),
                        .if_known = true},
                       [&measure](const Layer& layer) { return mean_of(layer, measure.name); }});
  }
  return report_on(series.layers, std::move(columns));
}

void print_text(const SweepResult& result, const std::string& out) {
  const std::string inputs = choice_in_words(result.items, {result.count, result.seed}, "inputs");
  std::printf("%s: %s\n", out.c_str(), inputs.c_str());
  const std::string numbers = in_words(result.numbers);
  if (!numbers.empty()) std::printf("computed: %s\n", numbers.c_str());
  const bool beside = result.numbers.baselines;
  for (const SweepSeries& series : result.series) {
    std::printf("%s\n", series.label.c_str());
    if (series.labelled > 0) {
      std::printf(
          "  right on %s %% of %lld\n",
          fixed_text(
              100.0 * static_cast<double>(series.correct) / static_cast<double>(series.labelled), 2)
              .c_str(),
          static_cast<long long>(series.labelled));
    }
    std::printf("  layer   maps  rank at %-6s mean    sd   5 %%  25 %%  50 %%  75 %%  95 %%%s\n",
                rounded_text(result.thresholds.front()).c_str(),
                beside ? "  if shuffled  rank / null" : "");
    for (std::size_t l = 0; l < series.layers.size(); ++l) {
      const SweptRanks ranks = swept_ranks(series.layers[l], -1, 0);
      std::printf("  %5zu %6lld %s %s", l, static_cast<long long>(ranks.maps),
                  number_cell(ranks.mean, 19, 2).c_str(),
                  number_cell(ranks.standard_deviation, 5, 2).c_str());
      for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
        std::printf(" %s", number_cell(ranks.quantile(q), 5, 0).c_str());
      }
      if (beside) {
        std::printf("%s%s", number_cell(mean_of(series.layers[l], "null_rank"), 13, 2).c_str(),
                    number_cell(mean_of(series.layers[l], "rank_over_null"), 13, 3).c_str());
      }
      const std::int64_t left_out = std::accumulate(
          series.layers[l].left_out.begin(), series.layers[l].left_out.end(), std::int64_t{0});
      if (left_out > 0) {
        std::printf("  (%lld maps left out)", static_cast<long long>(left_out));
      }
      std::printf("\n");
    }
    if (result.numbers.heads) std::printf("%s", report_as_text(head_numbers(series)).c_str());
  }
}

void print_as_json(const SweepResult& result, const std::vector<Subject>& subjects,
                   const std::string& out) {
  nlohmann::ordered_json json = {{"file", out},
                                 {"data_set", result.data_set},
                                 {"first", result.first},
                                 {"count", result.count},
                                 {"items", result.items},
                                 {"seed", result.seed},
                                 {"thresholds", result.thresholds}};
  add_analysed(json, result.numbers.analysed);
  json["series"] = nlohmann::ordered_json::array();
  for (const SweepSeries& series : result.series) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (const LayerSweep& layer : series.layers) {
      const SweptRanks ranks = swept_ranks(layer, -1, 0);
      const std::int64_t left_out =
          std::accumulate(layer.left_out.begin(), layer.left_out.end(), std::int64_t{0});
      nlohmann::ordered_json entry = {{"maps", ranks.maps},
                                      {"left_out", left_out},
                                      {"mean_rank", ranks.mean},
                                      {"standard_deviation", ranks.standard_deviation},
                                      {"quantiles",
                                       {{"0.05", ranks.quantile(0.05)},
                                        {"0.25", ranks.quantile(0.25)},
                                        {"0.5", ranks.quantile(0.5)},
                                        {"0.75", ranks.quantile(0.75)},
                                        {"0.95", ranks.quantile(0.95)}}}};
      for (const auto& [name, sums] : layer.statistics) {
        const SweptStatistic swept = swept_statistic(sums, -1);
        if (swept.count == 0) continue;
        entry[name] = {{"mean", swept.mean},
                       {"standard_deviation", swept.standard_deviation},
                       {"least", swept.least},
                       {"greatest", swept.greatest}};
      }
      layers.push_back(std::move(entry));
    }
    json["series"].push_back({{"label", series.label},
                              {"model", series.model},
                              {"mechanism", series.mechanism},
                              {"identity", series.identity},
                              {"labelled", series.labelled},
                              {"correct", series.correct},
                              {"layers", layers}});
  }
  json["assumed"] = status_lines(subjects);
  print_json(json);
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
  request.numbers = {analysed_of(arguments.analysed), arguments.head_numbers, arguments.baselines};
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
  if (arguments.json) {
    print_as_json(result, request.subjects, arguments.out);
  } else {
    print_text(result, arguments.out);
    if (team) std::printf("shared by %lld processes\n", static_cast<long long>(team->size()));
    print_status(stdout, request.subjects);
  }
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
  add_analysed_options(*added, arguments->analysed);
  added->add_flag(
      "--head-numbers", arguments->head_numbers,
      "Also compute every number of attnscope heads: distances, ranks without sinks, norms");
  added->add_flag("--baselines", arguments->baselines,
                  "Also compute ranks of null models: maps with shuffled rows, and rank / null");
  add_value_option(*added, "--checkpoint-seconds", arguments->checkpoint_seconds,
                   "Seconds between two writes of unfinished work", "SECONDS")
      ->check(CLI::NonNegativeNumber);
  added->add_flag("--restart", arguments->restart,
                  "Start over: discard unfinished work, and replace a finished file");
  add_json_flag(*added, arguments->json);
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope sweep softmax.h5 adder.h5 --dataset t10k-images.gz --out sweep.h5",
                "attnscope figure sweep-spectrum --set file=sweep.h5 --out spectrum.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
