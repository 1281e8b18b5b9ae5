#include "analysis/analysed/analysed.h"

#include <algorithm>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

/// Those of the layers asked for that hold what is analysed.
std::vector<RecordedMap> places_of(const Trace& trace, const Analysed& analysed,
                                   const std::vector<std::int64_t>& layers) {
  if (analysed.of == SpectrumOf::tokens) {
    std::vector<RecordedMap> places;
    for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
      const bool wanted = layers.empty() || std::ranges::count(layers, layer) > 0;
      const bool recorded = !trace.layers[static_cast<std::size_t>(layer)].tokens.empty();
      if (wanted && recorded) places.push_back({layer, kAllHeads});
    }
    if (!places.empty()) return places;
    throw Error(ErrorKind::usage, "the trace holds no tokens")
        .remedy("record them: attnscope trace --record tokens");
  }
  std::vector<RecordedMap> places = recorded_maps(trace, layers);
  if (!is_of_layer(analysed.of)) return places;
  std::erase_if(places, [](const RecordedMap& place) { return place.head != 0; });
  for (RecordedMap& place : places) place.head = kAllHeads;
  return places;
}

MapSpectrum spectrum_of_place(const Trace& trace, const RecordedMap& place,
                              const Analysed& analysed, IdentityView view,
                              const SpectrumOptions& options) {
  AnalysedMatrix found = analysed_matrix(trace, place, analysed, view);
  const std::int64_t smaller = std::min(found.matrix.rows(), found.matrix.cols());
  if (smaller > options.dense_limit) {
    throw Error(ErrorKind::usage, "of so many tokens only spectra of maps are estimated")
        .about("layer " + std::to_string(place.layer))
        .expected("at most " + std::to_string(options.dense_limit))
        .found(std::to_string(smaller))
        .remedy("raise --dense-limit, if there is time for it");
  }
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  SpectrumOptions wanted = options;
  // Of maps in double the small values tell too; vectors are recorded in float32.
  const bool exact = layer.exact_map && analysed.of == SpectrumOf::map;
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

}  // namespace

SpectrumOf spectrum_of_named(std::string_view name) {
  if (name == "norm-weighted") {
    throw Error(ErrorKind::usage, "a_ij ‖v_j W_O‖ needs W_O, which no trace holds")
        .about("norm-weighted")
        .remedy("value-weighted is a_ij ‖v_j‖");
  }
  return value_of(spectrum_of_names, name, "matrix to analyse");
}

namespace {

std::string in_words(SpectrumOf of) {
  switch (of) {
    case SpectrumOf::map:
      return "attention maps";
    case SpectrumOf::scores:
      return "scores before bias, mask and cap";
    case SpectrumOf::log_map:
      return "logarithms ln A of the attention maps";
    case SpectrumOf::seen_by_values:
      return "attention maps as the values see them, A P";
    case SpectrumOf::value_weighted:
      return "value-weighted attention maps a_ij |v_j|";
    case SpectrumOf::head_output:
      return "head outputs A V";
    case SpectrumOf::output:
      return "outputs A V of all heads beside each other, before W_O";
    case SpectrumOf::values:
      return "values V";
    case SpectrumOf::tokens:
      return "tokens after each layer";
  }
  return {};
}

}  // namespace

std::string in_words(const Analysed& analysed) {
  return in_words(analysed.of) + (analysed.centred ? ", without the mean row" : "");
}

bool takes_identity(SpectrumOf of) {
  return of != SpectrumOf::scores && of != SpectrumOf::log_map && of != SpectrumOf::values &&
         of != SpectrumOf::tokens;
}

bool is_of_layer(SpectrumOf of) { return of == SpectrumOf::output || of == SpectrumOf::tokens; }

void request_for(SpectrumOf of, TraceRequest& request) {
  if (of == SpectrumOf::tokens) request.tokens = true;
  const bool of_maps_alone = of == SpectrumOf::map || of == SpectrumOf::tokens;
  if (!of_maps_alone) request.queries_keys_values = true;
}

std::vector<MapSpectrum> spectra_of(const Trace& trace, const Analysed& analysed, IdentityView view,
                                    const SpectrumOptions& options, const Progress& progress) {
  if (analysed == Analysed{}) return spectra_of(trace, view, options, progress);
  check_threshold(options.threshold);
  if (options.method != SpectrumMethod::automatic && options.method != SpectrumMethod::dense) {
    throw Error(ErrorKind::usage, "only spectra of maps as they are come from factors or estimates")
        .about("method")
        .expected("automatic or dense")
        .found(std::string(name_of(options.method)));
  }
  if (view == IdentityView::with && !takes_identity(analysed.of)) {
    throw Error(ErrorKind::usage, "I is added to maps; this is none")
        .about(in_words(analysed))
        .remedy("--identity as-is or without");
  }
  const std::vector<RecordedMap> places = places_of(trace, analysed, options.layers);
  std::vector<MapSpectrum> spectra(places.size());
  for_each_map(places, progress, [&](std::size_t index) {
    spectra[index] = spectrum_of_place(trace, places[index], analysed, view, options);
    return [] {};
  });
  return spectra;
}

}  // namespace attnscope
