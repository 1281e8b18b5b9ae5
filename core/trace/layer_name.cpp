#include "core/trace/layer_name.h"

#include <algorithm>
#include <iterator>

namespace attnscope {

namespace {

/// The names are in the order of LayerKind.
constexpr std::string_view kNames[] = {"layer", "encoder", "decoder", "cross", "class attention"};

}  // namespace

std::string_view layer_kind_name(LayerKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<LayerKind> layer_kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<LayerKind>(found - std::begin(kNames));
}

std::string layer_name(const Trace& trace, std::int64_t layer, std::int64_t first) {
  std::int64_t number = first + layer;
  LayerKind kind = LayerKind::plain;
  if (layer >= 0 && layer < std::ssize(trace.layers)) {
    const auto end = trace.layers.begin() + layer;
    kind = end->kind;
    number = first + std::count_if(trace.layers.begin(), end,
                                   [&](const LayerTrace& other) { return other.kind == kind; });
  }
  return std::string(layer_kind_name(kind)) + " " + std::to_string(number);
}

std::string channel_in_words(const Trace& trace) {
  if (trace.map_channels < 2) return {};
  const std::string count = std::to_string(trace.map_channels);
  return trace.map_channel ? "channel " + std::to_string(*trace.map_channel) + " of " + count
                           : "mean of " + count + " channels";
}

}  // namespace attnscope
