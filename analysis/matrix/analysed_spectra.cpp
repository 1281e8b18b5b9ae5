#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/matrix/subject_spectra_of.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

bool is_of_tokens(MatrixKind of) { return rows_of(of) == Extent::tokens; }

}  // namespace

std::int64_t singular_values_of(const Trace& trace, std::int64_t layer,
                                const MatrixChoice& analysed) {
  const LayerTrace& own = trace.layers.at(static_cast<std::size_t>(layer));
  // With the residual stream an output has the width of the tokens.
  const MatrixKind of = analysed.added == Added::residual ? MatrixKind::tokens : analysed.of;
  const auto width = [](const Tensor& vectors) {
    return vectors.empty() ? std::int64_t{0} : vectors.shape().back();
  };
  const std::int64_t queries = trace.queries(layer), keys = trace.keys(layer);
  switch (of) {
    case MatrixKind::head_output:
      return std::min(queries, width(own.values));
    case MatrixKind::output:
      return std::min(queries, trace.heads(layer) * width(own.values));
    case MatrixKind::values:
      return std::min(keys, width(own.values));
    case MatrixKind::queries:
    case MatrixKind::queries_before_rotary:
      return std::min(queries, width(own.queries));
    case MatrixKind::keys:
    case MatrixKind::keys_before_rotary:
      return std::min(keys, width(own.keys));
    case MatrixKind::tokens:
    case MatrixKind::token_updates:
      return own.tokens.empty() ? 0 : std::min(own.tokens.extent(0), own.tokens.extent(1));
    default:
      return std::min(queries, keys);
  }
}

void request_for(MatrixKind of, TraceRequest& request) {
  if (is_of_tokens(of) || of == MatrixKind::norm_weighted) request.tokens = true;
  const bool of_maps_alone = of == MatrixKind::map || is_of_tokens(of);
  if (!of_maps_alone) request.queries_keys_values = true;
}

void request_for(const MatrixChoice& analysed, TraceRequest& request) {
  request_for(analysed.of, request);
  if (analysed.added == Added::none) return;
  // The input tokens of a layer are the output tokens of the layer before it.
  if (analysed.added == Added::residual) request.tokens = request.queries_keys_values = true;
  request.quantities = request.quantities || analysed.added != Added::residual;
}

bool needs_layer_before(const MatrixChoice& analysed) {
  return analysed.added == Added::residual || analysed.of == MatrixKind::norm_weighted ||
         analysed.of == MatrixKind::token_updates;
}

void check_added(const MatrixChoice& analysed) {
  if (goes_with(analysed.added, analysed.of)) return;
  if (analysed.added == Added::residual) {
    throw Error(ErrorKind::usage, "the residual stream is added to outputs, not to maps")
        .about(in_words({.of = analysed.of}))
        .remedy("--of head-output, or --of output for all heads; I is what is added to maps");
  }
  throw Error(ErrorKind::usage, "the convolution's Toeplitz map is only part of attention maps")
      .about(in_words({.of = analysed.of}))
      .remedy("--of map");
}

void check_view(const MatrixChoice& analysed) {
  if (analysed.identity != IdentityView::with || takes_identity(analysed.of)) return;
  throw Error(ErrorKind::usage, "I can only be added to maps")
      .about(in_words(analysed))
      .remedy("--identity as-is or without");
}

std::vector<MapIndex> places_of(const Trace& trace, const MatrixChoice& analysed,
                                const std::vector<std::int64_t>& layers) {
  if (is_of_tokens(analysed.of)) {
    for (const std::int64_t layer : layers) (void)recorded_layer(trace, layer);
    std::vector<MapIndex> places;
    for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
      const bool wanted = layers.empty() || std::ranges::count(layers, layer) > 0;
      const bool recorded = !trace.layers[static_cast<std::size_t>(layer)].tokens.empty();
      if (wanted && recorded) places.push_back({layer, kAllHeads});
    }
    if (!places.empty()) return places;
    throw Error(ErrorKind::usage, "the trace holds no tokens")
        .remedy("record them: attnscope trace --record tokens");
  }
  std::vector<MapIndex> places = recorded_maps(trace, layers);
  if (!is_of_layer(analysed.of)) return places;
  std::erase_if(places, [](const MapIndex& place) { return place.head != 0; });
  for (MapIndex& place : places) place.head = kAllHeads;
  return places;
}

