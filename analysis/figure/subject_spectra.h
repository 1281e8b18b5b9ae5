// Spectra for figures: known ones, else computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/matrix/analysed_matrix.h"

namespace attnscope {

/// Settings "of", "centred" and "added", which select the analysed matrix; of_setting_of_heads
/// excludes matrices that are defined per layer.
[[nodiscard]] ParameterDescription of_setting();
[[nodiscard]] ParameterDescription of_setting_of_heads();
[[nodiscard]] ParameterDescription centred_setting();
[[nodiscard]] ParameterDescription added_setting();
/// The analysed matrix that these settings select, in the view as_is.
[[nodiscard]] MatrixChoice analysed_by(const Settings& settings);
/// The same matrix in each view of the setting "identity"; only as_is for matrices that take no I.
[[nodiscard]] std::vector<MatrixChoice> analysed_views(const Settings& settings);

/// Like spectra_of for the trace of subject `index`, taken from request.spectra if these suit the
/// options. In the view with I, maps that are not square are omitted.
[[nodiscard]] std::vector<MapSpectrum> subject_spectra(const FigureRequest& request,
                                                       std::size_t index,
                                                       const MatrixChoice& analysed,
                                                       const SpectrumOptions& options,
                                                       const Progress& progress);

/// A panel with the axes of f(r) over r, and the legend placed by the setting "legend".
[[nodiscard]] Panel cumulative_share_panel(const Settings& settings, RankShare share);

/// The largest rank bound of the ready maps if every one of them has a bound; else 0.
[[nodiscard]] std::int64_t shared_rank_bound(std::span<const MapSpectrum> spectra);

/// Methods other than a dense SVD: "Singular values of 36 maps come from their factors. …"; ends
/// with a space, or is empty.
[[nodiscard]] std::string methods_in_words(std::span<const MapSpectrum> spectra);

}  // namespace attnscope
