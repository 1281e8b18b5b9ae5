#include "analysis/depth/rank_over_depth.h"

#include <cmath>
#include <limits>

#include "analysis/spectrum/map_batch.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// √(‖X‖_1 ‖X‖_∞), from the greatest column sum and the greatest row sum of magnitudes.
double composite_norm(const MatrixD& matrix) {
  const MatrixD magnitudes = matrix.cwiseAbs();
  return std::sqrt(magnitudes.colwise().sum().maxCoeff() * magnitudes.rowwise().sum().maxCoeff());
}

/// ‖L Rᵀ‖²_F, computed only from the small products LᵀL and RᵀR.
double squared_norm(const MatrixD& left, const MatrixD& right) {
  const MatrixD a = left.transpose() * left, b = right.transpose() * right;
  return std::max(0.0, (a.array() * b.array()).sum());
}

RankOneResidual residual_of(const Trace& trace, const MapIndex& place, IdentityView view) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  if (!layer.implied_map.empty()) return rank_one_residual(map_seen(trace, place, view));
  const auto part = [&](const Tensor& factor) -> MatrixD {
    return factor.slice(place.head).cast<double>();
  };
  MatrixD left = part(layer.factors->left), right = part(layer.factors->right);
  if (view == IdentityView::with && left.rows() == right.rows()) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    return {unknown, unknown};
  }
  return rank_one_residual(left, right);
}

/// Recorded token vectors with their depth: −1 for the embedding, then the layer.
std::vector<std::pair<std::int64_t, const Tensor*>> recorded_tokens(const Trace& trace) {
  std::vector<std::pair<std::int64_t, const Tensor*>> list;
  if (!trace.embedded.empty()) list.emplace_back(-1, &trace.embedded);
  for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
    const Tensor& tokens = trace.layers[layer].tokens;
    if (!tokens.empty()) list.emplace_back(static_cast<std::int64_t>(layer), &tokens);
  }
  return list;
}

}  // namespace

RankOneResidual rank_one_residual(const MatrixD& matrix) {
  const MatrixD residual = matrix.rowwise() - matrix.colwise().mean();
  return {residual.norm() / matrix.norm(), composite_norm(residual) / composite_norm(matrix)};
}

RankOneResidual rank_one_residual(const MatrixD& left, const MatrixD& right) {
  const MatrixD residual = left.rowwise() - left.colwise().mean();
  return {std::sqrt(squared_norm(residual, right) / squared_norm(left, right)),
          std::numeric_limits<double>::quiet_NaN()};
}

RankOverDepth rank_over_depth(const Trace& trace, IdentityView view, const SpectrumOptions& options,
                              const Progress& progress, const std::vector<MapSpectrum>* known) {
  RankOverDepth depth;
  const auto tokens = recorded_tokens(trace);
  bool has_maps = false;
  for (const LayerTrace& layer : trace.layers) {
    has_maps = has_maps || !layer.implied_map.empty() || layer.factors.has_value();
  }
  if (!has_maps && tokens.empty()) {
    throw Error(ErrorKind::usage, "the trace holds neither attention maps nor tokens")
        .remedy("record them: attnscope trace --record tokens");
  }
  if (has_maps) {
    const std::vector<MapSpectrum> spectra =
        known != nullptr ? *known : spectra_of(trace, view, options, progress.part(0, 0.8));
    depth.maps.resize(spectra.size());
    std::vector<MapIndex> places;
    places.reserve(spectra.size());
    for (const MapSpectrum& spectrum : spectra) places.push_back({spectrum.layer, spectrum.head});
    for_each_map(
        trace, places, progress.part(0.8, 0.9),
        [&](std::size_t index) {
          depth.maps[index].spectrum = spectra[index];
          if (spectra[index].state == SpectrumState::ready) {
            depth.maps[index].residual = residual_of(trace, places[index], view);
          }
          return [] {};
        },
        "distances from rank one");
  }
  depth.tokens.resize(tokens.size());
  for_single_ones(tokens.size(), [&](std::size_t index) {
    if (progress.cancelled()) throw Cancelled{};
    TokenDepth& at = depth.tokens[index];
    at.layer = tokens[index].first;
    MatrixD matrix = tokens[index].second->matrix().cast<double>();
    MatrixD work = matrix;
    at.spectrum = spectrum_of_matrix(work, options);
    at.spectrum.layer = at.layer;
    if (at.spectrum.state == SpectrumState::ready) at.residual = rank_one_residual(matrix);
  });
  progress.step(1, "distances from rank one");
  return depth;
}

}  // namespace attnscope
