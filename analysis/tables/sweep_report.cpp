#include "analysis/tables/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/heads/head_table.h"
#include "analysis/sweep/sweep_summary.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

constexpr double kQuantiles[] = {0.05, 0.25, 0.5, 0.75, 0.95};

/// One layer of one series.
struct SweptLayer {
  const SweepSeries* series = nullptr;
  std::int64_t layer = 0;
  const LayerSweep* swept = nullptr;
  SweptRanks ranks;
};

std::int64_t left_out_of(const SweptLayer& row) {
  const std::vector<std::int64_t>& maps = row.swept->left_out;
  return std::accumulate(maps.begin(), maps.end(), std::int64_t{0});
}

SweptStatistic statistic_of(const LayerSweep& layer, std::string_view name) {
  const auto found = layer.statistics.find(std::string(name));
  return found == layer.statistics.end() ? SweptStatistic{} : swept_statistic(found->second, -1);
}

ColumnOf<SweptLayer> quantile_column(double q) {
  return {{.name = "quantile_" + rounded_text(q),
           .title = rounded_text(100 * q) + " %",
           .width = 6,
           .decimals = 0,
           .json = false},
          [q](const SweptLayer& row) { return row.ranks.quantile(q); }};
}

ReportValue quantiles_cell(const SweptLayer& row) {
  nlohmann::ordered_json quantiles;
  for (const double q : kQuantiles) quantiles[rounded_text(q)] = row.ranks.quantile(q);
  return json_cell(quantiles);
}

/// A statistic: its mean in CSV, an object in JSON. Text has those of null models and at an
/// entropy.
void add_statistic(std::vector<ColumnOf<SweptLayer>>& columns, const std::string& name) {
  ReportColumn mean = csv_only(name);
  if (name == "null_rank") mean = {.name = name, .title = "if shuffled", .width = 13};
  if (name == "rank_over_null") {
    mean = {.name = name, .title = "rank / null", .width = 13, .decimals = 3};
  }
  if (name == kRankAtEntropy) mean = {.name = name, .title = "at same entropy", .width = 17};
  mean.json = false;
  columns.push_back({std::move(mean), [name](const SweptLayer& row) {
                       return statistic_of(*row.swept, name).mean;
                     }});
  columns.push_back({json_only(name), [name](const SweptLayer& row) -> ReportValue {
                       const SweptStatistic swept = statistic_of(*row.swept, name);
                       if (swept.count == 0) return {};
                       const nlohmann::ordered_json numbers = {
                           {"mean", swept.mean},
                           {"standard_deviation", swept.standard_deviation},
                           {"least", swept.least},
                           {"greatest", swept.greatest}};
                       return json_cell(numbers);
                     }});
}

std::vector<SweptLayer> swept_rows(const SweepResult& result, std::optional<std::size_t> series) {
  std::vector<SweptLayer> rows;
  for (std::size_t index = 0; index < result.series.size(); ++index) {
    if (series.value_or(index) != index) continue;
    const SweepSeries& of = result.series[index];
    for (std::size_t layer = 0; layer < of.layers.size(); ++layer) {
      rows.push_back({&of, static_cast<std::int64_t>(layer), &of.layers[layer],
                      swept_ranks(of.layers[layer], -1, 0)});
    }
  }
  return rows;
}

}  // namespace

Report swept_layers_report(const SweepResult& result, std::optional<std::size_t> series) {
  using Row = SweptLayer;
  std::vector<Row> rows = swept_rows(result, series);
  // In text, null models and ranks at an entropy come last; a statistic that no layer has is left
  // out.
  std::set<std::string> statistics;
  for (const Row& row : rows) {
    for (const auto& [name, sums] : row.swept->statistics) {
      if (swept_statistic(sums, -1).count > 0) statistics.insert(name);
    }
  }
  std::vector<ColumnOf<Row>> columns;
  if (!series) {
    append(columns,
           {{{.name = "series", .title = result.series.size() > 1 ? "series" : "", .left = true},
             [](const Row& row) { return row.series->label; }},
            {{.name = "mechanism"}, [](const Row& row) { return row.series->mechanism; }},
            {{.name = "identity"}, [](const Row& row) { return row.series->identity; }}});
  }
  append(columns, {{{.name = "layer", .title = "layer", .width = 7}, &Row::layer},
                   {{.name = "maps", .title = "maps", .width = 7},
                    [](const Row& row) { return row.ranks.maps; }},
                   {{.name = "left_out"}, left_out_of},
                   {{.name = "mean_rank",
                     .title = "rank at " + rounded_text(result.thresholds.front()) + " mean",
                     .width = 20},
                    [](const Row& row) { return row.ranks.mean; }},
                   {{.name = "standard_deviation", .title = "sd", .width = 6},
                    [](const Row& row) { return row.ranks.standard_deviation; }},
                   {json_only("quantiles"), quantiles_cell}});
  for (const double q : kQuantiles) columns.push_back(quantile_column(q));
  for (const std::string& name : statistics) add_statistic(columns, name);
  columns.push_back({{.left = true}, nullptr, [](const Row& row) {
                       const std::int64_t left_out = left_out_of(row);
                       return left_out > 0 ? "(" + std::to_string(left_out) + " maps left out)"
                                           : std::string();
                     }});
  return report_of(std::move(rows), std::move(columns));
}

Report swept_heads_report(const SweepSeries& series) {
  using Layer = LayerSweep;
  std::vector<ColumnOf<Layer>> columns = {
      {{.name = "layer", .title = "layer", .width = 7}, [&series](const Layer& layer) {
         return static_cast<std::int64_t>(&layer - series.layers.data());
       }}};
  for (const HeadMeasure& measure : head_measures()) {
    if (measure.value == &HeadRow::null_rank || measure.value == &HeadRow::rank_over_null) continue;
    const std::string heading(measure.heading);
    columns.push_back(
        {{.name = std::string(measure.name),
          .title = heading,
          .width = std::max(static_cast<int>(columns_of(heading)), 7) + 2,
          .decimals = std::max(measure.decimals, 1),
          .if_known = true},
         [name = measure.name](const Layer& layer) { return statistic_of(layer, name).mean; }});
  }
  return report_on(series.layers, std::move(columns));
}

std::string swept_items_in_words(const SweepResult& result) {
  const std::string numbers = in_words(result.numbers);
  return choice_in_words(result.items, {result.count, result.seed}, "inputs") + "\n" +
         (numbers.empty() ? "" : "computed: " + numbers + "\n");
}

std::string swept_series_in_words(const SweepSeries& series) {
  std::string words = series.label + "\n";
  if (series.labelled > 0) {
    const double share = static_cast<double>(series.correct) / static_cast<double>(series.labelled);
    words += "  right on " + fixed_text(100 * share, 2) + " % of " +
             std::to_string(series.labelled) + "\n";
  }
  return words;
}

}  // namespace attnscope
