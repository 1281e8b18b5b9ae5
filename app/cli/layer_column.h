// The table column that names the layer of a row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

}  // namespace attnscope
