#include "core/trace/layer_layout.h"

#include <algorithm>

namespace attnscope {

namespace {

bool is_known(const TokenLayout& layout) {
  return layout.prefix > 0 || layout.has_grid() || !layout.texts.empty();
}

const LayerTrace* recorded(const Trace& trace, std::int64_t layer) {
  if (layer < 0 || layer >= std::ssize(trace.layers)) return nullptr;
  return &trace.layers[static_cast<std::size_t>(layer)];
}

}  // namespace

const TokenLayout& query_layout(const Trace& trace, std::int64_t layer) {
  const LayerTrace* const own = recorded(trace, layer);
  return own && is_known(own->layout) ? own->layout : trace.layout;
}

const TokenLayout& key_layout(const Trace& trace, std::int64_t layer) {
  static const TokenLayout nowhere;
  const LayerTrace* const own = recorded(trace, layer);
  if (own && is_known(own->key_layout)) return own->key_layout;
  return trace.keys(layer) == trace.queries(layer) ? query_layout(trace, layer) : nowhere;
}

std::int64_t same_place(const TokenLayout& from, std::int64_t index, const TokenLayout& to,
                        std::int64_t count) {
  const auto within = [count](std::int64_t found) {
    return std::clamp<std::int64_t>(found, 0, std::max<std::int64_t>(count - 1, 0));
  };
  const std::int64_t cell = index - from.prefix;
  const bool on_grids = from.has_grid() && to.has_grid() && cell >= 0;
  if (!on_grids || cell >= from.rows * from.columns) return within(index);
  // Cell centres are computed in units of half a cell.
  const std::int64_t row = (2 * (cell / from.columns) + 1) * to.rows / (2 * from.rows);
  const std::int64_t column = (2 * (cell % from.columns) + 1) * to.columns / (2 * from.columns);
  return within(to.prefix + row * to.columns + column);
}

}  // namespace attnscope
