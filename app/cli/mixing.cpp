// attnscope mixing: the share of each token in every other token's output.
#include "analysis/mixing/mixing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::string_view kValueZeroing = "value-zeroing";

struct MixingArguments {
  ModelArguments models;
  std::string by = "norms", layers = "all", heads = "all";
  bool rollout = false;
  TableFormat format = TableFormat::text;
};

/// One mixing matrix of a subject: of one layer and head. layer −1: rollout through all layers;
/// head −1: all heads together.
struct MixedTokens {
  std::int64_t layer = -1, head = -1;
  MatrixD matrix;
  double ratio = 0;  ///< mean mixing ratio of the layer; NaN for a rollout
  MixingShares shares = mixing_shares(matrix);
};

struct MixedModel {
  const Subject* subject = nullptr;
  std::vector<MixedTokens> matrices;
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

std::vector<MixedTokens> mixed_tokens(const Subject& subject, const MixingArguments& arguments,
                                      const Progress& progress) {
  const auto mixing = [&arguments] { return value_of(mixing_names, arguments.by, "mixing"); };
  if (arguments.rollout) {
    const Tensor reach = mixing_rollout(subject, mixing(), 0, progress.silent());
    return {{-1, -1, reach.matrix().cast<double>(), std::nan("")}};
  }
  const bool zeroes = arguments.by == kValueZeroing;
  const std::vector<std::int64_t> asked = index_list(arguments.layers, "--layers");
  const std::int64_t layers = std::ssize(subject.trace->layers);
  std::vector<MixedTokens> all;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    if (!asked.empty() && std::ranges::find(asked, layer) == asked.end()) continue;
    progress.step(static_cast<double>(layer) / static_cast<double>(layers), "mixing");
    const double ratio = mean_ratio(subject, layer);
    for (const std::int64_t head : mixed_heads(subject, layer, arguments)) {
      all.push_back({layer, head,
                     zeroes ? value_zeroing(subject, layer, true, progress.silent())
                            : mixing_of(subject, layer, mixing(), std::max<std::int64_t>(head, 0)),
                     ratio});
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

std::string strongest_in_words(const Subject& subject, const MixingShares& shares) {
  std::string text;
  for (const auto& [key, share] : strongest_keys(shares)) {
    text += (text.empty() ? "" : " ") + token_words(subject, key) + " (" +
            fixed_text(100 * share, 1) + " %)";
  }
  return text;
}

/// One row per query and key.
Report entries_report(const MatrixD& matrix) {
  const auto keys = static_cast<std::size_t>(matrix.cols());
  const auto query = [keys](std::size_t row) { return static_cast<std::int64_t>(row / keys); };
  const auto key = [keys](std::size_t row) { return static_cast<std::int64_t>(row % keys); };
  return {{{.name = "query", .value = query},
           {.name = "key", .value = key},
           {.name = "value",
            .value = [=, &matrix](std::size_t row) { return matrix(query(row), key(row)); }}},
          static_cast<std::size_t>(matrix.size())};
}

ReportValue matrix_as_json(const MatrixD& matrix) {
  std::vector<std::vector<double>> rows;
  for (const auto row : matrix.rowwise()) rows.emplace_back(row.begin(), row.end());
  return json_cell(rows);
}

/// One row per mixing matrix of a model.
Report matrices_report(const MixedModel& model) {
  using Mixed = MixedTokens;
  using Strongest = std::pair<std::int64_t, double>;
  const auto number_or_all = [](const char* name, std::int64_t Mixed::*index) -> ColumnOf<Mixed> {
    return {
        {.name = name, .title = name, .width = 5, .words_in_csv = true},
        [index](const Mixed& one) { return if_any(one.*index); },
        [index](const Mixed& one) { return one.*index < 0 ? "all" : std::to_string(one.*index); }};
  };
  return report_on(
      model.matrices,
      {{json_only("model"), [&model](const Mixed&) { return model.subject->label; }},
       {json_only("status"),
        [&model](const Mixed&) { return json_cell(status_as_json(status_of(*model.subject))); }},
       number_or_all("layer", &Mixed::layer),
       number_or_all("head", &Mixed::head),
       {{.name = "mixing_ratio", .title = "mixing ratio", .width = 14, .decimals = 4, .csv = false},
        &Mixed::ratio},
       {{.name = "own_share", .title = "own share", .width = 12, .decimals = 4, .csv = false},
        [](const Mixed& one) { return one.shares.own; }},
       {{.name = "strongest", .title = "strongest keys", .left = true, .csv = false},
        [](const Mixed& one) {
          return table_cell(report_of<Strongest>(
              strongest_keys(one.shares),
              {{{.name = "key"}, &Strongest::first}, {{.name = "share"}, &Strongest::second}}));
        },
        [&model](const Mixed& one) { return strongest_in_words(*model.subject, one.shares); }},
       {json_only("matrix"), [](const Mixed& one) { return matrix_as_json(one.matrix); }},
       {csv_only("matrix"),
        [](const Mixed& one) { return table_cell(entries_report(one.matrix)); }}});
}

int run(const MixingArguments& arguments) {
  if (!is_by_head(arguments) && arguments.heads != "all") {
    throw Error(ErrorKind::usage, "this measure is defined over all heads, not per head")
        .about("--heads")
        .expected("--by head-norms")
        .found(arguments.rollout ? "--rollout" : "--by " + arguments.by);
  }
  std::vector<Subject> subjects;
  std::vector<MixedModel> all;
  {
    const TerminalProgress line;
    TraceRequest request;
    request_for_mixing(request);
    subjects = make_subjects(arguments.models, request, line.progress().part(0, 0.5));
    const Progress mixing = line.progress().part(0.5, 1);
    for (const Subject& subject : subjects) {
      all.push_back({&subject, mixed_tokens(subject, arguments, mixing)});
    }
  }
  const auto text = [&all] {
    std::string shown;
    for (const MixedModel& one : all) {
      shown += one.subject->label + "\n" + report_as_text(matrices_report(one));
    }
    return shown;
  };
  const auto json = [&] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const MixedModel& one : all) {
      for (auto& entry : report_as_json(matrices_report(one))) list.push_back(std::move(entry));
    }
    return nlohmann::ordered_json{
        {"by", arguments.by}, {"rollout", arguments.rollout}, {"mixing", std::move(list)}};
  };
  print_results(arguments.format, subjects, text, json, [&all] {
    return report_on(all, {{{.name = "model"}, [](const auto& one) { return one.subject->label; }},
                           {{.name = "mixing"},
                            [](const auto& one) { return table_cell(matrices_report(one)); }}});
  });
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
  add_value_option(*added, "--by", arguments->by,
                   "Measure: |a_ij| ‖f(x_j)‖ of one head, ‖Σ_h a_ij f_h(x_j)‖, ‖F_i(j)‖ with "
                   "residual and norm, the same through the norm after the MLP, max(0, ‖y_i‖₁ − "
                   "‖y_i − F_i(j)‖₁), or 1 − cos of the layer's tokens with and without v_j",
                   name_list(mixing_words(), {}, "|"))
      ->check(CLI::IsMember(mixing_words()));
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  added->add_flag("--rollout", arguments->rollout,
                  "Rollout of block-norms, globenc or alti: R_l = M_l R_{l−1} through all layers, "
                  "with the rows of M divided by their sums");
  add_format_options(*added, arguments->format, "a row for each query and key");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope mixing vit.safetensors --input cat.png",
                "attnscope mixing bert.safetensors --input text:To-be --by alti --rollout --csv",
                "attnscope figure token-mixing vit.pt --input cat.png --out mixing.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
