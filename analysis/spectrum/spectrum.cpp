#include "analysis/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_entries.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/singular_values.h"
#include "core/error.h"
#include "core/model/subject.h"

namespace attnscope {

namespace {

/// Sets the state and returns true if the map has no spectrum: not finite, or all zero.
bool has_no_spectrum(std::int64_t rows, std::int64_t columns, MapSpectrum& spectrum) {
  if (spectrum.not_finite_entries > 0) {
    spectrum.state = SpectrumState::not_finite;
    return true;
  }
  if (spectrum.zero_rows < rows) return false;
  spectrum.state = SpectrumState::zero;
  spectrum.singular_values.assign(static_cast<std::size_t>(std::min(rows, columns)), 0);
  return true;
}

/// Spectrum of one map stored in blocks: its singular values are those of all blocks. `shift` is
/// added to its diagonal.
MapSpectrum spectrum_of_blocks(const MapBlocks& blocks, std::int64_t head, double shift,
                               const SpectrumOptions& options) {
  check_threshold(options.threshold);
  MapSpectrum spectrum;
  spectrum.threshold = options.threshold;
  spectrum.tokens = blocks.tokens();
  std::vector<MatrixD> parts;
  double squares = 0, asymmetry = 0;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    MatrixD& part = parts.emplace_back(blocks.block(head, block).cast<double>());
    part.diagonal().array() += shift;
    const MapEntries entries = entries_of(part);
    spectrum.not_finite_entries += entries.not_finite;
    spectrum.zero_rows += entries.zero_rows;
    squares += entries.squares;
    asymmetry += asymmetry_of(part);
  }
  if (has_no_spectrum(blocks.tokens(), blocks.tokens(), spectrum)) return spectrum;
  spectrum.symmetry_error = std::sqrt(asymmetry / squares);
  std::vector<double> all;
  for (MatrixD& part : parts) {
    const SingularValues decomposed = singular_values_by_blocks(part, options.accuracy);
    if (!decomposed.converged) {
      spectrum.state = SpectrumState::not_converged;
      return spectrum;
    }
    all.insert(all.end(), decomposed.values.begin(), decomposed.values.end());
  }
  std::ranges::sort(all, std::greater<>());
  take_singular_values(spectrum, std::move(all));
  return spectrum;
}

/// Value that the view adds to the diagonals of a layer's maps: −1, 0 or 1.
double shift_of(const Trace& trace, std::int64_t layer, IdentityView view) {
  return int{has_identity(trace, layer, view)} - int{has_identity(trace, layer)};
}

}  // namespace

MapSpectrum counted(const MatrixD& map, const RankThreshold& threshold, double asymmetry) {
  const MapEntries entries = entries_of(map);
  MapSpectrum spectrum;
  spectrum.threshold = threshold;
  spectrum.tokens = std::max(map.rows(), map.cols());
  spectrum.not_finite_entries = entries.not_finite;
  spectrum.zero_rows = entries.zero_rows;
  if (!has_no_spectrum(map.rows(), map.cols(), spectrum)) {
    spectrum.symmetry_error = std::sqrt(asymmetry / entries.squares);
  }
  return spectrum;
}

void set_singular_values(SingularValues found, double epsilon, MapSpectrum& spectrum) {
  if (found.converged) {
    take_singular_values(spectrum, std::move(found.values), epsilon);
  } else {
    spectrum.state = SpectrumState::not_converged;
  }
}

void say_where(MapSpectrum& spectrum, const Trace& trace, const MapIndex& place, IdentityView view,
               std::int64_t smaller) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  spectrum.identity = has_identity(trace, place.layer, view);
  const bool binds = layer.rank_bound > 0 && layer.rank_bound < smaller;
  spectrum.rank_bound = binds && !spectrum.identity ? layer.rank_bound : 0;
  spectrum.layer = place.layer;
  spectrum.head = place.head;
}

bool is_estimated(const ImpliedMaps& maps, const SpectrumOptions& options) {
  return options.method == SpectrumMethod::estimated ||
         (options.method == SpectrumMethod::automatic &&
          std::min(maps.extent(1), maps.extent(2)) > options.dense_limit);
}

void check_threshold(const RankThreshold& threshold) {
  if (threshold.level > 0 && threshold.level <= 1) return;
  throw Error(ErrorKind::usage, "the threshold of the equivalent rank is out of range")
      .expected("above 0, at most 1")
      .found(to_string(ParameterValue(threshold.level)));
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
  spectrum.equivalent_rank = equivalent_rank(spectrum, spectrum.threshold);
  spectrum.effective_rank = effective_rank(spectrum.singular_values);
  spectrum.stable_rank = stable_rank(spectrum.singular_values);
  spectrum.numerical_rank = numerical_rank(spectrum.singular_values, spectrum.tokens, epsilon);
  spectrum.rank_one_distance = rank_one_distance(spectrum.singular_values);
}

