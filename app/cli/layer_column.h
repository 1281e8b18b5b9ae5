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

/// Cells right-aligned under "layer", all of the same width.
class LayerColumn {
 public:
  explicit LayerColumn(std::vector<std::string> layers);

  /// The cell "layer".
  [[nodiscard]] std::string heading() const { return cell("layer"); }
  /// The empty cell for a second line of the heading.
  [[nodiscard]] std::string blank() const { return cell(""); }
  /// The layer's name, or its number if the layer is unknown.
  [[nodiscard]] std::string operator()(std::int64_t layer) const;
  /// A cell for a row that belongs to no layer.
  [[nodiscard]] std::string cell(const std::string& text) const;

 private:
  std::vector<std::string> layers_;
  int width_ = 0;
};

}  // namespace attnscope
