#include "analysis/tables/group_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tables/shared_columns.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

constexpr std::size_t kShareColumns = 6;  // groups that text shows in a column each
constexpr std::size_t kStrongest = 3;

ReportValue list_as_json(const std::vector<double>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const double value : values) {
    list.push_back(std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr);
  }
  return json_cell(list);
}

ReportValue rows_as_json(const MatrixD& matrix) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto row : matrix.rowwise()) {
    nlohmann::ordered_json& list = rows.emplace_back(nlohmann::ordered_json::array());
    for (const double value : row) {
      list.push_back(std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr);
    }
  }
  return json_cell(rows);
}

/// The groups with the greatest shares: 3 "Now my charms" (12.1 %).
std::string strongest_in_words(const GroupedMaps& maps, const std::vector<double>& shares) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t group) { return std::isnan(shares[group]); });
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  std::string words;
  for (std::size_t i = 0; i < std::min(order.size(), kStrongest); ++i) {
    words += (i > 0 ? ", " : "") + std::to_string(order[i]) + " \"" +
             group_in_words(maps.groups, order[i], 16) + "\" (" +
             fixed_text(100 * shares[order[i]], 1) + " %)";
  }
  return words;
}

/// A row for all queries and each group of keys, then for each pair of groups.
Report pairs_of(const GroupedMaps& maps, const GroupedMap& map) {
  const std::size_t count = maps.groups.size();
  const auto from = [count](std::size_t row) { return static_cast<std::int64_t>(row / count) - 1; };
  const auto to = [count](std::size_t row) { return row % count; };
  const auto share = [&map, from, to](std::size_t row) {
    return from(row) < 0 ? map.of_all[to(row)]
                         : map.shares(from(row), static_cast<Eigen::Index>(to(row)));
  };
  const auto name = [&maps](std::size_t group) { return shown_text(maps.groups[group].name); };
  return {
      {{.name = "query_group", .value = [from](std::size_t row) { return if_any(from(row)); }},
       {.name = "query_group_name",
        .value =
            [=](std::size_t row) {
              return from(row) < 0 ? "all" : name(static_cast<std::size_t>(from(row)));
            }},
       {.name = "key_group",
        .value = [to](std::size_t row) { return static_cast<std::int64_t>(to(row)); }},
       {.name = "key_group_name", .value = [=](std::size_t row) { return name(to(row)); }},
       {.name = "share", .value = share},
       {.name = "mean_weight",
        .value =
            [=, &maps](std::size_t row) {
              return share(row) / static_cast<double>(maps.groups[to(row)].tokens.size());
            }},
       {.name = "receiver_score",
        .value =
            [=, &map](std::size_t row) { return known_if(from(row) < 0, map.received[to(row)]); }}},
      count * (count + 1)};
}

/// The heads that are chosen, after those of each layer the mean of all its heads.
std::vector<GroupedMap> heads_and_means(const GroupedMaps& maps,
                                        const std::vector<std::int64_t>& chosen) {
  std::vector<GroupedMap> rows;
  for (std::size_t i = 0; i < maps.heads.size(); ++i) {
    const bool is_chosen =
        chosen.empty() || std::ranges::find(chosen, maps.heads[i].head) != chosen.end();
    if (is_chosen) rows.push_back(maps.heads[i]);
    const bool last = i + 1 == maps.heads.size() || maps.heads[i + 1].layer != maps.heads[i].layer;
    if (last) rows.push_back(maps.mean_of(maps.heads[i].layer));
  }
  return rows;
}

bool is_receiver(const GroupedMaps& maps, const GroupedMap& map) {
  return std::ranges::any_of(maps.receivers, [&](std::size_t index) {
    return maps.heads[index].layer == map.layer && maps.heads[index].head == map.head;
  });
}

std::vector<ColumnOf<GroupedMap>> share_columns(const GroupedMaps& maps,
                                                std::optional<std::size_t> from) {
  std::vector<ColumnOf<GroupedMap>> columns;
  if (maps.groups.size() > kShareColumns) {
    columns.push_back({{.title = "greatest shares", .left = true, .csv = false, .json = false},
                       nullptr,
                       [&maps, from](const GroupedMap& map) {
                         return strongest_in_words(maps, maps.shares(map, from));
                       }});
    return columns;
  }
  for (std::size_t group = 0; group < maps.groups.size(); ++group) {
    const std::string title = group_in_words(maps.groups, group, 16);
    columns.push_back(
        {{.title = title,
          .width = std::max(static_cast<int>(columns_of(title)), 8) + 2,
          .decimals = 1,
          .per_cent = true,
          .csv = false,
          .json = false},
         [&maps, from, group](const GroupedMap& map) { return maps.shares(map, from)[group]; }});
  }
  return columns;
}

}  // namespace

