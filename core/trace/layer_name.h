// What the layers of a trace are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/trace.h"

namespace attnscope {

/// "encoder", "decoder", "cross", "class attention"; of a plain one "layer".
[[nodiscard]] std::string_view layer_kind_name(LayerKind kind);
/// Nothing for a name that no kind has.
[[nodiscard]] std::optional<LayerKind> layer_kind_named(std::string_view name);

/// "layer 3"; of an encoder–decoder "encoder 3", "decoder 0", "cross 0": layers of a kind are
/// counted from `first` on.
[[nodiscard]] std::string layer_name(const Trace& trace, std::int64_t layer,
                                     std::int64_t first = 0);

}  // namespace attnscope
