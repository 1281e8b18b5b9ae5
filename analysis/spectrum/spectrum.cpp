#include "analysis/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tbb/parallel_for.h>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/singular_values.h"
#include "core/error.h"

namespace attnscope {

namespace {

void check_threshold(double threshold) {
  if (threshold > 0 && threshold <= 1) return;
  throw Error(ErrorKind::usage, "the threshold of the equivalent rank is out of range")
      .expected("above 0, at most 1")
      .found(to_string(ParameterValue(threshold)));
}

double symmetry_error_of(const MatrixD& map) {
  const double norm = map.norm();
  if (map.rows() != map.cols() || !(norm > 0)) return 0;
  double squares = 0;
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double difference = map(i, j) - map(j, i);
      squares += 2 * difference * difference;
    }
  }
  return std::sqrt(squares) / norm;
}

}  // namespace

std::string_view describe(SpectrumState state) {
  switch (state) {
    case SpectrumState::ready:
      return "ready";
    case SpectrumState::not_finite:
      return "NaN or Inf in the map";
    case SpectrumState::zero:
      return "all zero";
    case SpectrumState::not_converged:
      return "did not converge";
  }
  return "";
}

MapSpectrum spectrum_of_matrix(MatrixD& map, const SpectrumOptions& options) {
  check_threshold(options.threshold);
  if (map.size() == 0) throw Error(ErrorKind::usage, "a map without entries has no spectrum");
  MapSpectrum spectrum;
  spectrum.threshold = options.threshold;
  spectrum.tokens = std::max(map.rows(), map.cols());
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    spectrum.not_finite_entries += map.cols() - map.row(i).array().isFinite().count();
    if ((map.row(i).array() == 0).all()) ++spectrum.zero_rows;
  }
  if (spectrum.not_finite_entries > 0) {
    spectrum.state = SpectrumState::not_finite;
    return spectrum;
  }
  if (spectrum.zero_rows == map.rows()) {
    spectrum.state = SpectrumState::zero;
    spectrum.singular_values.assign(static_cast<std::size_t>(std::min(map.rows(), map.cols())), 0);
    return spectrum;
  }
  spectrum.symmetry_error = symmetry_error_of(map);
  SingularValues decomposed = singular_values(map, options.accuracy);
  if (!decomposed.converged) {
    spectrum.state = SpectrumState::not_converged;
    return spectrum;
  }
  spectrum.singular_values = std::move(decomposed.values);
  spectrum.equivalent_rank = equivalent_rank(spectrum.singular_values, options.threshold);
  spectrum.effective_rank = effective_rank(spectrum.singular_values);
  spectrum.stable_rank = stable_rank(spectrum.singular_values);
  spectrum.numerical_rank = numerical_rank(spectrum.singular_values, spectrum.tokens);
  spectrum.rank_one_distance = rank_one_distance(spectrum.singular_values);
  return spectrum;
}

MapSpectrum spectrum_of(const ConstMatrixMap& map, const SpectrumOptions& options) {
  MatrixD copy = map.cast<double>();
  return spectrum_of_matrix(copy, options);
}

std::vector<MapSpectrum> spectra_of(const Trace& trace, IdentityView view,
                                    const SpectrumOptions& options, const Progress& progress,
                                    const SpectrumArrived& arrived) {
  check_threshold(options.threshold);
  const std::vector<RecordedMap> places = recorded_maps(trace, options.layers);
  std::vector<MapSpectrum> spectra(places.size());
  const bool identity = shows_identity(trace, view);
  for_each_map(places, progress, [&](std::size_t index) {
    MatrixD map = map_seen(trace, places[index], view);
    MapSpectrum spectrum = spectrum_of_matrix(map, options);
    spectrum.layer = places[index].layer;
    spectrum.head = places[index].head;
    spectrum.identity = identity;
    spectra[index] = std::move(spectrum);
    return [&, index] {
      if (arrived) arrived(spectra[index]);
    };
  });
  return spectra;
}

}  // namespace attnscope
