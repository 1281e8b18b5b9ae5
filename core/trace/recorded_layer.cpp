#include "core/trace/recorded_layer.h"

#include <iterator>
#include <string>

#include "core/error.h"

namespace attnscope {

const LayerTrace& recorded_layer(const Trace& trace, std::int64_t layer) {
  const auto layers = std::ssize(trace.layers);
  if (layer >= 0 && layer < layers) return trace.layers[static_cast<std::size_t>(layer)];
  throw Error(ErrorKind::usage, "the trace has no such layer")
      .expected("0 to " + std::to_string(layers - 1))
      .found(std::to_string(layer));
}

}  // namespace attnscope
