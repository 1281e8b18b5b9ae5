#include "analysis/position_bias/key_maps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

const Tensor* logits_of(const Trace& trace, std::int64_t layer) {
  if (layer < 0 || layer >= std::ssize(trace.layers)) return nullptr;
  const NamedTensors& quantities = trace.layers[static_cast<std::size_t>(layer)].quantities;
  const auto found = quantities.find("key_logits");
  const bool there = found != quantities.end() && found->second.rank() == 2;
  return there ? &found->second : nullptr;
}

}  // namespace

bool has_key_maps(const Trace& trace) {
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    const Tensor* const logits = logits_of(trace, layer);
    const LayerTrace& record = trace.layers[static_cast<std::size_t>(layer)];
    if (logits && record.key_layout.is_grid_of(logits->extent(1))) return true;
  }
  return false;
}

std::int64_t key_channels(const Trace& trace, std::int64_t layer) {
  const Tensor* const logits = logits_of(trace, layer);
  return logits ? logits->extent(0) : 0;
}

KeyMap key_map(const Trace& trace, std::int64_t layer, std::int64_t channel) {
  const Tensor* const logits = logits_of(trace, layer);
  if (!logits) {
    throw Error(ErrorKind::usage, "the trace holds no keys of DAFT")
        .about(trace.model_name)
        .remedy(trace.mechanism.name.starts_with("daft-")
                    ? "record them: attnscope trace --record quantities"
                    : "open a DAFT model, or lay daft-full or daft-conv over this one");
  }
  if (channel < 0 || channel >= logits->extent(0)) {
    throw Error(ErrorKind::usage, "the keys have no such channel")
        .expected("0 to " + std::to_string(logits->extent(0) - 1))
        .found(std::to_string(channel));
  }
  const TokenLayout& layout = trace.layers[static_cast<std::size_t>(layer)].key_layout;
  if (!layout.is_grid_of(logits->extent(1))) {
    throw Error(ErrorKind::usage, "the tokens do not form a grid over an image")
        .about(trace.model_name);
  }
  KeyMap map{.layer = layer,
             .channel = channel,
             .channels = logits->extent(0),
             .rows = layout.rows,
             .columns = layout.columns,
             .values = {}};
  const float* const first = logits->data() + channel * logits->extent(1) + layout.prefix;
  map.values.assign(first, first + map.rows * map.columns);
  const float largest = *std::max_element(map.values.begin(), map.values.end());
  for (float& value : map.values) value = std::exp(value - largest);
  return map;
}

}  // namespace attnscope
