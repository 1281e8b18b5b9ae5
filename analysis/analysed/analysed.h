// Spectrum of what? A map is one of many matrices of a head, and papers mean different ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysed/what.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// How many singular values it has in a layer of that trace: its smaller extent.
[[nodiscard]] std::int64_t singular_values_of(const Trace& trace, std::int64_t layer,
                                              const Analysed& analysed);

/// Adds to `request` what is needed of a run.
void request_for(SpectrumOf of, TraceRequest& request);

void request_for(const Analysed& analysed, TraceRequest& request);

/// Whether what a layer was given is part of it: the tokens after the one before.
[[nodiscard]] bool needs_layer_before(const Analysed& analysed);

/// Throws Error(usage), with the reason, where that has no meaning.
void check_added(const Analysed& analysed);

/// X becomes X − 1x̄ᵀ.
void take_mean_row_away(MatrixD& matrix);

/// Throws Error(usage) where an I is asked for of what has none.
void check_view(const Analysed& analysed, IdentityView view);

/// Those of `layers` (all if empty) that hold what is analysed, in order of layer and head; of what
/// is one of a layer each with the head kAllHeads. Throws Error(usage) for a layer out of range,
/// and if nothing was recorded.
[[nodiscard]] std::vector<RecordedMap> places_of(const Trace& trace, const Analysed& analysed,
                                                 const std::vector<std::int64_t>& layers);

/// The matrix itself in double, with what bounds its rank in exact arithmetic below its extents; 0:
/// nothing known. Throws Error(usage), naming what was not recorded, what this mechanism does not
/// have (scores of linear attention), or what is not defined (ln of a causal map; products of
/// values where each channel has a map of its own).
struct AnalysedMatrix {
  MatrixD matrix;
  std::int64_t rank_bound = 0;
  bool identity = false;  ///< whether I is part of it
};
[[nodiscard]] AnalysedMatrix analysed_matrix(const Trace& trace, const RecordedMap& place,
                                             const Analysed& analysed, IdentityView view);

/// The same of a run of a model: W_O is then known, which the residual stream needs.
[[nodiscard]] AnalysedMatrix analysed_matrix(const Subject& subject, const RecordedMap& place,
                                             const Analysed& analysed, IdentityView view);

/// The spectrum of one of them, as spectra_of has it.
[[nodiscard]] MapSpectrum spectrum_at(const Subject& subject, const RecordedMap& place,
                                      const Analysed& analysed, IdentityView view,
                                      const SpectrumOptions& options);

/// As spectra_of of the trace's maps, of what `analysed` says, in order of layer and head. By
/// LAPACK: more than options.dense_limit tokens are refused, as is any other method. Throws
/// Error(usage) too where an I is asked for of what has none.
[[nodiscard]] std::vector<MapSpectrum> spectra_of(const Trace& trace, const Analysed& analysed,
                                                  IdentityView view,
                                                  const SpectrumOptions& options = {},
                                                  const Progress& progress = {});
[[nodiscard]] std::vector<MapSpectrum> spectra_of(const Subject& subject, const Analysed& analysed,
                                                  IdentityView view,
                                                  const SpectrumOptions& options = {},
                                                  const Progress& progress = {});

/// Of both views, which must be those of what I can be added to; as
/// spectra_without_and_with_identity where maps are seen as they are.
[[nodiscard]] std::array<std::vector<MapSpectrum>, 2> spectra_without_and_with_identity(
    const Subject& subject, const Analysed& analysed, const SpectrumOptions& options = {},
    const Progress& progress = {});

/// A subject of a trace alone, which must outlive it.
[[nodiscard]] Subject without_model(const Trace& trace);

}  // namespace attnscope
