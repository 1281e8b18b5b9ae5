#include "analysis/tables/expert_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/tables/shared_columns.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// A token in a layer.
struct RoutedToken {
  std::int64_t layer = 0, token = 0;
  const std::vector<ChosenExpert>* chosen = nullptr;
};

/// "5 (0.612), 2 (0.388)"
std::string chosen_in_words(const std::vector<ChosenExpert>& chosen) {
  std::string words;
  for (const ChosenExpert& one : chosen) {
    words += (words.empty() ? "" : ", ") + std::to_string(one.expert) + " (" +
             fixed_text(one.weight, 3) + ")";
  }
  return words;
}

Report chosen_table(const std::vector<ChosenExpert>& chosen) {
  return report_on(chosen, {{{.name = "expert"}, &ChosenExpert::expert},
                            {{.name = "weight"}, &ChosenExpert::weight}});
}

}  // namespace

Report expert_layers_report(const Trace& trace, const std::vector<LayerExperts>& layers) {
  using Row = LayerExperts;
  const auto most = [](const Row& row) {
    return row.loads[static_cast<std::size_t>(row.busiest())];
  };
  return report_on(
      layers,
      {layer_column<Row>(layers_in_words(trace), &Row::layer),
       {{.name = "experts", .title = "experts", .width = 9},
        [](const Row& row) { return std::ssize(row.loads); }},
       {{.name = "active", .title = "per token", .width = 11}, &Row::active},
       {{.name = "used", .title = "used", .formula = "experts of at least one token", .width = 7},
        &Row::used},
       {{.name = "busiest", .title = "busiest", .formula = "expert of the most tokens", .width = 9},
        &Row::busiest},
       {{.name = "busiest_tokens", .title = "its tokens", .width = 12}, most},
       {{.name = "balance",
         .title = "balance",
         .formula = "−Σ p ln p / ln E, p the share of an expert in all tokens' experts",
         .width = 9,
         .decimals = 3},
        &Row::balance},
       {json_only("loads"), [](const Row& row) { return json_cell(row.loads); }}});
}

Report token_experts_report(const Trace& trace, const std::vector<LayerExperts>& layers) {
  std::vector<RoutedToken> rows;
  for (const LayerExperts& layer : layers) {
    for (std::size_t token = 0; token < layer.tokens.size(); ++token) {
      rows.push_back({layer.layer, static_cast<std::int64_t>(token), &layer.tokens[token]});
    }
  }
  using Row = RoutedToken;
  return report_of<Row>(
      std::move(rows),
      {layer_column<Row>(layers_in_words(trace), &Row::layer),
       {{.name = "token", .title = "token", .width = 7}, &Row::token},
       {{.name = "text", .title = "text", .left = true},
        [&trace](const Row& row) {
          return shown_text(query_layout(trace, row.layer).name(row.token));
        }},
       {{.name = "chosen"}, [](const Row& row) { return table_cell(chosen_table(*row.chosen)); }},
       {{.title = "experts (weight)", .left = true}, nullptr, [](const Row& row) {
          return chosen_in_words(*row.chosen);
        }}});
}

std::string experts_in_words(const std::vector<LayerExperts>& layers) {
  const LayerExperts& first = layers.front();
  return std::to_string(first.tokens.size()) + " tokens, each with " +
         std::to_string(first.active()) + (first.active() == 1 ? " expert in " : " experts in ") +
         std::to_string(layers.size()) + (layers.size() == 1 ? " layer\n" : " layers\n");
}

}  // namespace attnscope
