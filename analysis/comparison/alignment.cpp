#include "analysis/comparison/alignment.h"

#include <algorithm>
#include <cmath>

#include "analysis/comparison/assignment.h"
#include "analysis/comparison/map_distance.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"

namespace attnscope {

namespace {

std::int64_t heads_of(const Trace& trace, std::int64_t layer) {
  if (layer < 0 || layer >= static_cast<std::int64_t>(trace.layers.size())) return 0;
  const ImpliedMaps& map = trace.layers[static_cast<std::size_t>(layer)].implied_map;
  return map.empty() ? 0 : map.extent(0);
}

/// The maps of one layer in double, and the curves of their spectra if these are needed.
struct LayerMaps {
  std::vector<MatrixD> maps;
  std::vector<std::vector<double>> shares;

  LayerMaps(const Trace& trace, std::int64_t layer, IdentityView view) {
    for (std::int64_t head = 0; head < heads_of(trace, layer); ++head) {
      maps.push_back(map_seen(trace, {layer, head}, view));
    }
  }
  void find_shares() {
    for (const MatrixD& map : maps) {
      MatrixD work = map;
      shares.push_back(cumulative_share(spectrum_of_matrix(work, {}).singular_values));
    }
  }
};

MatrixD layer_costs(LayerMaps own, LayerMaps reference) {
  MatrixD costs(static_cast<Eigen::Index>(own.maps.size()),
                static_cast<Eigen::Index>(reference.maps.size()));
  if (costs.size() == 0) return costs;
  const bool one_size = own.maps.front().rows() == reference.maps.front().rows() &&
                        own.maps.front().cols() == reference.maps.front().cols();
  if (!one_size) {
    own.find_shares();
    reference.find_shares();
  }
  for (std::size_t a = 0; a < own.maps.size(); ++a) {
    for (std::size_t b = 0; b < reference.maps.size(); ++b) {
      double cost = 1;
      if (own.maps[a].allFinite() && reference.maps[b].allFinite()) {
        cost = one_size ? mean_row_divergence(own.maps[a], reference.maps[b])
                        : spectrum_distance(own.shares[a], reference.shares[b]);
      }
      costs(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
          std::isnan(cost) ? 1 : cost;
    }
  }
  return costs;
}

}  // namespace

std::int64_t reference_layer_of(std::int64_t layer, std::int64_t layers,
                                std::int64_t reference_layers, LayerAlignment alignment) {
  if (layer < 0 || layer >= layers || reference_layers <= 0) return -1;
  if (alignment == LayerAlignment::by_index) return layer < reference_layers ? layer : -1;
  return ((layer + 1) * reference_layers + layers - 1) / layers - 1;
}

MapAlignment align_by_index(const Trace& reference, const Trace& other, LayerAlignment layers) {
  const auto count = static_cast<std::int64_t>(other.layers.size());
  MapAlignment alignment;
  for (std::int64_t layer = 0; layer < count; ++layer) {
    LayerPair pair;
    pair.reference_layer = reference_layer_of(
        layer, count, static_cast<std::int64_t>(reference.layers.size()), layers);
    const std::int64_t available = heads_of(reference, pair.reference_layer);
    for (std::int64_t head = 0; head < heads_of(other, layer); ++head) {
      pair.reference_heads.push_back(head < available ? head : -1);
    }
    alignment.push_back(std::move(pair));
  }
  return alignment;
}

HeadCosts head_costs(const Trace& reference, const Trace& other, LayerAlignment layers,
                     IdentityView view, const Progress& progress) {
  const MapAlignment pairs = align_by_index(reference, other, layers);
  HeadCosts costs(pairs.size());
  std::vector<MapIndex> work;
  for (std::size_t layer = 0; layer < pairs.size(); ++layer) {
    work.push_back({static_cast<std::int64_t>(layer), 0});
  }
  for_each_map(
      other, work, progress,
      [&](std::size_t index) {
        const auto layer = static_cast<std::int64_t>(index);
        costs[index] = layer_costs(LayerMaps(other, layer, view),
                                   LayerMaps(reference, pairs[index].reference_layer, view));
        return [] {};
      },
      "heads compared");
  return costs;
}

MapAlignment align_by_similarity(const Trace& reference, const Trace& other, LayerAlignment layers,
                                 const HeadCosts& costs) {
  MapAlignment alignment = align_by_index(reference, other, layers);
  for (std::size_t layer = 0; layer < alignment.size() && layer < costs.size(); ++layer) {
    if (costs[layer].size() > 0) alignment[layer].reference_heads = least_assignment(costs[layer]);
  }
  return alignment;
}

}  // namespace attnscope
