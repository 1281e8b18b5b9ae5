// attnscope sweep: spectra and ranks of models over a whole data set.
#include "analysis/sweep/sweep.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/sweep/sweep_summary.h"
#include "app/cli/model_arguments.h"
#include "app/cli/number_cell.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

struct SweepArguments {
  ModelArguments models;
  std::string data_set;
  ItemChoice choice{10'000};
  std::int64_t first = 0;
  std::string out;
  std::string identity = "as-is";
  std::vector<double> thresholds = {0.9};
  double checkpoint_seconds = 5;
  bool restart = false;
  bool json = false;
};

std::vector<IdentityView> views_of(const std::string& name) {
  if (name == "as-is") return {IdentityView::as_is};
  if (name == "without") return {IdentityView::without};
  if (name == "with") return {IdentityView::with};
  if (name == "both") return {IdentityView::without, IdentityView::with};
  throw unknown_name("view of the identity", name, "as-is, without, with, both");
}

void print_text(const SweepResult& result, const std::string& out) {
  const std::string inputs =
      result.seed ? choice_in_words(result.items, {result.count, *result.seed}, "inputs")
                  : std::to_string(result.done) + " inputs";
  std::printf("%s: %s\n", out.c_str(), inputs.c_str());
  for (const SweepSeries& series : result.series) {
    std::printf("%s\n", series.label.c_str());
    if (series.labelled > 0) {
      std::printf(
          "  right on %.2f %% of %lld\n",
          100.0 * static_cast<double>(series.correct) / static_cast<double>(series.labelled),
          static_cast<long long>(series.labelled));
    }
    std::printf("  layer   maps  rank at %-6s mean    sd   5 %%  25 %%  50 %%  75 %%  95 %%\n",
                rounded_text(result.thresholds.front()).c_str());
    for (std::size_t l = 0; l < series.layers.size(); ++l) {
      const SweptRanks ranks = swept_ranks(series.layers[l], -1, 0);
      std::printf("  %5zu %6lld %s %s", l, static_cast<long long>(ranks.maps),
                  number_cell(ranks.mean, 19, 2).c_str(),
                  number_cell(ranks.standard_deviation, 5, 2).c_str());
      for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
        std::printf(" %s", number_cell(ranks.quantile(q), 5, 0).c_str());
      }
      const std::int64_t left_out = std::accumulate(
          series.layers[l].left_out.begin(), series.layers[l].left_out.end(), std::int64_t{0});
      if (left_out > 0) {
        std::printf("  (%lld maps left out)", static_cast<long long>(left_out));
      }
      std::printf("\n");
    }
  }
}

void print_json(const SweepResult& result, const std::string& out) {
  nlohmann::ordered_json json = {{"file", out},
                                 {"data_set", result.data_set},
                                 {"first", result.first},
                                 {"count", result.count},
                                 {"items", result.items},
                                 {"seed", result.seed ? nlohmann::ordered_json(*result.seed)
                                                      : nlohmann::ordered_json(nullptr)},
                                 {"thresholds", result.thresholds},
                                 {"series", nlohmann::ordered_json::array()}};
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
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

int run(const SweepArguments& arguments) {
  SweepRequest request;
  request.views = views_of(arguments.identity);
  request.data_set = open_data_set(arguments.data_set);
  request.data_set_path = arguments.data_set;
  request.subjects = make_subjects_without_traces(arguments.models);
  request.first = arguments.first;
  request.choice = arguments.choice;
  request.thresholds = arguments.thresholds;
  request.out = arguments.out;
  request.restart = arguments.restart;
  request.checkpoint_seconds = arguments.checkpoint_seconds;
  const SweepResult result = [&] {
    const TerminalProgress line;
    return run_sweep(request, line.progress());
  }();
  if (arguments.json) {
    print_json(result, arguments.out);
  } else {
    print_text(result, arguments.out);
  }
  return 0;
}

}  // namespace

Action add_sweep(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<SweepArguments>();
  added = parent.add_subcommand("sweep", "Spectra and ranks over a whole data set");
  added
      ->add_option("MODEL", arguments->models.models,
                   "Weight files, or FILE@MECHANISM[,PARAMETER=VALUE...]")
      ->required();
  added
      ->add_option("--dataset", arguments->data_set,
                   "Images: IDX (also .gz), HDF5 or NPZ, or a folder of class folders")
      ->required()
      ->type_name("D");
  add_choice_options(*added, arguments->choice, "How many inputs, at most");
  added->add_option("--first", arguments->first, "Leave out the items before this one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  added
      ->add_option("--out", arguments->out,
                   "The result, an HDF5 file. After an interruption the same command goes on from "
                   "R.h5.unfinished")
      ->required()
      ->type_name("R.h5");
  added
      ->add_option("--identity", arguments->identity,
                   "Maps as-is, without I, with I, or both beside each other")
      ->capture_default_str();
  added
      ->add_option("--threshold", arguments->thresholds,
                   "Of the equivalent rank, 0 to 1; may be repeated")
      ->allow_extra_args(false)
      ->capture_default_str();
  added
      ->add_option("--checkpoint-seconds", arguments->checkpoint_seconds,
                   "How often unfinished work is written")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  added->add_flag("--restart", arguments->restart, "Begin anew, whatever was done before");
  added->add_flag("--json", arguments->json, "As JSON");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
