#include "core/trace/trace.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <tbb/task_arena.h>

#include "core/error.h"

namespace attnscope {

namespace {

const LayerTrace* layer_at(const Trace& trace, std::int64_t layer) {
  if (layer < 0 || layer >= static_cast<std::int64_t>(trace.layers.size())) return nullptr;
  return &trace.layers[static_cast<std::size_t>(layer)];
}

/// False if the layer is known to have other numbers of queries and keys.
bool may_be_square(const LayerTrace& layer) {
  if (!layer.implied_map.empty()) {
    return layer.implied_map.extent(1) == layer.implied_map.extent(2);
  }
  if (layer.factors) return layer.factors->left.extent(1) == layer.factors->right.extent(1);
  return layer.queries.empty() || layer.keys.empty() ||
         layer.queries.extent(1) == layer.keys.extent(1);
}

bool is_known(const TokenLayout& layout) {
  return layout.prefix > 0 || layout.has_grid() || !layout.texts.empty();
}

}  // namespace

bool SeenKeys::sees(std::int64_t query, std::int64_t key) const {
  const auto i = static_cast<std::size_t>(query), j = static_cast<std::size_t>(key);
  if (!ranges.empty() && (key < ranges[i].first || key >= ranges[i].second)) return false;
  return windows.empty() || windows[i] == windows[j];
}

std::pair<std::int64_t, std::int64_t> SeenKeys::range_of(std::int64_t query,
                                                         std::int64_t keys) const {
  if (ranges.empty()) return {0, keys};
  const auto& [first, end] = ranges[static_cast<std::size_t>(query)];
  return {std::max<std::int64_t>(first, 0), std::min(end, keys)};
}

std::vector<std::int64_t> SeenKeys::keys_of(std::int64_t query, std::int64_t keys) const {
  const auto [first, end] = range_of(query, keys);
  std::vector<std::int64_t> seen;
  for (std::int64_t key = first; key < end; ++key) {
    if (sees(query, key)) seen.push_back(key);
  }
  return seen;
}

std::int64_t SeenKeys::count_of(std::int64_t query, std::int64_t keys) const {
  const auto [first, end] = range_of(query, keys);
  if (windows.empty()) return std::max<std::int64_t>(end - first, 0);
  std::int64_t count = 0;
  for (std::int64_t key = first; key < end; ++key) count += sees(query, key) ? 1 : 0;
  return count;
}

bool SeenKeys::hides_any(std::int64_t queries, std::int64_t keys) const {
  if (ranges.empty() && windows.empty()) return false;
  for (std::int64_t query = 0; query < queries; ++query) {
    if (count_of(query, keys) < keys) return true;
  }
  return false;
}

SeenKeys up_to_the_query(std::int64_t tokens) {
  SeenKeys seen;
  for (std::int64_t query = 0; query < tokens; ++query) seen.ranges.emplace_back(0, query + 1);
  return seen;
}

SeenKeys within_blocks(const std::vector<std::vector<std::int64_t>>& blocks) {
  std::size_t tokens = 0;
  for (const std::vector<std::int64_t>& block : blocks) tokens += block.size();
  SeenKeys seen;
  seen.windows.resize(tokens);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (const std::int64_t token : blocks[block]) {
      seen.windows[static_cast<std::size_t>(token)] = static_cast<std::int64_t>(block);
    }
  }
  return seen;
}

std::int64_t Trace::heads(std::int64_t layer) const {
  const LayerTrace* const found = layer_at(*this, layer);
  if (!found) return 0;
  if (!found->implied_map.empty()) return found->implied_map.extent(0);
  return found->queries.empty() ? 0 : found->queries.extent(0);
}

std::int64_t Trace::queries(std::int64_t layer) const {
  const LayerTrace* const found = layer_at(*this, layer);
  if (!found) return 0;
  if (!found->implied_map.empty()) return found->implied_map.extent(1);
  if (!found->queries.empty()) return found->queries.extent(1);
  return found->tokens.empty() ? 0 : found->tokens.extent(0);
}

std::int64_t Trace::keys(std::int64_t layer) const {
  const LayerTrace* const found = layer_at(*this, layer);
  if (!found) return 0;
  if (!found->implied_map.empty()) return found->implied_map.extent(2);
  if (!found->keys.empty()) return found->keys.extent(1);
  return queries(layer);
}

std::int64_t Trace::heads() const {
  std::int64_t most = 0;
  for (std::int64_t layer = 0; layer < std::ssize(layers); ++layer) {
    most = std::max(most, heads(layer));
  }
  return most;
}

