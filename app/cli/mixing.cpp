// attnscope mixing: the share of each token in every other token's output.
#include "analysis/mixing/mixing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/mixing/value_zeroing.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

constexpr std::string_view kValueZeroing = "value-zeroing";

struct MixingArguments {
  ModelArguments models;
  std::string by = "norms", layers = "all", heads = "all";
  bool rollout = false, json = false, csv = false;
};

/// One mixing matrix of a subject: of one layer and head. layer −1: rollout through all layers;
/// head −1: all heads together.
struct MixedTokens {
  std::size_t subject = 0;
  std::int64_t layer = -1, head = -1;
  MatrixD matrix;
  double ratio = 0;  ///< mean mixing ratio of the layer; NaN for a rollout
};

std::vector<std::string> mixing_words() {
  std::vector<std::string> words = names_of(mixing_names);
  words.emplace_back(kValueZeroing);
  return words;
}

double mean_ratio(const Subject& subject, std::int64_t layer) {
  const std::vector<double> ratios = mixing_ratios(subject, layer);
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  return sum / static_cast<double>(ratios.size());
}

bool is_by_head(const MixingArguments& arguments) {
  return arguments.by == name_of(mixing_names, Mixing::head_norms) && !arguments.rollout;
}

/// The heads of a layer that --heads selects; only −1 if the layer has a single matrix for all
/// heads. Throws Error(usage).
std::vector<std::int64_t> mixed_heads(const Subject& subject, std::int64_t layer,
                                      const MixingArguments& arguments) {
  if (!is_by_head(arguments)) return {-1};
  std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  const bool asks_all = heads.empty();
  check_heads(heads, subject.trace->heads(layer));
  const std::int64_t known = subject.trace->heads(layer);
  for (std::int64_t head = 0; asks_all && head < known; ++head) heads.push_back(head);
  return heads;
}

std::vector<MixedTokens> mixed_tokens(const std::vector<Subject>& subjects,
                                      const MixingArguments& arguments, const Progress& progress) {
  const bool zeroes = arguments.by == kValueZeroing;
  const std::vector<std::int64_t> asked = index_list(arguments.layers, "--layers");
  std::vector<MixedTokens> all;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const Subject& subject = subjects[s];
    if (arguments.rollout) {
      const Tensor reach = mixing_rollout(subject, value_of(mixing_names, arguments.by, "mixing"),
                                          0, progress.silent());
      all.push_back({s, -1, -1, reach.matrix().cast<double>(), std::nan("")});
      continue;
    }
    for (std::int64_t layer = 0; layer < std::ssize(subject.trace->layers); ++layer) {
      if (!asked.empty() && std::ranges::find(asked, layer) == asked.end()) continue;
      progress.step(
          static_cast<double>(layer) / static_cast<double>(std::ssize(subject.trace->layers)),
          "mixing");
      const double ratio = mean_ratio(subject, layer);
      for (const std::int64_t head : mixed_heads(subject, layer, arguments)) {
        MixedTokens mixed{s, layer, head, {}, ratio};
        mixed.matrix =
            zeroes ? value_zeroing(subject, layer, true, progress.silent())
                   : mixing_of(subject, layer, value_of(mixing_names, arguments.by, "mixing"),
                               std::max<std::int64_t>(head, 0));
        all.push_back(std::move(mixed));
      }
    }
  }
  return all;
}

/// The three keys with the greatest shares; none if no row has shares.
std::vector<std::pair<std::int64_t, double>> strongest_keys(const MixingShares& shares) {
  std::vector<std::pair<std::int64_t, double>> keys;
  for (const double share : shares.keys) keys.emplace_back(std::ssize(keys), share);
  std::ranges::stable_sort(keys, [](const auto& a, const auto& b) { return a.second > b.second; });
  keys.resize(std::min<std::size_t>(keys.size(), 3));
  return keys;
}

std::string token_words(const Subject& subject, std::int64_t key) {
  const auto& texts = subject.trace->layout.texts;
  const auto at = static_cast<std::size_t>(key);
  return std::to_string(key) + (at < texts.size() ? " \"" + shown_text(texts[at]) + "\"" : "");
}

std::string number_or_all(std::int64_t index) { return index < 0 ? "all" : std::to_string(index); }

void print_mixing_table(const std::vector<MixedTokens>& all, const std::vector<Subject>& subjects) {
  std::size_t shown = subjects.size();
  for (const MixedTokens& mixed : all) {
    if (mixed.subject != shown) {
      shown = mixed.subject;
      std::printf("%s\nlayer head  mixing ratio   own share   strongest keys\n",
                  subjects[shown].label.c_str());
    }
    const MixingShares shares = mixing_shares(mixed.matrix);
    std::printf("%5s %4s %s %s  ", number_or_all(mixed.layer).c_str(),
                number_or_all(mixed.head).c_str(), number_cell(mixed.ratio, 13, 4).c_str(),
                number_cell(shares.own, 11, 4).c_str());
    for (const auto& [key, share] : strongest_keys(shares)) {
      std::printf(" %s (%s %%)", token_words(subjects[shown], key).c_str(),
                  fixed_text(100 * share, 1).c_str());
    }
    std::printf("\n");
  }
}

