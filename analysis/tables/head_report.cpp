#include <algorithm>
#include <string>

#include "analysis/tables/reports.h"
#include "analysis/tables/shared_columns.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

std::string sinks_as_field(const HeadRow& row) {
  std::string text;
  for (const Sink& sink : row.sinks) text += (text.empty() ? "" : " ") + std::to_string(sink.key);
  return text;
}

ReportValue sinks_as_table(const HeadRow& row) {
  if (row.state != HeadState::ready) return {};
  return table_cell(report_of<Sink>(
      row.sinks, {{{.name = "key"}, &Sink::key}, {{.name = "share"}, &Sink::share}}));
}

/// Shares of each of several pictures, after their sum.
void add_pictures(std::vector<ColumnOf<HeadRow>>& columns, const std::vector<HeadRow>& rows) {
  std::size_t pictures = 0;
  for (const HeadRow& row : rows) pictures = std::max(pictures, row.picture_shares.size());
  for (std::size_t i = 0; i < pictures; ++i) {
    const std::string number = std::to_string(i + 1);
    const std::string title = "picture " + number;
    columns.push_back({{.name = "picture_" + number + "_share",
                        .title = title,
                        .formula = "the part of the former with j the tokens of " + title,
                        .width = static_cast<int>(columns_of(title)) + 2,
                        .decimals = 3,
                        .if_known = true},
                       [i](const HeadRow& row) {
                         const std::vector<double>& shares = row.picture_shares;
                         return i < shares.size() ? shares[i] : HeadRow::kUnknown;
                       }});
  }
}

}  // namespace

Report head_report(const Trace& trace, const HeadTable& table, std::optional<double> at_entropy,
                   const std::vector<EntropyRank>* entropy_ranks) {
  std::vector<ColumnOf<HeadRow>> columns = {
      layer_column<HeadRow>(layers_in_words(trace), &HeadRow::layer),
      {{.name = "head", .title = "head", .width = 6}, &HeadRow::head},
      {{.name = "state"}, [](const auto& row) { return std::string(describe(row.state)); }},
      {{.name = "causal"}, &HeadRow::causal},
      {{.name = "identity_removed"}, &HeadRow::identity_removed},
      {csv_only("distance_unit"), [&table](const auto&) { return table.distance_unit; }},
      {csv_only("sinks"), sinks_as_field},
      {json_only("sinks"), sinks_as_table}};
  for (const HeadMeasure& measure : head_measures()) {
    const std::string heading = heading_of(measure, table.analysed);
    columns.push_back({{.name = std::string(measure.name),
                        .title = heading,
                        .unit = measure.value == &HeadRow::distance ? table.distance_unit : "",
                        .formula = formula_of(measure, table.analysed),
                        .width = std::max(static_cast<int>(columns_of(heading)), 7) + 2,
                        .decimals = measure.decimals,
                        .if_known = true},
                       measure.value});
    if (measure.value == &HeadRow::picture_share) add_pictures(columns, table.rows);
  }
  if (at_entropy) {
    const auto rank_of = [&table, &ranks = *entropy_ranks](const HeadRow& row) {
      return ranks[static_cast<std::size_t>(&row - table.rows.data())];
    };
    const std::string target = rounded_text(*at_entropy) + " ln n";
    append(columns,
           {{{.name = "rank_at_entropy",
              .title = "rank at\n" + target,
              .formula = "equivalent rank of softmax(s/T), with T so that H/ln n is " +
                         rounded_text(*at_entropy),
              .width = 12,
              .decimals = 0},
             [rank_of](const HeadRow& row) { return rank_of(row).rank; }},
            {{.name = "entropy_temperature", .title = "T", .width = 8, .decimals = 3},
             [rank_of](const HeadRow& row) { return rank_of(row).tempered.temperature; }}});
  }
  columns.push_back({{.left = true}, nullptr, [](const HeadRow& row) {
                       return std::string(row.state == HeadState::ready ? "" : describe(row.state));
                     }});
  return report_on(table.rows, std::move(columns));
}

std::string head_signs_in_words(const HeadOptions& options) {
  return "a: rows divided by their sums; " + to_string(options.threshold) +
         ", ε = " + rounded_text(options.sink) + ", mass " + rounded_text(100 * options.mass) +
         " %; –: not known\n";
}

}  // namespace attnscope
