#include "analysis/training/probes.h"

#include <cmath>
#include <limits>

#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

namespace {

constexpr double kNotCounted = std::numeric_limits<double>::quiet_NaN();

struct LayerSpectra {
  std::vector<MapSpectrum> without, with;
  double entropy = 0, queries = 0;
};

/// Sums the entropies −Σ p ln p of every row.
void add_entropies(const ImpliedMaps& maps, LayerSpectra& layer) {
  for (std::int64_t index = 0; index < maps.extent(0) * maps.extent(1); ++index) {
    double entropy = 0;
    for (const float weight : maps.row(index / maps.extent(1), index % maps.extent(1))) {
      if (weight > 0)
        entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
    }
    layer.entropy += entropy;
    ++layer.queries;
  }
}

void add_trace(const Trace& trace, std::vector<LayerSpectra>& layers, const Progress& progress) {
  layers.resize(trace.layers.size());
  auto [without, with] = spectra_without_and_with_identity(trace, {}, progress.silent());
  for (MapSpectrum& one : without) {
    layers[static_cast<std::size_t>(one.layer)].without.push_back(std::move(one));
  }
  for (MapSpectrum& one : with) {
    layers[static_cast<std::size_t>(one.layer)].with.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    add_entropies(maps_seen(trace, static_cast<std::int64_t>(i), IdentityView::without), layers[i]);
  }
}

}  // namespace

ProbeNumbers probe(const Model& model, std::span<const Input> inputs, const Progress& progress) {
  std::vector<LayerSpectra> layers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    progress.step(static_cast<double>(i) / static_cast<double>(inputs.size()), "probes");
    add_trace(model.run(inputs[i], model.spec().mechanism, {}, progress.silent()), layers,
              progress);
  }
  ProbeNumbers numbers;
  for (const LayerSpectra& layer : layers) {
    const double threshold = SpectrumOptions().threshold;
    const MeanSpectrum without = mean_spectrum(layer.without, threshold);
    numbers.mean_rank.push_back(without.ranks.mean);
    numbers.rank_of_mean.push_back(without.maps > 0 ? static_cast<double>(without.rank_of_mean)
                                                    : kNotCounted);
    numbers.identity_rank.push_back(mean_spectrum(layer.with, threshold).ranks.mean);
    numbers.entropy.push_back(layer.queries > 0 ? layer.entropy / layer.queries : kNotCounted);
  }
  return numbers;
}

void add_probes(const ProbeNumbers& numbers, std::int64_t step, TrainingLog& log) {
  log.add("probes/step", static_cast<double>(step));
  log.add("probes/mean_rank", numbers.mean_rank);
  log.add("probes/rank_of_mean", numbers.rank_of_mean);
  log.add("probes/identity_rank", numbers.identity_rank);
  log.add("probes/entropy", numbers.entropy);
}

}  // namespace attnscope