void print_mixing_csv(const std::vector<MixedTokens>& all, const std::vector<Subject>& subjects) {
  std::printf("model,layer,head,query,key,value\n");
  for (const MixedTokens& mixed : all) {
    for (Eigen::Index query = 0; query < mixed.matrix.rows(); ++query) {
      for (Eigen::Index key = 0; key < mixed.matrix.cols(); ++key) {
        std::printf("%s,%s,%s,%lld,%lld,%s\n", csv_field(subjects[mixed.subject].label).c_str(),
                    number_or_all(mixed.layer).c_str(), number_or_all(mixed.head).c_str(),
                    static_cast<long long>(query), static_cast<long long>(key),
                    rounded_text(mixed.matrix(query, key), 9).c_str());
      }
    }
  }
}

void print_mixing_json(const std::vector<MixedTokens>& all, const std::vector<Subject>& subjects,
                       const MixingArguments& arguments) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const MixedTokens& mixed : all) {
    ordered_json keys = ordered_json::array(), rows = ordered_json::array();
    const MixingShares shares = mixing_shares(mixed.matrix);
    for (const auto& [key, share] : strongest_keys(shares)) {
      keys.push_back({{"key", key}, {"share", share}});
    }
    for (Eigen::Index row = 0; row < mixed.matrix.rows(); ++row) {
      const Eigen::RowVectorXd values = mixed.matrix.row(row);
      rows.push_back(std::vector<double>(values.begin(), values.end()));
    }
    list.push_back(
        {{"model", subjects[mixed.subject].label},
         {"status", status_as_json(status_of(subjects[mixed.subject]))},
         {"layer", mixed.layer < 0 ? ordered_json() : ordered_json(mixed.layer)},
         {"head", mixed.head < 0 ? ordered_json() : ordered_json(mixed.head)},
         {"mixing_ratio", std::isnan(mixed.ratio) ? ordered_json() : ordered_json(mixed.ratio)},
         {"own_share", std::isnan(shares.own) ? ordered_json() : ordered_json(shares.own)},
         {"strongest", std::move(keys)},
         {"matrix", std::move(rows)}});
  }
  print_json({{"by", arguments.by}, {"rollout", arguments.rollout}, {"mixing", std::move(list)}});
}

int run(const MixingArguments& arguments) {
  if (!is_by_head(arguments) && arguments.heads != "all") {
    throw Error(ErrorKind::usage, "this measure is defined over all heads, not per head")
        .about("--heads")
        .expected("--by head-norms")
        .found(arguments.rollout ? "--rollout" : "--by " + arguments.by);
  }
  std::vector<Subject> subjects;
  std::vector<MixedTokens> all;
  {
    const TerminalProgress line;
    TraceRequest request;
    request_for_mixing(request);
    subjects = make_subjects(arguments.models, request, line.progress().part(0, 0.5));
    all = mixed_tokens(subjects, arguments, line.progress().part(0.5, 1));
  }
  if (arguments.json) {
    print_mixing_json(all, subjects, arguments);
  } else if (arguments.csv) {
    print_mixing_csv(all, subjects);
  } else {
    print_mixing_table(all, subjects);
  }
  if (!arguments.json) print_status(arguments.csv ? stderr : stdout, subjects);
  return 0;
}

}  // namespace

Action add_mixing(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<MixingArguments>();
  added = parent.add_subcommand(
      "mixing",
      "Contribution of each token to each other token\n"
      "Norms of a_ij f(x_j) with f(x_j) = v_j W_O, with residual and norms (F_i(j)), ALTI, value "
      "zeroing, and their rollouts.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  added
      ->add_option("--by", arguments->by,
                   "Measure: |a_ij| ‖f(x_j)‖ of one head, ‖Σ_h a_ij f_h(x_j)‖, ‖F_i(j)‖ with "
                   "residual and norm, the same through the norm after the MLP, max(0, ‖y_i‖₁ − "
                   "‖y_i − F_i(j)‖₁), or 1 − cos of the layer's tokens with and without v_j")
      ->check(CLI::IsMember(mixing_words()))
      ->type_name(name_list(mixing_words(), {}, "|"))
      ->capture_default_str();
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  added->add_flag("--rollout", arguments->rollout,
                  "Rollout of block-norms, globenc or alti: R_l = M_l R_{l−1} through all layers, "
                  "with the rows of M divided by their sums");
  CLI::Option* const json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each query and key")
      ->excludes(json);
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope mixing vit.safetensors --input cat.png",
                "attnscope mixing bert.safetensors --input text:To-be --by alti --rollout --csv",
                "attnscope figure token-mixing vit.pt --input cat.png --out mixing.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
