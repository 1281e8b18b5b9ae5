// The column of tables that says which layer a row is of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// Of each layer: "3", as --layers counts; of a model whose layers are of several kinds with its
/// name, "3 cross 1".
[[nodiscard]] std::vector<std::string> layers_in_words(const Trace& trace);

/// Right-aligned cells under "layer", all of the same width.
class LayerColumn {
 public:
  explicit LayerColumn(std::vector<std::string> layers);

  /// "layer".
  [[nodiscard]] std::string heading() const { return cell("layer"); }
  /// What stands under the heading where it has a second line.
  [[nodiscard]] std::string blank() const { return cell(""); }
  /// Its number where the layer is none of those known.
  [[nodiscard]] std::string operator()(std::int64_t layer) const;
  /// Of a row that is of no layer.
  [[nodiscard]] std::string cell(const std::string& text) const;

 private:
  std::vector<std::string> layers_;
  int width_ = 0;
};

}  // namespace attnscope
