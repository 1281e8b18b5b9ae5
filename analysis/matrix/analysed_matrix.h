// Matrices of a head whose spectrum can be analysed: the map and those derived from it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// Number of singular values of the analysed matrix in a layer of the trace: its smaller dimension.
[[nodiscard]] std::int64_t singular_values_of(const Trace& trace, std::int64_t layer,
                                              const MatrixChoice& analysed);

/// Adds to `request` the quantities that the analysis needs from a run.
void request_for(MatrixKind of, TraceRequest& request);

void request_for(const MatrixChoice& analysed, TraceRequest& request);

/// True if the input tokens of a layer are needed: the output tokens of the layer before it.
[[nodiscard]] bool needs_layer_before(const MatrixChoice& analysed);

/// Throws Error(usage), with the reason, if `analysed.added` is not defined for `analysed.of`.
void check_added(const MatrixChoice& analysed);

/// Subtracts the mean row: X becomes X − 1x̄ᵀ. Differences within the rounding of the mean become 0,
/// so that equal rows leave a matrix of zeros.
void take_mean_row_away(MatrixD& matrix);

/// Throws Error(usage) if the view adds I to a matrix that takes no identity mapping.
void check_view(const MatrixChoice& analysed);

/// True if vectors [H', rows, d] were recorded and H' divides the number of heads.
[[nodiscard]] bool fit_heads(const Tensor& vectors, std::int64_t heads, std::int64_t rows);
/// True if the layer's scores are defined and can be computed from what was recorded.
[[nodiscard]] bool has_scores(const Trace& trace, std::int64_t layer);

/// Maps of `layers` (all if empty) whose analysed matrix was recorded, ordered by layer and head. A
/// matrix that is defined per layer has the head kAllHeads. Throws Error(usage) for a layer out of
/// range, and if nothing was recorded.
[[nodiscard]] std::vector<MapIndex> places_of(const Trace& trace, const MatrixChoice& analysed,
                                              const std::vector<std::int64_t>& layers);

/// The analysed matrix in double. `rank_bound` bounds its rank in exact arithmetic; 0: no bound
/// below its dimensions is known. Throws Error(usage), naming a quantity that was not recorded, one
/// that the mechanism does not have (scores of linear attention), or one that is not defined (ln of
/// a causal map; products with the values if each channel has a map of its own), and for a subject
/// without the model that the residual stream and norms of v W_O need.
struct AnalysedMatrix {
  MatrixD matrix;
  std::int64_t rank_bound = 0;
  bool identity = false;  ///< true if I is included
};
[[nodiscard]] AnalysedMatrix analysed_matrix(const Subject& subject, const MapIndex& place,
                                             const MatrixChoice& analysed);

/// The spectrum of one analysed matrix, as computed by spectra_of.
[[nodiscard]] MapSpectrum spectrum_at(const Subject& subject, const MapIndex& place,
                                      const MatrixChoice& analysed, const SpectrumOptions& options);

/// Spectra of the matrices that `analysed` selects, ordered by layer and head; the counterpart of
/// spectra_of for maps. Computed by LAPACK. Throws Error(usage) for dimensions above
/// options.dense_limit, for other methods, and like check_view.
[[nodiscard]] std::vector<MapSpectrum> spectra_of(const Subject& subject,
                                                  const MatrixChoice& analysed,
                                                  const SpectrumOptions& options = {},
                                                  const Progress& progress = {});

/// Spectra of the matrix without and with I, which it must take; the view of `analysed` is ignored.
/// For plain maps, like spectra_without_and_with_identity of the trace.
[[nodiscard]] std::array<std::vector<MapSpectrum>, 2> spectra_without_and_with_identity(
    const Subject& subject, const MatrixChoice& analysed, const SpectrumOptions& options = {},
    const Progress& progress = {});

/// A subject that holds only a trace, which must outlive it.
[[nodiscard]] Subject without_model(const Trace& trace);

/// The map W without its Toeplitz part T, or T by itself. Throws Error(usage) for mechanisms
/// without a convolution, for quantities that were not recorded, and for the mean over channels
/// that have different windows.
[[nodiscard]] MatrixD split_convolution(const Trace& trace, const MapIndex& place, Added added);

}  // namespace attnscope
