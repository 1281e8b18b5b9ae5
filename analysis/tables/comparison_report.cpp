#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "analysis/tables/reports.h"

namespace attnscope {

namespace {

/// Adds a column with one of the values that `values_of` returns for a row.
template <class Row, class Values>
void add_quantity(std::vector<ColumnOf<Row>>& columns, const ComparisonQuantityEntry& entry,
                  const char* suffix, Values values_of) {
  columns.push_back({{.name = std::string(entry.name) + suffix,
                      .title = *suffix == 0 ? std::string(entry.title) : "",
                      .decimals = 4,
                      .digits = 0,
                      .if_known = true},
                     [values_of, quantity = entry.quantity](const Row& row) {
                       return values_of(row)[quantity];
                     }});
}

}  // namespace

nlohmann::ordered_json comparison_values_json(const ComparisonValues& values) {
  std::vector<ColumnOf<ComparisonValues>> columns;
  for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
    add_quantity(columns, entry, "", [](const auto& row) { return row; });
  }
  return report_as_json(report_of<ComparisonValues>({values}, std::move(columns))).front();
}

Report compared_maps_report(const DataSetComparison& result, bool over_data_set) {
  using Map = ComparedMap;
  const auto deviation = [&result](const Map& map) {
    return result.deviation[static_cast<std::size_t>(&map - result.mean.maps.data())];
  };
  std::vector<ColumnOf<Map>> columns = {
      {{.name = "layer", .title = "layer"}, if_any(&Map::layer)},
      {{.name = "head", .title = "head"}, if_any(&Map::head)},
      {{.name = "reference_layer"}, if_any(&Map::reference_layer)},
      {{.name = "reference_head"}, if_any(&Map::reference_head)},
      {{.name = "state"}, [](const Map& map) { return std::string(describe(map.state)); }},
      {json_only("rows_with_negative_weights"), &Map::rows_with_negatives}};
  for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
    add_quantity(columns, entry, "", [](const Map& map) { return map.values; });
    if (over_data_set) add_quantity(columns, entry, "_standard_deviation", deviation);
  }
  if (!over_data_set) {
    columns.push_back({json_only("row_js_divergence_bits"),
                       [](const Map& map) { return json_cell(map.row_divergence); }});
  }
  return report_on(result.mean.maps, std::move(columns));
}

}  // namespace attnscope