std::int64_t Trace::tokens() const {
  std::int64_t most = 0;
  for (std::int64_t layer = 0; layer < std::ssize(layers); ++layer) {
    most = std::max(most, queries(layer));
  }
  return most;
}

bool Trace::uniform() const {
  for (std::int64_t layer = 0; layer < std::ssize(layers); ++layer) {
    if (layers[static_cast<std::size_t>(layer)].kind != LayerKind::plain) return false;
    if (queries(layer) == 0) continue;
    const bool same_heads = heads(layer) == 0 || heads(layer) == heads();
    if (!same_heads || queries(layer) != tokens() || keys(layer) != tokens()) return false;
  }
  return true;
}

bool has_identity(const Trace& trace, std::int64_t layer, IdentityView view) {
  const LayerTrace* const found = layer_at(trace, layer);
  if (view == IdentityView::without || (found && !may_be_square(*found))) return false;
  if (view == IdentityView::with) return true;
  return found && found->identity ? *found->identity : trace.identity_in_maps;
}

bool shows_identity(const Trace& trace, IdentityView view) {
  if (view == IdentityView::as_is) return trace.identity_in_maps;
  if (view == IdentityView::without) return false;
  const auto recorded = [&](const LayerTrace& layer) {
    return !layer.implied_map.empty() || layer.factors.has_value();
  };
  const auto square = [&](const LayerTrace& layer) {
    return recorded(layer) && may_be_square(layer);
  };
  return std::ranges::none_of(trace.layers, recorded) || std::ranges::any_of(trace.layers, square);
}

ImpliedMaps maps_seen(const Trace& trace, std::int64_t layer, IdentityView view) {
  ImpliedMaps maps = recorded_layer(trace, layer).implied_map;
  if (maps.empty()) {
    throw Error(ErrorKind::usage,
                "the maps of layer " + std::to_string(layer) + " were not recorded");
  }
  const bool wanted = has_identity(trace, layer, view);
  if (wanted != has_identity(trace, layer)) maps.add_to_diagonals(wanted ? 1.0F : -1.0F);
  return maps;
}

const MechanismChoice& mechanism_of(const Trace& trace, const LayerTrace& layer) {
  return layer.mechanism ? *layer.mechanism : trace.mechanism;
}

const TokenLayout& query_layout(const Trace& trace, std::int64_t layer) {
  const LayerTrace* const own = layer_at(trace, layer);
  return own && is_known(own->layout) ? own->layout : trace.layout;
}

const TokenLayout& key_layout(const Trace& trace, std::int64_t layer) {
  static const TokenLayout nowhere;
  const LayerTrace* const own = layer_at(trace, layer);
  if (own && is_known(own->key_layout)) return own->key_layout;
  return trace.keys(layer) == trace.queries(layer) ? query_layout(trace, layer) : nowhere;
}

std::int64_t same_place(const TokenLayout& from, std::int64_t index, const TokenLayout& to,
                        std::int64_t count) {
  const auto within = [count](std::int64_t found) {
    return std::clamp<std::int64_t>(found, 0, std::max<std::int64_t>(count - 1, 0));
  };
  const std::optional<std::int64_t> picture = from.picture_of(index);
  if (!picture) return within(index);
  const TokenCells a = from.cells(*picture), b = to.cells(*picture);
  const std::optional<CellBlock> block = a.block_of(index);
  if (!block || a.count() == 0 || b.count() == 0 || a == b) return within(index);
  // Centres are computed in units of half a cell.
  const std::int64_t row = (2 * block->row + block->rows) * b.rows / (2 * a.rows);
  const std::int64_t column = (2 * block->column + block->columns) * b.columns / (2 * a.columns);
  return within(b.token_at(row, column));
}

const LayerTrace& recorded_layer(const Trace& trace, std::int64_t layer) {
  const auto layers = std::ssize(trace.layers);
  if (layer >= 0 && layer < layers) return trace.layers[static_cast<std::size_t>(layer)];
  throw Error(ErrorKind::usage, "the trace has no such layer")
      .expected("0 to " + std::to_string(layers - 1))
      .found(std::to_string(layer));
}

bool has_computed_maps(const Trace& trace) {
  return std::ranges::any_of(
      trace.layers, [](const LayerTrace& layer) { return layer.implied_map.are_computed(); });
}

void take_turn_at_computed_map(const std::function<void()>& look) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  tbb::this_task_arena::isolate(look);  // waiting threads must not start work that needs the mutex
}

}  // namespace attnscope
