#include "analysis/rollout/rollout.h"

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

// The sum stands for the mean: rows are normalised afterwards.
MatrixD fused(const Tensor& maps, RolloutFusion fusion) {
  MatrixD result = maps.slice(0).cast<double>();
  for (std::int64_t head = 1; head < maps.extent(0); ++head) {
    const MatrixD map = maps.slice(head).cast<double>();
    switch (fusion) {
      case RolloutFusion::mean:
        result += map;
        break;
      case RolloutFusion::maximum:
        result = result.cwiseMax(map);
        break;
      case RolloutFusion::minimum:
        result = result.cwiseMin(map);
        break;
    }
  }
  return result;
}

// ½ Ā + ½ I of one layer.
MatrixD mixing(const Tensor& maps, RolloutFusion fusion) {
  const std::int64_t tokens = maps.extent(1);
  MatrixD mean = fused(maps, fusion);
  for (std::int64_t row = 0; row < tokens; ++row) {
    const double sum = mean.row(row).sum();
    if (std::isfinite(sum) && sum > 0) {
      mean.row(row) *= 0.5 / sum;
      mean(row, row) += 0.5;
    } else {
      mean.row(row).setZero();
      mean(row, row) = 1;
    }
  }
  return mean;
}

}  // namespace

Tensor attention_rollout(const Trace& trace, std::int64_t layers, const Progress& progress) {
  return attention_rollout(trace, RolloutOptions{.layers = layers}, progress);
}

Tensor attention_rollout(const Trace& trace, const RolloutOptions& options,
                         const Progress& progress) {
  const std::int64_t layers = options.layers;
  const std::int64_t count = layers > 0 ? layers : std::ssize(trace.layers);
  if (count > std::ssize(trace.layers)) {
    throw Error(ErrorKind::usage, "rollout reaches beyond the last layer")
        .expected("1 to " + std::to_string(trace.layers.size()))
        .found(std::to_string(layers));
  }
  const std::int64_t tokens = trace.tokens();
  MatrixD reach = MatrixD::Identity(tokens, tokens);
  for (std::int64_t layer = 0; layer < count; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(count), "rollout");
    const LayerTrace& traced = trace.layers[static_cast<std::size_t>(layer)];
    if (traced.kind != LayerKind::plain && traced.kind != LayerKind::encoder) {
      throw Error(ErrorKind::usage, "rollout goes from layer to layer of the same tokens")
          .about(layer_name(trace, layer, 1))
          .expected("layers of an encoder alone")
          .remedy("as many layers as the encoder has");
    }
    const Tensor& recorded = traced.implied_map;
    if (recorded.empty() || recorded.extent(1) != tokens || recorded.extent(2) != tokens) {
      throw Error(ErrorKind::usage, "rollout needs the square maps of every layer, of one size")
          .about("layer " + std::to_string(layer + 1))
          .expected("[H, " + std::to_string(tokens) + ", " + std::to_string(tokens) + "]")
          .found(recorded.empty() ? "no maps" : to_string(recorded.shape()))
          .remedy(recorded.empty() ? "record the maps of all layers"
                                   : "it is not defined where layers have other tokens, or fewer "
                                     "keys than queries: pyramids");
    }
    reach = mixing(maps_seen(trace, layer, IdentityView::without), options.fusion) * reach;
  }
  Tensor result({tokens, tokens});
  result.matrix() = reach.cast<float>();
  return result;
}

}  // namespace attnscope
