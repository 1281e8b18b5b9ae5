// The spectra that figures draw: those known already, else computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analysed/analysed.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"

namespace attnscope {

/// "of", "centred" and "added": what is analysed; of figures of single heads without what is one of
/// a layer.
[[nodiscard]] ParameterDescription of_setting();
[[nodiscard]] ParameterDescription of_setting_of_heads();
[[nodiscard]] ParameterDescription centred_setting();
[[nodiscard]] ParameterDescription added_setting();
/// What those ask for.
[[nodiscard]] Analysed analysed_by(const Settings& settings);
/// The views that the setting "identity" asks for; as they are, of what no I is added to.
[[nodiscard]] std::vector<IdentityView> identity_views(const Settings& settings,
                                                       const Analysed& analysed);

/// As spectra_of for the trace of subject `index`, from request.spectra where these are what the
/// options ask for. With I, maps that are not square are left out: they have none.
[[nodiscard]] std::vector<MapSpectrum> subject_spectra(const FigureRequest& request,
                                                       std::size_t index, IdentityView view,
                                                       const SpectrumOptions& options,
                                                       const Progress& progress,
                                                       const Analysed& analysed = {});

/// The axes of f(r) over r, and the legend where the setting "legend" says: below, inside or none.
[[nodiscard]] Panel cumulative_share_panel(const Settings& settings);

/// The largest bound of rank among ready maps, if every one of them has one; else 0.
[[nodiscard]] std::int64_t shared_rank_bound(std::span<const MapSpectrum> spectra);

/// "Singular values of 36 maps come from their factors. …": how they were found, where that is not
/// a dense SVD; ends with a space, or is empty.
[[nodiscard]] std::string methods_in_words(std::span<const MapSpectrum> spectra);

}  // namespace attnscope
