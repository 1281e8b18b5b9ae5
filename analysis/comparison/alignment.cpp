#include "analysis/comparison/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/comparison/map_distance.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"

namespace attnscope {

namespace {

constexpr std::size_t kUnassigned = static_cast<std::size_t>(-1);

/// The row assigned to each column; requires rows() <= cols().
std::vector<std::size_t> rows_of_columns(const MatrixD& costs) {
  const auto rows = static_cast<std::size_t>(costs.rows());
  const auto columns = static_cast<std::size_t>(costs.cols());
  const auto cost = [&](std::size_t row, std::size_t column) {
    return costs(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column));
  };
  // Dual prices: cost − row price − column price ≥ 0, and = 0 for every assigned pair.
  std::vector<double> row_price(rows), column_price(columns);
  std::vector<std::size_t> row_of(columns, kUnassigned);
  for (std::size_t free_row = 0; free_row < rows; ++free_row) {
    // The cheapest alternating path from the free row to a free column, by Dijkstra's algorithm.
    std::vector<double> distance(columns, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> before(columns, kUnassigned);  // previous column of the path
    std::vector<bool> done(columns);
    std::size_t row = free_row, column = kUnassigned;
    double reached = 0;
    for (;;) {
      std::size_t next = kUnassigned;
      for (std::size_t c = 0; c < columns; ++c) {
        if (done[c]) continue;
        const double along = reached + cost(row, c) - row_price[row] - column_price[c];
        if (along < distance[c]) {
          distance[c] = along;
          before[c] = column;
        }
        if (next == kUnassigned || distance[c] < distance[next]) next = c;
      }
      column = next;
      reached = distance[column];
      done[column] = true;
      if (row_of[column] == kUnassigned) break;
      row = row_of[column];
    }
    row_price[free_row] += reached;
    for (std::size_t c = 0; c < columns; ++c) {
      if (!done[c] || c == column) continue;
      row_price[row_of[c]] += reached - distance[c];
      column_price[c] -= reached - distance[c];
    }
    for (std::size_t c = column; c != kUnassigned;) {
      const std::size_t previous = before[c];
      row_of[c] = previous == kUnassigned ? free_row : row_of[previous];
      c = previous;
    }
  }
  return row_of;
}

std::int64_t heads_of(const Trace& trace, std::int64_t layer) {
  if (layer < 0 || layer >= static_cast<std::int64_t>(trace.layers.size())) return 0;
  const ImpliedMaps& map = trace.layers[static_cast<std::size_t>(layer)].implied_map;
  return map.empty() ? 0 : map.extent(0);
}

/// The maps of one layer in double, and the curves of their spectra if these are needed.
struct AlignedMaps {
  std::vector<MatrixD> maps;
  std::vector<std::vector<double>> shares;

  AlignedMaps(const Trace& trace, std::int64_t layer, IdentityView view) {
    for (std::int64_t head = 0; head < heads_of(trace, layer); ++head) {
      maps.push_back(map_seen(trace, {layer, head}, view));
    }
  }
  void find_shares() {
    for (const MatrixD& map : maps) {
      MatrixD work = map;
      shares.push_back(cumulative_share(spectrum_of_matrix(work, {}), RankShare::values));
    }
  }
};

MatrixD layer_costs(AlignedMaps own, AlignedMaps reference) {
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

std::vector<std::int64_t> least_assignment(const MatrixD& costs) {
  std::vector<std::int64_t> column_of(static_cast<std::size_t>(costs.rows()), -1);
  if (costs.rows() <= costs.cols()) {
    const std::vector<std::size_t> row_of = rows_of_columns(costs);
    for (std::size_t column = 0; column < row_of.size(); ++column) {
      if (row_of[column] != kUnassigned)
        column_of[row_of[column]] = static_cast<std::int64_t>(column);
    }
  } else {
    const MatrixD turned = costs.transpose();
    const std::vector<std::size_t> row_of = rows_of_columns(turned);
    for (std::size_t row = 0; row < row_of.size(); ++row) {
      if (row_of[row] != kUnassigned) column_of[row] = static_cast<std::int64_t>(row_of[row]);
    }
  }
  return column_of;
}

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
        costs[index] = layer_costs(AlignedMaps(other, layer, view),
                                   AlignedMaps(reference, pairs[index].reference_layer, view));
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
