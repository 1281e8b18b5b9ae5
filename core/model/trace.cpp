#include "core/model/trace.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope {

namespace {

const Tensor* first_map(const Trace& trace) {
  const auto found = std::find_if(trace.layers.begin(), trace.layers.end(),
                                  [](const LayerTrace& l) { return !l.implied_map.empty(); });
  return found == trace.layers.end() ? nullptr : &found->implied_map;
}

}  // namespace

std::int64_t Trace::heads() const {
  if (const Tensor* map = first_map(*this)) return map->extent(0);
  for (const LayerTrace& layer : layers) {
    if (!layer.queries.empty()) return layer.queries.extent(0);
  }
  return 0;
}

std::int64_t Trace::tokens() const {
  if (const Tensor* map = first_map(*this)) return map->extent(1);
  for (const LayerTrace& layer : layers) {
    if (!layer.queries.empty()) return layer.queries.extent(1);
    if (!layer.tokens.empty()) return layer.tokens.extent(0);
  }
  return 0;
}

bool shows_identity(const Trace& trace, IdentityView view) {
  if (view == IdentityView::as_is) return trace.identity_in_maps;
  return view == IdentityView::with;
}

Tensor maps_seen(const Trace& trace, std::int64_t layer, IdentityView view) {
  if (layer < 0 || layer >= static_cast<std::int64_t>(trace.layers.size())) {
    throw Error(ErrorKind::usage, "there is no such layer")
        .expected("0 to " + std::to_string(static_cast<std::int64_t>(trace.layers.size()) - 1))
        .found(std::to_string(layer));
  }
  Tensor maps = trace.layers[static_cast<std::size_t>(layer)].implied_map;
  if (maps.empty()) {
    throw Error(ErrorKind::usage,
                "the maps of layer " + std::to_string(layer) + " were not recorded");
  }
  const bool wanted = shows_identity(trace, view);
  if (wanted != trace.identity_in_maps) {
    const float change = wanted ? 1.0F : -1.0F;
    for (std::int64_t head = 0; head < maps.extent(0); ++head) {
      maps.slice(head).diagonal().array() += change;
    }
  }
  return maps;
}

}  // namespace attnscope
