// attnscope random: rank of maps and likeness of tokens over the depth of networks with random
// weights.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/depth/random_network.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/attention/mechanism.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

struct RandomArguments {
  RandomNetwork network;
  std::string mechanism = "softmax", norm = "pre";
  std::vector<std::string> settings;
  bool no_mlp = false;
  std::int64_t seeds = 3;
  RankThreshold threshold;
  TableFormat format = TableFormat::text;
};

/// A row for each depth: of every measure the mean over the seeds, in CSV and JSON also the least
/// and the greatest.
Report depths_report(const std::vector<std::vector<NetworkDepth>>& networks) {
  Report report;
  report.rows = networks.front().size();
  report.columns.push_back({.name = "layer", .title = "layer", .value = [](std::size_t depth) {
                              return static_cast<std::int64_t>(depth);
                            }});
  for (const NetworkMeasure& measure : network_measures()) {
    const std::string title(measure.name);
    std::string name = title;
    std::ranges::replace(name, '-', '_');
    const auto add = [&](const std::string& key, double OverSeeds::*value, bool in_text) {
      report.columns.push_back({.name = key,
                                .title = in_text ? title : "",
                                .formula = in_text ? std::string(measure.title) : "",
                                .decimals = measure.by_threshold ? 1 : 4,
                                .value = [&networks, &measure, value](std::size_t depth) {
                                  return over_seeds(networks, depth, measure).*value;
                                }});
    };
    add(name, &OverSeeds::mean, true);
    add(name + "_least", &OverSeeds::least, false);
    add(name + "_greatest", &OverSeeds::greatest, false);
  }
  return report;
}

std::string random_in_words(const RandomArguments& arguments) {
  const RandomNetwork& network = arguments.network;
  return in_words(network.mechanism) + ", " + std::to_string(network.heads) + " heads, width " +
         std::to_string(network.width) + ", " + std::to_string(network.tokens) +
         " tokens, norm: " + arguments.norm + ", skip α = " + exact(network.skip) +
         (network.mlp ? "" : ", without MLP") + (network.causal ? ", causal" : "");
}

int run(RandomArguments arguments) {
  RandomNetwork& network = arguments.network;
  network.mechanism = choose_mechanism(arguments.mechanism, arguments.settings, {});
  network.norm = value_of(network_norm_names, arguments.norm, "place of the norm");
  network.mlp = !arguments.no_mlp;
  const auto networks = [&] {
    const TerminalProgress line;
    return random_networks(network, arguments.seeds, arguments.threshold, line.progress());
  }();
  const auto report = [&] { return depths_report(networks); };
  print_results(
      arguments.format, {},
      [&] {
        return random_in_words(arguments) + "; means over " + std::to_string(arguments.seeds) +
               " seeds; equivalent rank: " + rank_in_words(arguments.threshold) + "\n\n" +
               report_as_text(report()) + "\n" + report_legend(report());
      },
      [&] {
        nlohmann::ordered_json json = {{"mechanism", to_string(network.mechanism)},
                                       {"depth", network.depth},
                                       {"width", network.width},
                                       {"heads", network.heads},
                                       {"tokens", network.tokens},
                                       {"norm", arguments.norm},
                                       {"skip", network.skip},
                                       {"mlp", network.mlp},
                                       {"causal", network.causal},
                                       {"seeds", arguments.seeds}};
        add_threshold(json, arguments.threshold);
        json["layers"] = report_as_json(report());
        return json;
      },
      report);
  return 0;
}

}  // namespace

Action add_random(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<RandomArguments>();
  added = parent.add_subcommand(
      "random",
      "Rank over the depth of networks with random weights\n"
      "No file is needed. Tokens are N(0, 1), matrices N(0, 1 / inputs): the network at "
      "initialisation. Each layer is x ← αx + attention, x ← αx + MLP, with a norm before (pre), "
      "after (post) or none.");
  RandomNetwork& network = arguments->network;
  add_value_option(*added, "--depth", network.depth, "Number of layers", "N")
      ->check(CLI::Range(1, 256));
  add_value_option(*added, "--width", network.width, "Channels of a token", "N")
      ->check(CLI::Range(1, 2048));
  add_value_option(*added, "--model-heads", network.heads,
                   "Number of heads, a divisor of the width", "N")
      ->check(CLI::Range(1, 64));
  add_value_option(*added, "--tokens", network.tokens, "Number of tokens", "N")
      ->check(CLI::Range(2, 1024));
  add_value_option(*added, "--skip", network.skip, "Factor α of the residual stream; 0: none", "A")
      ->check(CLI::Range(0.0, 10.0));
  add_value_option(*added, "--norm", arguments->norm, "Place of the layer norms", "none|pre|post")
      ->check(CLI::IsMember(names_of(network_norm_names)));
  added->add_flag("--no-mlp", arguments->no_mlp, "Leave out the MLPs");
  added->add_flag("--causal", network.causal, "No token sees later ones");
  add_value_option(*added, "--mechanism", arguments->mechanism,
                   "Attention (attnscope list mechanisms)", "MECHANISM");
  added
      ->add_option("--set", arguments->settings,
                   "A parameter of the mechanism, such as identity=true; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  add_value_option(*added, "--seeds", arguments->seeds, "Number of networks, seeds 0, 1, …", "N")
      ->check(CLI::Range(1, 100));
  add_threshold_options(*added, arguments->threshold);
  add_format_options(*added, arguments->format, "a row for each layer");
  set_examples(*added, {"attnscope random --skip 0 --no-mlp --norm none",
                        "attnscope random --mechanism adder --depth 24 --share energy",
                        "attnscope figure random-networks --set compare=norms --out norms.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
