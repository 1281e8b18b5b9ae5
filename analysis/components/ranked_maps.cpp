#include "analysis/components/ranked_maps.h"

#include <algorithm>
#include <utility>

#include "analysis/spectrum/map_batch.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

/// Copies the metadata that views need to show other maps: no maps and no token vectors.
Trace frame_of(const Trace& trace) {
  Trace frame;
  frame.model_name = trace.model_name;
  frame.mechanism = trace.mechanism;
  frame.mechanism_trained = trace.mechanism_trained;
  frame.input_label = trace.input_label;
  frame.kind = trace.kind;
  frame.layout = trace.layout;
  frame.map_channels = trace.map_channels;
  frame.map_channel = trace.map_channel;
  frame.images = trace.images;
  frame.causal = trace.causal;
  for (const LayerTrace& layer : trace.layers) {
    LayerTrace& empty = frame.layers.emplace_back();
    empty.mechanism = layer.mechanism;
    empty.identity = false;
    empty.kind = layer.kind;
    empty.layout = layer.layout;
    empty.key_layout = layer.key_layout;
  }
  return frame;
}

}  // namespace

RankedMaps::RankedMaps(std::shared_ptr<const Trace> trace, const Progress& progress)
    : trace_(std::move(trace)) {
  for (const LayerTrace& layer : trace_->layers) {
    const bool recorded = !layer.implied_map.empty();
    layers_.emplace_back(recorded ? static_cast<std::size_t>(layer.implied_map.extent(0)) : 0);
    if (!recorded) continue;
    greatest_ =
        std::max(greatest_, std::min(layer.implied_map.extent(1), layer.implied_map.extent(2)));
  }
  if (greatest_ == 0) return;
  const std::vector<MapIndex> places = recorded_maps(*trace_, {});
  for_each_map(
      *trace_, places, progress,
      [&](std::size_t index) {
        const MapIndex& place = places[index];
        const MatrixD map = map_seen(*trace_, place, IdentityView::without);
        Parts& parts =
            layers_[static_cast<std::size_t>(place.layer)][static_cast<std::size_t>(place.head)];
        if (map.allFinite()) {
          const SingularVectors svd = singular_vectors(map);
          parts.left = (svd.left * svd.values.asDiagonal()).cast<float>();
          parts.right = svd.right.cast<float>();
        }
        return [] {};
      },
      "components");
}

Trace RankedMaps::of_rank(std::int64_t rank, bool rest) const {
  Trace result = frame_of(*trace_);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layers_[layer].empty()) continue;
    Tensor maps = maps_seen(*trace_, static_cast<std::int64_t>(layer), IdentityView::without).all();
    tbb::parallel_for(std::size_t{0}, layers_[layer].size(), [&](std::size_t head) {
      const Parts& parts = layers_[layer][head];
      if (parts.left.size() == 0) return;
      const Eigen::Index kept = std::min<Eigen::Index>(rank, parts.left.cols());
      const Matrix sum = parts.left.leftCols(kept) * parts.right.leftCols(kept).transpose();
      MatrixMap map = maps.slice(static_cast<std::int64_t>(head));
      if (rest) {
        map -= sum;
      } else {
        map = sum;
      }
    });
    result.layers[layer].implied_map = std::move(maps);
  }
  return result;
}

}  // namespace attnscope
