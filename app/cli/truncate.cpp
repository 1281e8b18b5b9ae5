// attnscope truncate: what becomes of a model's answers when its maps lose their rank.
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/truncation/truncation.h"
#include "app/cli/assumptions.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/json_output.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_cell.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

struct TruncateArguments {
  ModelArguments model;
  std::string data_set, ranks, layers = "all", heads = "all";
  TruncationRequest request;
  bool cuts_identity = false, json = false, csv = false;
};

/// One model's answers.
struct Report {
  Subject subject;
  TruncationResult result;
};

/// 1, 2, 4, … below the number of tokens.
std::vector<std::int64_t> powers_below(std::int64_t tokens) {
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 1; rank < tokens; rank *= 2) ranks.push_back(rank);
  return ranks;
}

double accuracy_error(const TruncationResult& result, const RankOutcome& outcome) {
  const double p = result.accuracy(outcome);
  return std::sqrt(p * (1 - p) / static_cast<double>(result.images));
}

std::string what_is_cut(const TruncateArguments& arguments) {
  const bool with = arguments.request.of == TruncatedMap::with_identity;
  return std::string(with ? "A + I" : "A") + " of layers " + arguments.layers + ", heads " +
         arguments.heads + (arguments.request.renormalise ? ", rows made to sum to 1" : "");
}

ordered_json known(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

ordered_json json_of(const Report& report, const TruncateArguments& arguments, std::int64_t items) {
  ordered_json outcomes = ordered_json::array();
  for (const RankOutcome& outcome : report.result.outcomes) {
    outcomes.push_back(
        {{"rank", outcome.rank > 0 ? ordered_json(outcome.rank) : ordered_json("whole")},
         {"correct", outcome.correct},
         {"accuracy", report.result.accuracy(outcome)},
         {"standard_error", accuracy_error(report.result, outcome)},
         {"divergence", known(outcome.divergence)},
         {"divergence_error", known(outcome.divergence_error)},
         {"not_finite", outcome.not_finite}});
  }
  ordered_json rank;
  if (report.result.mean_equivalent_rank) rank = *report.result.mean_equivalent_rank;
  return {{"model", report.subject.label},
          {"mechanism", to_string(report.subject.mechanism)},
          {"data_set", arguments.data_set},
          {"images", report.result.images},
          {"of_images", items},
          {"seed", arguments.request.choice.seed},
          {"cut_off", what_is_cut(arguments)},
          {"cut_identity", arguments.cuts_identity},
          {"renormalised", arguments.request.renormalise},
          {"threshold", arguments.request.threshold},
          {"mean_equivalent_rank", rank},
          {"greatest_rank", report.result.greatest_rank},
          {"outcomes", std::move(outcomes)},
          {"assumptions", assumptions_as_json(report.subject.model->assumptions())}};
}

void print_csv(const std::vector<Report>& reports) {
  std::printf(
      "model,mechanism,rank,images,correct,accuracy,standard_error,divergence,divergence_error,"
      "not_finite,mean_equivalent_rank\n");
  const auto number = [](double value) { return std::isnan(value) ? "" : rounded_text(value, 9); };
  for (const Report& report : reports) {
    const TruncationResult& result = report.result;
    for (const RankOutcome& outcome : result.outcomes) {
      const std::string rank = outcome.rank > 0 ? std::to_string(outcome.rank) : "whole";
      const auto equivalent = result.mean_equivalent_rank;
      std::printf(
          "%s,%s,%s,%lld,%lld,%s,%s,%s,%s,%lld,%s\n", csv_field(report.subject.label).c_str(),
          csv_field(to_string(report.subject.mechanism)).c_str(), rank.c_str(),
          static_cast<long long>(result.images), static_cast<long long>(outcome.correct),
          number(result.accuracy(outcome)).c_str(), number(accuracy_error(result, outcome)).c_str(),
          number(outcome.divergence).c_str(), number(outcome.divergence_error).c_str(),
          static_cast<long long>(outcome.not_finite),
          equivalent ? number(*equivalent).c_str() : "");
    }
  }
}

void print_table(const Report& report, const TruncateArguments& arguments, std::int64_t items) {
  const TruncationResult& result = report.result;
  std::printf("%s: %s, %s\n", report.subject.label.c_str(),
              to_string(report.subject.mechanism).c_str(),
              choice_in_words(items, arguments.request.choice, "images").c_str());
  std::printf("cut off: %s; mean equivalent rank at %s: %s\n\n", what_is_cut(arguments).c_str(),
              rounded_text(arguments.request.threshold).c_str(),
              number_cell(result.mean_equivalent_rank.value_or(std::nan("")), 0, 1).c_str());
  std::printf(" rank   accuracy   ± error   divergence (bits)    ± error\n");
  for (const RankOutcome& outcome : result.outcomes) {
    const std::string rank = outcome.rank > 0 ? std::to_string(outcome.rank) : "whole";
    std::printf("%5s %8s %% %7s %% %19s %10s%s\n", rank.c_str(),
                fixed_text(100 * result.accuracy(outcome), 2).c_str(),
                fixed_text(100 * accuracy_error(result, outcome), 2).c_str(),
                number_cell(outcome.divergence, 0, 4).c_str(),
                number_cell(outcome.divergence_error, 0, 4).c_str(),
                outcome.not_finite > 0
                    ? ("  " + std::to_string(outcome.not_finite) + " not finite: wrong").c_str()
                    : "");
  }
  std::printf("\n");
}

Report report_of(const std::string& text, const DataSet& data_set,
                 const TruncateArguments& arguments) {
  const ModelArgument argument = split_without_input(text);
  Report report;
  report.subject.model = load_model(argument.file, options_of(arguments.model, argument));
  const Model& model = *report.subject.model;
  const MechanismArgument laid =
      mechanism_argument(arguments.model, argument, model.spec().mechanism);
  report.subject.label = model.name();
  report.subject.mechanism = laid.choice;
  report.subject.parameters = laid.parameters;
  TruncationRequest request = arguments.request;
  if (request.ranks.empty()) request.ranks = powers_below(model.spec().tokens());
  const TerminalProgress line;
  report.result = truncate(report.subject, data_set, request, line.progress());
  return report;
}

int run(TruncateArguments arguments) {
  TruncationRequest& request = arguments.request;
  request.ranks = index_list(arguments.ranks, "--ranks");
  request.layers = index_list(arguments.layers, "--layers");
  request.heads = index_list(arguments.heads, "--heads");
  if (arguments.cuts_identity) request.of = TruncatedMap::with_identity;
  const auto data_set = open_data_set(arguments.data_set);
  std::vector<Report> reports;
  for (const std::string& model : arguments.model.models) {
    reports.push_back(report_of(model, *data_set, arguments));
  }
  if (arguments.json) {
    ordered_json list = ordered_json::array();
    for (const Report& report : reports) {
      list.push_back(json_of(report, arguments, data_set->size()));
    }
    print_json({{"models", std::move(list)}});
  } else if (arguments.csv) {
    print_csv(reports);
  } else {
    for (const Report& report : reports) print_table(report, arguments, data_set->size());
    for (const Report& report : reports) {
      const std::string words = assumptions_in_words(*report.subject.model);
      if (!words.empty()) std::printf("%s\n", words.c_str());
    }
  }
  return 0;
}

}  // namespace

