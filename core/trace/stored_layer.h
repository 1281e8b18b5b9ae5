// One layer of a stored trace: its data sets, and whether they fit each other.
#pragma once

#include <cstdint>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The elements of the data set `name`, of `rank` axes (0: any number); one leading axis of extent
/// 1 (a batch of one) more is dropped. Empty if there is none. Throws Error(damaged) saying what is
/// `expected` ("[heads, N, M]") of another shape, and for elements that are not floating point.
[[nodiscard]] Tensor read_data_set(const Checkpoint& file, const std::string& name,
                                   std::int64_t rank, const char* expected);

/// The maps, and what float32 would round of them.
void take_map(const TensorView& view, LayerTrace& layer);

/// The data sets of the group `name` ("layer_00"). Throws Error(damaged), as for factors that do
/// not multiply to the maps beside them.
[[nodiscard]] LayerTrace read_layer_trace(const Checkpoint& file, const std::string& name);

/// Throws Error(damaged) naming `name` unless the layer's tensors speak of the same tokens, and its
/// grids have room for them.
void check_tokens_agree(const LayerTrace& layer, const std::string& name);

}  // namespace attnscope
