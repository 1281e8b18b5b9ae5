// The name of a layer's group in a trace file.
#pragma once

#include <cstddef>
#include <string>

namespace attnscope {

/// Example: "layer_07".
inline std::string layer_group(std::size_t layer) {
  return (layer < 10 ? "layer_0" : "layer_") + std::to_string(layer);
}

}  // namespace attnscope
