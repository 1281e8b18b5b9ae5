// Reads one layer of a stored trace and checks that its data sets agree.
#pragma once

#include <cstdint>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The elements of the data set `name` with `rank` axes (0: any number). One additional leading
/// axis of size 1 (a batch of one) is dropped. Empty if there is no such data set. Throws
/// Error(damaged) for a wrong shape, with `expected` ("[heads, N, M]") in the message, and for
/// elements that are not floating point.
[[nodiscard]] Tensor read_data_set(const Checkpoint& file, const std::string& name,
                                   std::int64_t rank, const char* expected);

/// Sets the layer's maps, and for double-precision data also their exact values.
void take_map(const TensorView& view, LayerTrace& layer);

/// Reads the data sets of the group `name` ("layer_00"). Throws Error(damaged), for example if the
/// product of the factors does not have the shape of the maps.
[[nodiscard]] LayerTrace read_layer_trace(const Checkpoint& file, const std::string& name);

/// Throws Error(damaged) naming `name` unless the layer's tensors have the same numbers of tokens
/// and its grids match them.
void check_tokens_agree(const LayerTrace& layer, const std::string& name);

}  // namespace attnscope
