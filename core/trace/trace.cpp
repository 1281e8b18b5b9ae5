#include "core/trace/trace.h"

#include <algorithm>

#include "core/error.h"
#include "core/trace/recorded_layer.h"

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

}  // namespace

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

}  // namespace attnscope
