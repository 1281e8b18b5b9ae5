#include "analysis/tables/shared_columns.h"

#include <algorithm>

#include "core/text/table_cell.h"
#include "core/trace/layer_name.h"

namespace attnscope {

std::vector<std::string> layers_in_words(const Trace& trace) {
  std::vector<std::string> words;
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    const bool plain = trace.layers[static_cast<std::size_t>(layer)].kind == LayerKind::plain;
    words.push_back(std::to_string(layer) + (plain ? "" : " " + layer_name(trace, layer)));
  }
  return words;
}

int layer_width(const std::vector<std::string>& layers) {
  std::size_t width = columns_of("layer");
  for (const std::string& layer : layers) width = std::max(width, columns_of(layer));
  return static_cast<int>(width);
}

std::string layer_cell(const std::vector<std::string>& layers, std::int64_t layer) {
  if (layer < 0) return "all";
  return layer < std::ssize(layers) ? layers[static_cast<std::size_t>(layer)]
                                    : std::to_string(layer);
}

std::vector<std::string> analysed_cells(const MatrixChoice& analysed) {
  if (analysed.is_plain_map()) return {};
  return {std::string(name_of(matrix_kind_names, analysed.of)), analysed.centred ? "true" : "false",
          std::string(name_of(added_names, analysed.added))};
}

}  // namespace attnscope
