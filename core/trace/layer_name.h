// Names of the layers of a trace and of their kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/trace.h"

namespace attnscope {

/// One of "layer" (plain), "encoder", "decoder", "cross" and "class attention".
[[nodiscard]] std::string_view layer_kind_name(LayerKind kind);
/// Empty if no kind has that name.
[[nodiscard]] std::optional<LayerKind> layer_kind_named(std::string_view name);

/// A name such as "layer 3", or in an encoder–decoder "encoder 3", "decoder 0" and "cross 0": the
/// layers of each kind are counted from `first` on.
[[nodiscard]] std::string layer_name(const Trace& trace, std::int64_t layer,
                                     std::int64_t first = 0);

}  // namespace attnscope
