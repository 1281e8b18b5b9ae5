// Names of the layers of a trace, of their kinds, of their groups in a trace file, of the recorded
// channel, and of weights that were trained with another mechanism.
#pragma once

#include <cstddef>
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

/// The name of a picture's image in a trace file: "image", "image_2", ….
inline std::string image_name(std::size_t picture) {
  return picture == 0 ? "image" : "image_" + std::to_string(picture + 1);
}

/// The name of a layer's group in a trace file: "layer_07".
inline std::string layer_group(std::size_t layer) {
  return (layer < 10 ? "layer_0" : "layer_") + std::to_string(layer);
}

/// The channel whose maps the trace holds if each channel of a head has its own (DAFT):
/// "channel 3 of 16" or "mean of 16 channels". Empty if each head has one map.
[[nodiscard]] std::string channel_in_words(const Trace& trace);

/// Note in tables and captions on a mechanism that the weights were not trained for.
inline constexpr std::string_view not_trained_words =
    "not trained: laid over weights trained with another mechanism";
/// The same in parentheses, to follow the mechanism's name; empty if it is trained.
[[nodiscard]] inline std::string training_note(bool is_trained) {
  return is_trained ? std::string() : " (" + std::string(not_trained_words) + ")";
}

}  // namespace attnscope
