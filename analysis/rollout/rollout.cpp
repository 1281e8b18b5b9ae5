#include "analysis/rollout/rollout.h"

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

// Fused map of all heads. The mean is left as a sum: rows are normalised afterwards. map_of(head)
// is the map of a head, or one block of it.
template <class MapOf>
MatrixD fused(std::int64_t heads, const MapOf& map_of, RolloutFusion fusion) {
  MatrixD result = map_of(0);
  for (std::int64_t head = 1; head < heads; ++head) {
    const MatrixD map = map_of(head);
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

// ½ Ā + ½ I of one layer, or of one block of its tokens.
template <class MapOf>
MatrixD mixing(std::int64_t heads, const MapOf& map_of, RolloutFusion fusion) {
  MatrixD mean = fused(heads, map_of, fusion);
  for (Eigen::Index row = 0; row < mean.rows(); ++row) {
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

// Rollout after a layer, from the rollout before it. Blocks mix only their own tokens.
MatrixD heads_mixed(const ImpliedMaps& maps, RolloutFusion fusion, const MatrixD& reach) {
  const std::int64_t heads = maps.extent(0);
  const MapBlocks* const blocks = maps.blocks();
  if (!blocks) {
    const auto map_of = [&](std::int64_t head) -> MatrixD {
      return maps.slice(head).cast<double>();
    };
    return mixing(heads, map_of, fusion) * reach;
  }
  MatrixD result(reach.rows(), reach.cols());
  for (std::int64_t block = 0; block < blocks->count(); ++block) {
    const auto map_of = [&](std::int64_t head) -> MatrixD {
      return blocks->block(head, block).cast<double>();
    };
    const std::vector<std::int64_t>& tokens = blocks->tokens_of(block);
    result(tokens, Eigen::all) = mixing(heads, map_of, fusion) * reach(tokens, Eigen::all);
  }
  return result;
}

// Index of the token of a coarser grid that contains each token of a finer grid, such as patches
// merged 2 × 2. Empty if `coarse` is not such a grid of `fine`.
std::vector<std::int64_t> merged_into(const TokenLayout& fine, const TokenLayout& coarse) {
  if (!fine.has_grid() || !coarse.has_grid() || fine.prefix > 0 || coarse.prefix > 0) return {};
  const auto parts = [](std::int64_t whole, std::int64_t part) {
    return (whole + part - 1) / part;
  };
  const std::int64_t side = parts(fine.rows, coarse.rows);
  if (parts(fine.rows, side) != coarse.rows || parts(fine.columns, side) != coarse.columns) {
    return {};
  }
  std::vector<std::int64_t> into;
  for (std::int64_t row = 0; row < fine.rows; ++row) {
    for (std::int64_t column = 0; column < fine.columns; ++column) {
      into.push_back(row / side * coarse.columns + column / side);
    }
  }
  return into;
}

// Each row of the result is the mean of the rows merged into it.
MatrixD merged(const MatrixD& reach, const std::vector<std::int64_t>& into, std::int64_t count) {
  MatrixD result = MatrixD::Zero(count, reach.cols());
  Eigen::VectorXd parts = Eigen::VectorXd::Zero(count);
  for (std::size_t token = 0; token < into.size(); ++token) {
    result.row(into[token]) += reach.row(static_cast<Eigen::Index>(token));
    parts(into[token]) += 1;
  }
  return result.array().colwise() / parts.array();
}

bool is_of_encoder(const LayerTrace& layer) {
  return layer.kind == LayerKind::plain || layer.kind == LayerKind::encoder;
}

bool is_square(const ImpliedMaps& maps) {
  return !maps.empty() && maps.extent(1) == maps.extent(2);
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
  const std::int64_t tokens = trace.queries(0);
  MatrixD reach = MatrixD::Identity(tokens, tokens);
  std::vector<std::int64_t> part_of(
      static_cast<std::size_t>(tokens));  // row of `reach` that contains each token
  std::iota(part_of.begin(), part_of.end(), 0);
  for (std::int64_t layer = 0; layer < count; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(count), "rollout");
    const LayerTrace& traced = trace.layers[static_cast<std::size_t>(layer)];
    if (!is_of_encoder(traced)) {
      throw Error(ErrorKind::usage, "rollout needs layers over the same tokens")
          .about(layer_name(trace, layer, 1))
          .expected("layers of the encoder only")
          .remedy("choose at most as many layers as the encoder has");
    }
    const ImpliedMaps& recorded = traced.implied_map;
    if (!is_square(recorded)) {
      throw Error(ErrorKind::usage, "rollout needs the square maps of every layer")
          .about("layer " + std::to_string(layer + 1))
          .expected("[H, N, N]")
          .found(recorded.empty() ? "no maps" : to_string(recorded.shape()))
          .remedy(recorded.empty() ? "record the maps of all layers"
                                   : "it is not defined where layers have fewer keys than "
                                     "queries: pyramids");
    }
    if (recorded.extent(1) != reach.rows()) {
      const std::vector<std::int64_t> into =
          merged_into(trace.layers[static_cast<std::size_t>(layer - 1)].layout, traced.layout);
      if (std::ssize(into) != reach.rows()) {
        throw Error(ErrorKind::usage, "rollout needs layers of the same tokens, or merged ones")
            .about("layer " + std::to_string(layer + 1))
            .expected(std::to_string(reach.rows()) + " tokens, or their grid with cells merged")
            .found(std::to_string(recorded.extent(1)));
      }
      reach = merged(reach, into, recorded.extent(1));
      for (std::int64_t& row : part_of) row = into[static_cast<std::size_t>(row)];
    }
    reach = heads_mixed(maps_seen(trace, layer, IdentityView::without), options.fusion, reach);
  }
  Tensor result({tokens, tokens});
  result.matrix() = reach(part_of, Eigen::all).cast<float>();
  return result;
}

bool has_rollout(const Trace& trace) {
  for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
    const LayerTrace& here = trace.layers[layer];
    if (!is_of_encoder(here) || !is_square(here.implied_map)) return false;
    if (layer == 0) continue;
    const LayerTrace& before = trace.layers[layer - 1];
    if (here.implied_map.extent(1) != before.implied_map.extent(1) &&
        merged_into(before.layout, here.layout).empty()) {
      return false;
    }
  }
  return !trace.layers.empty();
}

}  // namespace attnscope
