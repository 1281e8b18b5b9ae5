#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tables/reports.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using KeyShare = std::pair<std::int64_t, double>;

/// The three keys with the greatest shares; none if no row has shares.
std::vector<KeyShare> strongest_keys(const MixingShares& shares) {
  std::vector<KeyShare> keys;
  for (const double share : shares.keys) keys.emplace_back(std::ssize(keys), share);
  std::ranges::stable_sort(
      keys, [](const KeyShare& a, const KeyShare& b) { return a.second > b.second; });
  keys.resize(std::min<std::size_t>(keys.size(), 3));
  return keys;
}

std::string strongest_in_words(const Trace& trace, const MixingShares& shares) {
  const std::vector<std::string>& texts = trace.layout.texts;
  std::string words;
  for (const auto& [key, share] : strongest_keys(shares)) {
    const auto at = static_cast<std::size_t>(key);
    words += (words.empty() ? "" : " ") + std::to_string(key) +
             (at < texts.size() ? " \"" + shown_text(texts[at]) + "\"" : "") + " (" +
             fixed_text(100 * share, 1) + " %)";
  }
  return words;
}

/// One row per query and key.
Report matrix_entries_report(const MatrixD& matrix) {
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

}  // namespace

Report mixing_report(const Trace& trace, const std::vector<MixedMatrix>& matrices) {
  using Mixed = MixedMatrix;
  const auto number_or_all = [](const char* name, std::int64_t Mixed::*index) -> ColumnOf<Mixed> {
    return {
        {.name = name, .title = name, .width = 5, .words_in_csv = true},
        [index](const Mixed& one) { return if_any(one.*index); },
        [index](const Mixed& one) { return one.*index < 0 ? "all" : std::to_string(one.*index); }};
  };
  return report_on(
      matrices, {number_or_all("layer", &Mixed::layer),
                 number_or_all("head", &Mixed::head),
                 {{.name = "mixing_ratio",
                   .title = "mixing ratio",
                   .formula = "mean over i of ‖Σ_{j≠i} F_i(j)‖ / (‖Σ_{j≠i} F_i(j)‖ + ‖F_i(i)‖)",
                   .width = 14,
                   .decimals = 4,
                   .csv = false},
                  &Mixed::ratio},
                 {{.name = "own_share",
                   .title = "own share",
                   .formula = "mean over i of M_ii / Σ_j M_ij",
                   .width = 12,
                   .decimals = 4,
                   .csv = false},
                  [](const Mixed& one) { return one.shares.own; }},
                 {{.name = "strongest", .title = "strongest keys", .left = true, .csv = false},
                  [](const Mixed& one) {
                    return table_cell(report_of<KeyShare>(
                        strongest_keys(one.shares), {{{.name = "key"}, &KeyShare::first},
                                                     {{.name = "share"}, &KeyShare::second}}));
                  },
                  [&trace](const Mixed& one) { return strongest_in_words(trace, one.shares); }},
                 {json_only("matrix"), [](const Mixed& one) { return matrix_as_json(one.matrix); }},
                 {csv_only("matrix"),
                  [](const Mixed& one) { return table_cell(matrix_entries_report(one.matrix)); }}});
}

}  // namespace attnscope
