#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "analysis/tables/reports.h"
#include "analysis/tables/shared_columns.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

constexpr std::size_t kNamed = 3;  ///< number of keys and queries named in the table

/// The tokens of greatest magnitude: "3 (to), 17 (be), −4 (not)", with a minus before negative
/// entries.
std::string strongest(const std::vector<double>& vector, const TokenLayout& layout) {
  std::vector<std::size_t> order(vector.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t named = std::min(kNamed, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(named), order.end(),
      [&](std::size_t a, std::size_t b) { return std::abs(vector[a]) > std::abs(vector[b]); });
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const std::string index = std::to_string(order[i]);
    const std::string name = layout.name(static_cast<std::int64_t>(order[i]));
    text += (i > 0 ? ", " : "") + std::string(vector[order[i]] < 0 ? "−" : "") +
            (name.empty() || name == index ? index : shown_text(name));
  }
  return text;
}

/// The token layout along one side of the matrix; an empty layout for channels.
const TokenLayout& layout_along(const Trace& trace, std::int64_t layer, Extent extent) {
  static const TokenLayout nowhere;
  if (extent == Extent::channels) return nowhere;
  return extent == Extent::keys ? key_layout(trace, layer) : query_layout(trace, layer);
}

/// "keys read; queries using" for attention maps; names of columns and rows for other matrices.
std::string sides_in_words(const MatrixChoice& analysed) {
  const Extent columns = columns_of(analysed.of), rows = rows_of(analysed.of);
  return (columns == Extent::keys ? "keys read" : std::string(name_of(extent_names, columns))) +
         "; " +
         (rows == Extent::queries ? "queries using" : std::string(name_of(extent_names, rows)));
}

/// The singular name of an extent: "key", "query", "token", "channel".
std::string one_of(Extent extent) {
  const std::string_view all = name_of(extent_names, extent);
  return extent == Extent::queries ? "query" : std::string(all.substr(0, all.size() - 1));
}

/// The entries of both vectors of a component, those of the columns first.
Report entries_report(const Component& component, const MatrixChoice& analysed) {
  const std::vector<double>&keys = component.keys, &queries = component.queries;
  const Extent columns = columns_of(analysed.of);
  const std::string key = one_of(columns), query = one_of(rows_of(analysed.of));
  const auto index = [&keys](std::size_t row) {
    return row < keys.size() ? row : row - keys.size();
  };
  return {{{.name = "of",
            .value = [=, &keys](std::size_t row) { return row < keys.size() ? key : query; }},
           {.name = columns == Extent::channels ? "index" : "token",
            .value = [=](std::size_t row) { return static_cast<std::int64_t>(index(row)); }},
           {.name = "value",
            .digits = 0,
            .value =
                [=, &keys, &queries](std::size_t row) {
                  return (row < keys.size() ? keys : queries)[index(row)];
                }}},
          keys.size() + queries.size()};
}

/// One row per component of a map.
Report components_table(const Trace& trace, const MatrixChoice& analysed,
                        const MapComponents& map) {
  const Extent columns = columns_of(analysed.of), rows = rows_of(analysed.of);
  std::vector<std::size_t> indices(map.components.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const auto of = [&map](auto member) {
    return [&map, member](std::size_t k) { return std::invoke(member, map.components[k]); };
  };
  const auto vector = [&map](std::vector<double> Component::*member) {
    return [&map, member](std::size_t k) { return json_cell(map.components[k].*member); };
  };
  return report_of<std::size_t>(
      std::move(indices),
      {{{.name = "component", .title = "k", .width = 4, .json = false},
        [](std::size_t k) { return static_cast<std::int64_t>(k) + 1; }},
       {{.name = "sigma", .title = "sigma", .width = 11, .decimals = 5, .digits = 0},
        of(&Component::value)},
       {{.name = "share", .title = "of sum", .width = 8, .decimals = 3},
        [&map](std::size_t k) { return map.share(k); }},
       {{.name = "share_of_squares", .title = "of squares", .width = 12, .decimals = 4},
        [&map](std::size_t k) { return map.share_of_squares(k); }},
       {{.name = "entries",
         .json = false,
         .table = std::make_shared<const Report>(entries_report({}, analysed))},
        of([&](const Component& one) { return table_cell(entries_report(one, analysed)); })},
       {json_only(std::string(name_of(extent_names, columns))), vector(&Component::keys)},
       {json_only(std::string(name_of(extent_names, rows))), vector(&Component::queries)},
       {{.title = sides_in_words(analysed), .left = true},
        nullptr,
        of([&trace, &map, columns, rows](const Component& one) {
          return strongest(one.keys, layout_along(trace, map.layer, columns)) + "; " +
                 strongest(one.queries, layout_along(trace, map.layer, rows));
        })}});
}

}  // namespace

Report components_report(const Trace& trace, const MatrixChoice& analysed,
                         const std::vector<MapComponents>& maps) {
  using Map = MapComponents;
  return report_on(
      maps, {layer_column<Map>(layers_in_words(trace), &Map::layer),
             {{.name = "head", .title = "head", .width = 6},
              [](const Map& map) { return known_if(map.head != kAllHeads, map.head); }},
             {{.name = "identity", .title = "I", .width = 7},
              &Map::identity,
              [](const Map& map) { return map.identity ? "with" : "no"; }},
             {json_only("state"), [](const Map& map) { return std::string(describe(map.state)); }},
             {{.name = "components"},
              [&](const Map& map) { return table_cell(components_table(trace, analysed, map)); }},
             {{.left = true}, nullptr, [](const Map& map) {
                return std::string(map.components.empty() ? describe(map.state) : "");
              }}});
}

}  // namespace attnscope
