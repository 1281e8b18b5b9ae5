#include "app/cli/spectrum_report.h"

#include <algorithm>
#include <iterator>

namespace attnscope {

std::vector<MapSpectrum> all_maps(const SpectrumReport& report) {
  std::vector<MapSpectrum> all;
  for (const auto& maps : report.maps) all.insert(all.end(), maps.begin(), maps.end());
  return all;
}

std::set<std::int64_t> layers_of(const std::vector<MapSpectrum>& maps) {
  std::set<std::int64_t> layers;
  for (const MapSpectrum& map : maps) layers.insert(map.layer);
  return layers;
}

MeanSpectrum mean_of_layer(const std::vector<MapSpectrum>& maps, std::int64_t layer,
                           double threshold) {
  std::vector<MapSpectrum> of_layer;
  std::copy_if(maps.begin(), maps.end(), std::back_inserter(of_layer),
               [layer](const MapSpectrum& map) { return map.layer == layer; });
  return mean_spectrum(of_layer, threshold);
}

WithIdentity with_identity(const SpectrumReport& report) {
  WithIdentity found;
  for (const auto& maps : report.maps) {
    for (const MapSpectrum& map : maps) {
      found.with += map.identity;
      ++found.maps;
    }
  }
  return found;
}

std::string identity_in_words(const SpectrumReport& report) {
  const auto [with, maps] = with_identity(report);
  if (with == 0) return "maps without I";
  if (with == maps) return "maps with I";
  return std::to_string(with) + " of " + std::to_string(maps) + " maps with I";
}

MeanNullRank mean_null_of(const SpectrumReport& report, std::int64_t layer) {
  MeanNullRank mean;
  for (std::size_t input = 0; input < report.baselines.size(); ++input) {
    for (std::size_t i = 0; i < report.baselines[input].size(); ++i) {
      const MapSpectrum& map = report.maps[input][i];
      if (layer < 0 || map.layer == layer) mean.add(map, report.baselines[input][i].null);
    }
  }
  return mean;
}

std::string head_in_words(const MapSpectrum& map) {
  return map.head == kAllHeads ? "all" : std::to_string(map.head);
}

std::optional<std::int64_t> numerical_rank_of(const MapSpectrum& map) {
  return map.numerical_rank > 0 ? std::optional(map.numerical_rank) : std::nullopt;
}

}  // namespace attnscope
