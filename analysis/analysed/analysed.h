// Spectrum of what? A map is one of many matrices of a head, and papers mean different ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// A is the map [N, M] of a head; q, k, v its queries [N, d], keys [M, d] and values [M, d_v], as
/// they were recorded: after norms and rotary positions.
enum class SpectrumOf {
  map,      ///< A
  scores,   ///< what the softmax is taken of, without bias, mask and cap: q kᵀ/√d; rank ≤ d
  log_map,  ///< ln A, of maps without zeros; rank ≤ d + 1 where A is a softmax of q kᵀ alone
  seen_by_values,  ///< A P, P the projection onto the columns of v: A v = A P v; rank ≤ rank v
  value_weighted,  ///< a_ij ‖v_j‖
  head_output,     ///< A v; rank ≤ d_v
  output,          ///< A v of all heads beside each other, before W_O; rank ≤ H d_v
  values,          ///< v
  tokens           ///< the tokens [N, D] after the layer
};
inline constexpr EnumName<SpectrumOf> spectrum_of_names[] = {
    {SpectrumOf::map, "map"},
    {SpectrumOf::scores, "scores"},
    {SpectrumOf::log_map, "log-map"},
    {SpectrumOf::seen_by_values, "seen-by-values"},
    {SpectrumOf::value_weighted, "value-weighted"},
    {SpectrumOf::head_output, "head-output"},
    {SpectrumOf::output, "output"},
    {SpectrumOf::values, "values"},
    {SpectrumOf::tokens, "tokens"}};

/// Throws Error(usage) listing the names; of "norm-weighted" it says that a trace has no W_O.
[[nodiscard]] SpectrumOf spectrum_of_named(std::string_view name);

struct Analysed {
  SpectrumOf of = SpectrumOf::map;
  /// Less its mean row: X − 1x̄ᵀ. What all queries do alike, sinks too, is then gone.
  bool centred = false;

  bool operator==(const Analysed&) const = default;
};

/// "attention maps", "scores q kᵀ/√d, before bias and mask, without the mean row", …
[[nodiscard]] std::string in_words(const Analysed& analysed);

/// Whether an I may be part of it: of what is made of the map itself.
[[nodiscard]] bool takes_identity(SpectrumOf of);
/// Whether there is one of a layer, not one of each head: its `head` is kAllHeads.
[[nodiscard]] bool is_of_layer(SpectrumOf of);
inline constexpr std::int64_t kAllHeads = -1;

/// Adds to `request` what is needed of a run.
void request_for(SpectrumOf of, TraceRequest& request);

/// X becomes X − 1x̄ᵀ.
void take_mean_row_away(MatrixD& matrix);

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

/// As spectra_of of the trace's maps, of what `analysed` says, in order of layer and head. By
/// LAPACK: more than options.dense_limit tokens are refused, as is any other method. Throws
/// Error(usage) too where an I is asked for of what has none.
[[nodiscard]] std::vector<MapSpectrum> spectra_of(const Trace& trace, const Analysed& analysed,
                                                  IdentityView view,
                                                  const SpectrumOptions& options = {},
                                                  const Progress& progress = {});

}  // namespace attnscope
