#include "analysis/figure/subject_spectra.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/figure/ticks.h"
#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The known spectra for the view and the options, at the options' threshold.
std::vector<MapSpectrum> chosen_spectra(const SubjectSpectra& known, const Trace& trace,
                                        IdentityView view, const SpectrumOptions& options) {
  std::vector<MapSpectrum> list;
  const auto wanted = [&](const MapSpectrum& spectrum) {
    const bool with = view == IdentityView::as_is ? has_identity(trace, spectrum.layer)
                                                  : view == IdentityView::with;
    return spectrum.identity == with &&
           (options.layers.empty() || std::ranges::count(options.layers, spectrum.layer) > 0);
  };
  for (const auto* spectra : {&known.without, &known.with}) {
    std::ranges::copy_if(*spectra, std::back_inserter(list), wanted);
  }
  std::ranges::sort(list, {},
                    [](const MapSpectrum& map) { return std::pair(map.layer, map.head); });
  for (MapSpectrum& spectrum : list) {
    spectrum.threshold = options.threshold;
    spectrum.equivalent_rank = equivalent_rank(spectrum, options.threshold);
  }
  return list;
}

}  // namespace

ParameterDescription of_setting() {
  return setting::choice(
      "of", names_of(matrix_kind_names), "map",
      "analysed matrix: scores before bias and mask, maps, ln A, maps as the "
      "values see them (A P), a_ij |v_j|, a_ij |v_j W_O|, head outputs A V, those of all heads, "
      "values, queries and keys, tokens, what layers add to them");
}

ParameterDescription of_setting_of_heads() {
  std::vector<std::string> names = names_of(matrix_kind_names);
  std::erase_if(names,
                [](const std::string& name) { return is_of_layer(matrix_kind_named(name)); });
  return setting::choice("of", std::move(names), "map",
                         "what ranks are of: scores before bias and mask, maps, ln A, maps as the "
                         "values see them (A P), a_ij |v_j|, a_ij |v_j W_O|, head outputs A V, "
                         "values, queries and keys");
}

ParameterDescription centred_setting() {
  return setting::flag("centred", false, "without the mean row: X − 1x̄ᵀ");
}

ParameterDescription added_setting() {
  return setting::choice("added", names_of(added_names), "none",
                         "what else the layer adds: of outputs the residual stream, x + A V W_O; "
                         "DAFT-conv's maps without the convolution's Toeplitz map, or that alone");
}

MatrixChoice analysed_by(const Settings& settings) {
  return {settings.choice("of", matrix_kind_names), settings.flag("centred"),
          settings.choice("added", added_names)};
}

std::vector<MatrixChoice> analysed_views(const Settings& settings) {
  const MatrixChoice analysed = analysed_by(settings);
  if (!takes_identity(analysed.of)) return {analysed};
  std::vector<MatrixChoice> views;
  for (const IdentityView view : identity_views(settings)) views.push_back(analysed.seen(view));
  return views;
}

std::vector<MapSpectrum> subject_spectra(const FigureRequest& request, std::size_t index,
                                         const MatrixChoice& analysed,
                                         const SpectrumOptions& options, const Progress& progress) {
  const Subject& subject = request.subjects[index];
  const bool suits = analysed.is_plain_map() && options.accuracy == SpectrumAccuracy::cumulative &&
                     options.method == SpectrumMethod::automatic &&
                     options.dense_limit == SpectrumOptions{}.dense_limit;
  if (suits && index < request.spectra.size() && request.spectra[index]) {
    return chosen_spectra(*request.spectra[index], *subject.trace, analysed.identity, options);
  }
  std::vector<MapSpectrum> spectra = spectra_of(subject, analysed, options, progress);
  if (analysed.identity == IdentityView::with) std::erase_if(spectra, lacks_identity);
  return spectra;
}

Panel cumulative_share_panel(const Settings& settings, RankShare share) {
  Panel panel;
  panel.x.label = "number of singular values r";
  panel.y.label = std::string("cumulative share f(r) of ") + symbol_of(share);
  panel.y.minimum = 0;
  panel.y.maximum = 1;
  panel.y.ticks = share_ticks();
  panel.legend = legend_of(settings, LegendPosition::bottom_right);
  return panel;
}

std::int64_t shared_rank_bound(std::span<const MapSpectrum> spectra) {
  std::int64_t bound = 0;
  for (const MapSpectrum& map : spectra) {
    if (map.state != SpectrumState::ready) continue;
    if (map.rank_bound == 0) return 0;
    bound = std::max(bound, map.rank_bound);
  }
  return bound;
}

std::string methods_in_words(std::span<const MapSpectrum> spectra) {
  std::int64_t factored = 0, estimated = 0, known = 0;
  double error = 0;
  for (const MapSpectrum& map : spectra) {
    if (map.state != SpectrumState::ready) continue;
    if (map.method == SpectrumMethod::factored) ++factored;
    if (!map.estimate) continue;
    ++estimated;
    known = std::max(known, map.estimate->known);
    error = std::max(error, map.estimate->standard_error / map.estimate->nuclear_norm);
  }
  std::string words;
  if (factored > 0) {
    words += "The singular values of " + std::to_string(factored) + " of " +
             std::to_string(spectra.size()) + " maps come from their factors. ";
  }
  if (estimated > 0) {
    words += "Of " + std::to_string(estimated) + " large maps only the leading " +
             std::to_string(known) +
             " values are exact; the rest is estimated by stochastic Lanczos quadrature, Σσ with a "
             "standard error of at most " +
             rounded_text(100 * error, 2) + " %. ";
  }
  return words;
}

}  // namespace attnscope