Report groups_report(const GroupedMaps& maps, std::optional<std::size_t> from) {
  struct Row {
    std::int64_t index;
    const TokenGroup* group;
    double share, received;
  };
  std::vector<Row> rows;
  for (std::size_t group = 0; group < maps.groups.size(); ++group) {
    double sum = 0, ready = 0;
    for (const GroupedMap& map : maps.heads) {
      const double share = maps.shares(map, from)[group];
      if (std::isnan(share)) continue;
      sum += share;
      ++ready;
    }
    rows.push_back(
        {static_cast<std::int64_t>(group), &maps.groups[group], sum / ready, maps.received[group]});
  }
  return report_of<Row>(
      std::move(rows),
      {{{.name = "group", .title = "group", .width = 5}, &Row::index},
       {json_only("name"), [](const Row& row) { return shown_text(row.group->name); }},
       {{.name = "tokens", .title = "tokens", .width = 8, .json = false},
        [](const Row& row) { return std::ssize(row.group->tokens); }},
       {json_only("tokens"), [](const Row& row) { return json_cell(row.group->tokens); }},
       {json_only("special"), [](const Row& row) { return row.group->special; }},
       {{.name = "share",
         .title = "share",
         .formula = "mean over heads and queries i of Σ_j a_ij, j in the group",
         .width = 10,
         .decimals = 1,
         .per_cent = true},
        &Row::share},
       {{.name = "receiver_score",
         .title = "receiver score",
         .formula = "mean weight from later groups, mean over the receiver heads",
         .width = 16,
         .decimals = 5,
         .if_known = true},
        &Row::received},
       {{.title = "name", .left = true}, nullptr, [&maps](const Row& row) {
          return group_in_words(maps.groups, static_cast<std::size_t>(row.index), 60);
        }}});
}

Report grouped_heads_report(const Trace& trace, const GroupedMaps& maps,
                            std::optional<std::size_t> from,
                            const std::vector<std::int64_t>& heads) {
  using Map = GroupedMap;
  std::vector<ColumnOf<Map>> columns = {
      layer_column<Map>(layers_in_words(trace), &Map::layer),
      {{.name = "head", .title = "head", .width = 6},
       [](const Map& map) { return if_any(map.head); },
       [](const Map& map) { return map.head < 0 ? "mean" : std::to_string(map.head); }},
      {{.name = "state"}, [](const Map& map) { return std::string(describe(map.state)); }},
      {{.name = "kurtosis",
        .title = "kurtosis",
        .formula = "m₄ / m₂² − 3 of the receiver scores of the head",
        .width = 10,
        .if_known = true},
       &Map::kurtosis},
      {{.name = "receiver", .title = "receiver", .width = 10, .if_known = true},
       [&maps](const Map& map) {
         return known_if(map.head >= 0 && !maps.receivers.empty(), is_receiver(maps, map));
       },
       [&maps](const Map& map) { return std::string(is_receiver(maps, map) ? "yes" : ""); }},
      {json_only("shares_of_all"), [](const Map& map) { return list_as_json(map.of_all); }},
      {json_only("receiver_scores"), [](const Map& map) { return list_as_json(map.received); }},
      {json_only("shares"), [](const Map& map) { return rows_as_json(map.shares); }},
      {json_only("mean_weights"),
       [&maps](const Map& map) { return rows_as_json(maps.mean_weights(map)); }},
      {csv_only("pairs"), [&maps](const Map& map) { return table_cell(pairs_of(maps, map)); }}};
  append(columns, share_columns(maps, from));
  columns.push_back({{.left = true}, nullptr, [](const Map& map) {
                       return std::string(map.state == HeadState::ready ? "" : describe(map.state));
                     }});
  return report_of(heads_and_means(maps, heads), std::move(columns));
}

std::string groups_in_words(const GroupedMaps& maps, const GroupOptions& options,
                            std::optional<std::size_t> from) {
  const auto grouped = std::accumulate(
      maps.groups.begin(), maps.groups.end(), std::size_t{0},
      [](std::size_t sum, const TokenGroup& group) { return sum + group.tokens.size(); });
  return std::to_string(maps.groups.size()) + " groups of " + std::to_string(grouped) + " of " +
         std::to_string(maps.tokens) + " tokens; shares of the attention of " +
         (from
              ? "group " + std::to_string(*from) + " \"" + group_in_words(maps.groups, *from) + "\""
              : std::string("all queries")) +
         (maps.receivers.empty()
              ? std::string()
              : "; receiver scores from " + std::to_string(options.apart) +
                    " or more groups later, mean of " + std::to_string(maps.receivers.size()) +
                    (maps.receivers.size() == 1 ? " receiver head" : " receiver heads")) +
         "\n";
}

}  // namespace attnscope