Action add_truncate(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<TruncateArguments>();
  added = parent.add_subcommand(
      "truncate", "Cut the rank of a model's maps off and see what becomes of its answers");
  add_model_argument(*added, arguments->model, true, true);
  add_data_set_option(*added, arguments->data_set, "Labelled images")->required();
  added
      ->add_option("--ranks", arguments->ranks,
                   "Ranks the maps are cut off to, such as 1,2,4-6 (powers of two below the number "
                   "of tokens)")
      ->type_name("N,…");
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  added->add_flag("--cut-identity", arguments->cuts_identity,
                  "Of an attention with I: cut A + I off; else A is cut off and A_r + I is run");
  added->add_flag("--renormalise", arguments->request.renormalise,
                  "Make the rows of what is left sum to 1");
  added
      ->add_option("--threshold", arguments->request.threshold,
                   "Of the equivalent rank that stands beside (0.9)")
      ->check(CLI::Range(1e-6, 1.0))
      ->type_name("T");
  add_choice_options(*added, arguments->request.choice, "How many images (all)");
  CLI::Option* const json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Print a row for each rank as CSV")->excludes(json);
  add_mechanism_options(*added, arguments->model);
  add_model_options(*added, arguments->model, true);
  set_examples(*added,
               {"attnscope truncate vit.safetensors --dataset imagenet/val --count 500",
                "attnscope truncate vit.pt vit.pt@adder --dataset photos --ranks 1,2,4,8 --csv",
                "attnscope truncate vit.pt@adder,identity=true --dataset photos --cut-identity"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
