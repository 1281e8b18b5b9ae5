// Where a layer lies in a trace's file.
#pragma once

#include <cstddef>
#include <string>

namespace attnscope {

/// "layer_07"
inline std::string layer_group(std::size_t layer) {
  return (layer < 10 ? "layer_0" : "layer_") + std::to_string(layer);
}

}  // namespace attnscope
