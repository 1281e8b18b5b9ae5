#include "analysis/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_blocks.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"

namespace attnscope {

namespace {

double symmetry_error_of(const MatrixD& map) {
  const double norm = map.norm();
  if (map.rows() != map.cols()) return std::numeric_limits<double>::quiet_NaN();
  if (!(norm > 0)) return 0;
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

void check_threshold(double threshold) {
  if (threshold > 0 && threshold <= 1) return;
  throw Error(ErrorKind::usage, "the threshold of the equivalent rank is out of range")
      .expected("above 0, at most 1")
      .found(to_string(ParameterValue(threshold)));
}

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

void take_singular_values(MapSpectrum& spectrum, std::vector<double> values, double epsilon) {
  spectrum.singular_values = std::move(values);
  spectrum.equivalent_rank = equivalent_rank(spectrum.singular_values, spectrum.threshold);
  spectrum.effective_rank = effective_rank(spectrum.singular_values);
  spectrum.stable_rank = stable_rank(spectrum.singular_values);
  spectrum.numerical_rank = numerical_rank(spectrum.singular_values, spectrum.tokens, epsilon);
  spectrum.rank_one_distance = rank_one_distance(spectrum.singular_values);
}

MapSpectrum spectrum_at(const Trace& trace, const RecordedMap& place, IdentityView view,
                        const SpectrumOptions& options) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  const Tensor& maps = layer.implied_map;
  const bool contained = has_identity(trace, place.layer);
  MapSpectrum spectrum;
  const auto finish = [&](std::int64_t rows, std::int64_t columns) {
    const bool square = rows == columns;
    spectrum.identity =
        view == IdentityView::as_is ? contained : view == IdentityView::with && square;
    const bool binds = layer.rank_bound > 0 && layer.rank_bound < std::min(rows, columns);
    spectrum.rank_bound = binds && !spectrum.identity ? layer.rank_bound : 0;
    spectrum.layer = place.layer;
    spectrum.head = place.head;
    return spectrum;
  };
  if (layer.factors && options.method != SpectrumMethod::dense &&
      options.method != SpectrumMethod::estimated) {
    const Tensor& left = layer.factors->left;
    const Tensor& right = layer.factors->right;
    const std::int64_t rows = left.extent(1), columns = right.extent(1);
    const bool with = view == IdentityView::with && rows == columns;
    const std::int64_t width = (with ? 2 : 1) * left.extent(2);
    const bool narrow = 2 * width <= std::min(rows, columns) || maps.empty();
    if (narrow || options.method == SpectrumMethod::factored) {
      spectrum =
          spectrum_of_factors(left.slice(place.head), right.slice(place.head), with, options);
      return finish(rows, columns);
    }
  }
  if (options.method == SpectrumMethod::factored) {
    throw Error(ErrorKind::usage, "these maps are not known as products of narrow matrices")
        .about("layer " + std::to_string(place.layer))
        .remedy(
            "hashed, linear, Performer, Linformer and bidirectional additive attention are; "
            "take the method automatic");
  }
  if (maps.empty()) {
    throw Error(ErrorKind::usage, "the maps of this layer were not recorded, only their factors")
        .about("layer " + std::to_string(place.layer))
        .remedy("take the method automatic or factored");
  }
  const std::int64_t smaller = std::min(maps.extent(1), maps.extent(2));
  if (options.method == SpectrumMethod::estimated ||
      (options.method == SpectrumMethod::automatic && smaller > options.dense_limit)) {
    double shift = 0;
    if (maps.extent(1) == maps.extent(2) && view != IdentityView::as_is &&
        contained != (view == IdentityView::with)) {
      shift = contained ? -1 : 1;
    }
    const std::optional<ConstMatrixDMap> exact = exact_map(layer, place.head);
    spectrum = exact ? estimated_spectrum(*exact, shift, options)
                     : estimated_spectrum(maps.slice(place.head), shift, options);
    return finish(maps.extent(1), maps.extent(2));
  }
  MatrixD map = map_seen(trace, place, view);
  // Of maps in double the small values tell too: they decide the numerical rank.
  SpectrumOptions wanted = options;
  if (layer.exact_map) wanted.accuracy = SpectrumAccuracy::every_value;
  spectrum = spectrum_of_matrix(map, wanted, layer.exact_map ? kDoubleEpsilon : kFloatEpsilon);
  return finish(maps.extent(1), maps.extent(2));
}

MapSpectrum spectrum_of_matrix(MatrixD& map, const SpectrumOptions& options, double epsilon) {
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
  SingularValues decomposed = singular_values_by_blocks(map, options.accuracy);
  if (!decomposed.converged) {
    spectrum.state = SpectrumState::not_converged;
    return spectrum;
  }
  take_singular_values(spectrum, std::move(decomposed.values), epsilon);
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
  const std::vector<RecordedMap> places = recorded_maps(trace, options.layers, true);
  std::vector<MapSpectrum> spectra(places.size());
  for_each_map(places, progress, [&](std::size_t index) {
    spectra[index] = spectrum_at(trace, places[index], view, options);
    spectra[index].channel = trace.map_channel;
    return [&, index] {
      if (arrived) arrived(spectra[index]);
    };
  });
  return spectra;
}

}  // namespace attnscope
