// Columns that several tables share: the layer of a row, and the analysed matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/report/report.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The name of each layer: "3" as --layers counts, or "3 cross 1" for a layer of a special kind.
[[nodiscard]] std::vector<std::string> layers_in_words(const Trace& trace);

/// Width of the column of these layers, and a layer's cell: its name, its number if the layer has
/// no name, "all" if it is negative.
[[nodiscard]] int layer_width(const std::vector<std::string>& layers);
[[nodiscard]] std::string layer_cell(const std::vector<std::string>& layers, std::int64_t layer);

/// The column of the layer of a row, which is a member or a function of it.
template <class Row, class Layer>
[[nodiscard]] ColumnOf<Row> layer_column(const std::vector<std::string>& layers, Layer layer) {
  return {{.name = "layer", .title = "layer", .width = layer_width(layers)},
          [layer](const Row& row) { return if_any(std::invoke(layer, row)); },
          [layers, layer](const Row& row) { return layer_cell(layers, std::invoke(layer, row)); }};
}

/// The values of the columns "of", "centred" and "added", such as "scores", "false", "none". Empty
/// for plain attention maps, whose tables lack these columns.
[[nodiscard]] std::vector<std::string> analysed_cells(const MatrixChoice& analysed);
/// Adds the columns of analysed_cells to CSV, the first with the name `of`.
template <class Row>
void add_analysed(std::vector<ColumnOf<Row>>& columns, const MatrixChoice& analysed,
                  const char* of = "of") {
  const char* const names[] = {of, "centred", "added"};
  std::size_t index = 0;
  for (const std::string& cell : analysed_cells(analysed)) {
    columns.push_back({csv_only(names[index++]), [cell](const Row&) { return cell; }});
  }
}

}  // namespace attnscope