MapSpectrum spectrum_at(const Subject& subject, const MapIndex& place, const MatrixChoice& analysed,
                        const SpectrumOptions& options) {
  const Trace& trace = *subject.trace;
  if (analysed.is_plain_map()) return spectrum_at(trace, place, analysed.identity, options);
  AnalysedMatrix found = analysed_matrix(subject, place, analysed);
  const std::int64_t smaller = std::min(found.matrix.rows(), found.matrix.cols());
  if (smaller > options.dense_limit) {
    throw Error(ErrorKind::usage, "only spectra of maps can be estimated for this many tokens")
        .about("layer " + std::to_string(place.layer))
        .expected("at most " + std::to_string(options.dense_limit))
        .found(std::to_string(smaller))
        .remedy("raise --dense-limit, if there is time for it");
  }
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  SpectrumOptions wanted = options;
  // Small singular values of maps in double are significant; vectors are recorded in float32.
  const bool exact = layer.exact_map && analysed.is_map();
  if (exact) wanted.accuracy = SpectrumAccuracy::every_value;
  MapSpectrum spectrum =
      spectrum_of_matrix(found.matrix, wanted, exact ? kDoubleEpsilon : kFloatEpsilon);
  spectrum.identity = found.identity;
  spectrum.layer = place.layer;
  spectrum.head = place.head;
  spectrum.channel = trace.map_channel;
  spectrum.rank_bound = found.rank_bound;
  return spectrum;
}

Subject without_model(const Trace& trace) {
  Subject subject;
  subject.label = trace.model_name;
  subject.mechanism = trace.mechanism;
  subject.trace = std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace);
  return subject;
}

std::vector<MapSpectrum> spectra_of(const Subject& subject, const MatrixChoice& analysed,
                                    const SpectrumOptions& options, const Progress& progress) {
  const Trace& trace = *subject.trace;
  if (analysed.is_plain_map()) return spectra_of(trace, analysed.identity, options, progress);
  check_threshold(options.threshold);
  check_added(analysed);
  if (options.method != SpectrumMethod::automatic && options.method != SpectrumMethod::dense) {
    throw Error(ErrorKind::usage, "only spectra of unchanged maps can be factored or estimated")
        .about("method")
        .expected("automatic or dense")
        .found(std::string(name_of(options.method)));
  }
  check_view(analysed);
  const std::vector<MapIndex> places = places_of(trace, analysed, options.layers);
  std::vector<MapSpectrum> spectra(places.size());
  for_each_map(trace, places, progress, [&](std::size_t index) {
    spectra[index] = spectrum_at(subject, places[index], analysed, options);
    return [] {};
  });
  return spectra;
}

std::array<std::vector<MapSpectrum>, 2> spectra_without_and_with_identity(
    const Subject& subject, const MatrixChoice& analysed, const SpectrumOptions& options,
    const Progress& progress) {
  if (analysed.is_plain_map()) {
    return spectra_without_and_with_identity(*subject.trace, options, progress);
  }
  using enum IdentityView;
  return {spectra_of(subject, analysed.seen(without), options, progress.part(0, 0.5)),
          spectra_of(subject, analysed.seen(with), options, progress.part(0.5, 1))};
}

SubjectSpectra subject_spectra_of(const Subject& subject, const MatrixChoice& analysed,
                                  const Progress& progress) {
  SubjectSpectra spectra;
  if (!takes_identity(analysed.of)) {
    spectra.without = spectra_of(subject, analysed, {}, progress);
    return spectra;
  }
  auto [without, with] = spectra_without_and_with_identity(subject, analysed, {}, progress);
  spectra = {std::move(without), std::move(with)};
  std::erase_if(spectra.with, lacks_identity);
  return spectra;
}

}  // namespace attnscope