MapSpectrum spectrum_at(const Trace& trace, const MapIndex& place, IdentityView view,
                        const SpectrumOptions& options) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  const ImpliedMaps& maps = layer.implied_map;
  const double shift = shift_of(trace, place.layer, view);
  MapSpectrum spectrum;
  const auto finish = [&](std::int64_t rows, std::int64_t columns) {
    say_where(spectrum, trace, place, view, std::min(rows, columns));
    return spectrum;
  };
  if (layer.factors && options.method != SpectrumMethod::dense &&
      options.method != SpectrumMethod::estimated) {
    const Tensor& left = layer.factors->left;
    const Tensor& right = layer.factors->right;
    const std::int64_t rows = left.extent(1), columns = right.extent(1);
    const bool with = has_identity(trace, place.layer, view);
    const std::int64_t width = (with ? 2 : 1) * left.extent(2);
    const bool narrow = 2 * width <= std::min(rows, columns) || maps.empty();
    if (narrow || options.method == SpectrumMethod::factored) {
      spectrum =
          spectrum_of_factors(left.slice(place.head), right.slice(place.head), with, options);
      return finish(rows, columns);
    }
  }
  if (options.method == SpectrumMethod::factored) {
    throw Error(ErrorKind::usage, "these maps are not products of narrow matrices")
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
  if (const MapBlocks* const blocks = maps.blocks()) {
    spectrum = spectrum_of_blocks(*blocks, place.head, shift, options);
    return finish(maps.extent(1), maps.extent(2));
  }
  if (is_estimated(maps, options)) {
    const std::optional<ConstMatrixDMap> exact = exact_map(layer, place.head);
    spectrum = exact ? estimated_spectrum(*exact, shift, options)
                     : estimated_spectrum(maps, place.head, shift, options);
    return finish(maps.extent(1), maps.extent(2));
  }
  MatrixD map = map_seen(trace, place, view);
  // Small values of maps in double are significant: they decide the numerical rank.
  SpectrumOptions wanted = options;
  if (layer.exact_map) wanted.accuracy = SpectrumAccuracy::every_value;
  spectrum = spectrum_of_matrix(map, wanted, layer.exact_map ? kDoubleEpsilon : kFloatEpsilon);
  return finish(maps.extent(1), maps.extent(2));
}

MapSpectrum spectrum_of_matrix(MatrixD& map, const SpectrumOptions& options, double epsilon) {
  check_threshold(options.threshold);
  if (map.size() == 0) throw Error(ErrorKind::usage, "a map without entries has no spectrum");
  MapSpectrum spectrum = counted(map, options.threshold, asymmetry_of(map));
  if (spectrum.state == SpectrumState::ready) {
    set_singular_values(singular_values_by_blocks(map, options.accuracy), epsilon, spectrum);
  }
  return spectrum;
}

MapSpectrum spectrum_of(const ConstMatrixMap& map, const SpectrumOptions& options) {
  MatrixD copy = map.cast<double>();
  return spectrum_of_matrix(copy, options);
}

std::vector<MapSpectrum> spectra_of_channels(const Subject& subject, IdentityView view,
                                             const SpectrumOptions& options,
                                             const Progress& progress) {
  if (subject.trace && subject.trace->map_channels < 2) {
    return spectra_of(*subject.trace, view, options, progress);
  }
  if (!subject.model || !subject.input) {
    throw Error(ErrorKind::usage, "a trace holds the maps of one channel, or their mean")
        .about(subject.label)
        .remedy("give the model's weight file and an input");
  }
  std::vector<MapSpectrum> spectra;
  TraceRequest request;
  request.layers = options.layers;
  request.parameters = subject.parameters;
  std::int64_t channels = 1;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto part = [&](double from, double to) {
      const auto count = static_cast<double>(channels);
      return progress.part((static_cast<double>(channel) + from) / count,
                           (static_cast<double>(channel) + to) / count);
    };
    request.channel = channel;
    const Trace trace = subject.model->run(*subject.input, subject.mechanism, request,
                                           channel == 0 ? Progress() : part(0, 0.2));
    channels = trace.map_channels;
    std::vector<MapSpectrum> found = spectra_of(trace, view, options, part(0.2, 1));
    std::move(found.begin(), found.end(), std::back_inserter(spectra));
  }
  return spectra;
}

}  // namespace attnscope
