// Singular values of attention maps, and ranks computed from them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// State of one map's spectrum. Only `ready` maps have ranks.
enum class SpectrumState {
  ready,
  not_finite,    ///< the map has NaN or Inf: no singular values
  zero,          ///< every entry is 0: all singular values are 0, no ranks
  not_converged  ///< the decomposition or the estimate failed: no singular values
};

/// Text of the state: "ready", "NaN or Inf in the map", "all zero", "did not converge".
[[nodiscard]] std::string_view describe(SpectrumState state);

/// Accuracy of singular values. Both are computed in double.
enum class SpectrumAccuracy {
  /// Every f(r) to 1e-5 relative, by eigenvalues of HᵀH; by every_value if their error bound is too
  /// large, as for maps of nearly rank one.
  cumulative,
  /// Every σ to about N · 1e-16 · σ_1, by bidiagonalisation of H: takes 1.5 times as long.
  every_value
};

/// Method to compute singular values.
enum class SpectrumMethod {
  /// factored if only factors were recorded, or if they are at most half as wide as the map (a
  /// quarter with I); else estimated if the map's smaller dimension exceeds dense_limit; else
  /// dense.
  automatic,
  dense,     ///< all values, from the N×M map
  factored,  ///< all values from the map's factors in O(N b²), without N×M entries
  estimated  ///< leading values by block Krylov, Σσ and the rest by stochastic quadrature
};

inline constexpr EnumName<SpectrumMethod> spectrum_method_names[] = {
    {SpectrumMethod::automatic, "automatic"},
    {SpectrumMethod::dense, "dense"},
    {SpectrumMethod::factored, "factored"},
    {SpectrumMethod::estimated, "estimated"}};

[[nodiscard]] inline std::string_view name_of(SpectrumMethod method) {
  return name_of(spectrum_method_names, method);
}
/// Method of this name. Throws Error(usage) listing the names.
[[nodiscard]] inline SpectrumMethod spectrum_method(std::string_view name) {
  return value_of(spectrum_method_names, name, "way to find singular values");
}

struct SpectrumEstimate;
struct Subject;

struct SpectrumOptions {
  RankThreshold threshold = {};  ///< threshold of the equivalent rank
  SpectrumAccuracy accuracy = SpectrumAccuracy::cumulative;
  std::vector<std::int64_t> layers = {};  ///< all recorded layers if empty
  SpectrumMethod method = SpectrumMethod::automatic;
  /// Number of tokens above which values of a map without factors are estimated: the cost of dense
  /// grows with the cube of the tokens, that of the estimate with the square. Speed-up by the
  /// estimate for random maps on two cores: softmax 0.6 at N = 1024; 6 to 7 at 4096, 9 with I; 17
  /// at 8192, 30 with I.
  std::int64_t dense_limit = 4095;
};

/// Spectrum of one map with its ranks.
struct MapSpectrum {
  std::int64_t layer = 0, head = 0;
  /// Channel of the map; empty for the mean or the only one.
  std::optional<std::int64_t> channel = std::nullopt;
  bool identity = false;  ///< true if the analysed map contains I
  SpectrumState state = SpectrumState::ready;
  SpectrumMethod method = SpectrumMethod::dense;  ///< method that was used; never automatic
  /// Bound of the rank in exact arithmetic if it is below the smaller dimension; else 0.
  std::int64_t rank_bound = 0;
  std::int64_t tokens = 0;              ///< N, the larger dimension of the map
  std::int64_t not_finite_entries = 0;  ///< number of NaN and Inf
  std::int64_t zero_rows = 0;           ///< number of queries that attend to nothing
  /// The min(N, M) values, descending; empty if not_finite, not_converged.
  std::vector<double> singular_values;
  RankThreshold threshold = {};      ///< threshold of the equivalent rank
  std::int64_t equivalent_rank = 0;  ///< smallest r with f(r) ≥ τ
  double effective_rank = 0;         ///< exp of the entropy of σ / Σσ
  double stable_rank = 0;            ///< ‖H‖_F² / σ_1²; NaN if unknown (estimated)
  std::int64_t numerical_rank = 0;   ///< number of σ above N · ε · σ_1; 0 if estimated
  double rank_one_distance = 0;  ///< √(Σ_{t≥2} σ_t²) / ‖H‖_F; NaN if unknown (estimated)
  /// ‖H − Hᵀ‖_F / ‖H‖_F of the analysed map, 0 to 2; NaN if the map is not square, or is computed
  /// and estimated.
  double symmetry_error = 0;
  /// Data of an estimated spectrum, whose singular_values are the leading ones, then estimates;
  /// else null.
  std::shared_ptr<const SpectrumEstimate> estimate = nullptr;
};

/// Cumulative shares of a ready spectrum. Those of Σσ² end at the map's ‖H‖_F², which is known
/// although the spectrum is estimated.
[[nodiscard]] std::vector<double> cumulative_share(const MapSpectrum& spectrum, RankShare of);
/// Equivalent rank of a ready spectrum at another threshold.
[[nodiscard]] std::int64_t equivalent_rank(const MapSpectrum& spectrum,
                                           const RankThreshold& threshold);

/// Spectrum of one map [N, M]; layer, head and identity are not set. Throws Error(usage) for a
/// threshold out of range or a map without entries.
[[nodiscard]] MapSpectrum spectrum_of(const ConstMatrixMap& map,
                                      const SpectrumOptions& options = {});

/// Spectra of one trace's maps without and with I, each in order of layer and head; `with` has only
/// square maps.
struct SubjectSpectra {
  std::vector<MapSpectrum> without, with;
};

/// True if the map was analysed without I, as spectra_of does for maps that are not square.
[[nodiscard]] inline bool lacks_identity(const MapSpectrum& map) { return !map.identity; }

/// Called with each map's spectrum as soon as it is computed, from several threads but never two at
/// once, in any order.
using SpectrumArrived = std::function<void(const MapSpectrum&)>;

/// Spectrum of the map left · rightᵀ from the factors [N, b] and [M, b] of one head; with
/// `identity` of that map + I, which needs N = M. b ≥ 1. Throws Error(usage).
[[nodiscard]] MapSpectrum spectrum_of_factors(const ConstMatrixMap& left,
                                              const ConstMatrixMap& right, bool identity,
                                              const SpectrumOptions& options = {});

/// Spectra of every recorded map in the given view, in order of layer and head, on all cores.
/// Layers without maps and factors are skipped. The result does not depend on the number of
/// threads. Throws Error(usage) (threshold, layer out of range, no maps recorded), Cancelled.
[[nodiscard]] std::vector<MapSpectrum> spectra_of(const Trace& trace, IdentityView view,
                                                  const SpectrumOptions& options = {},
                                                  const Progress& progress = {},
                                                  const SpectrumArrived& arrived = {});

/// Like spectra_of without I and with I, but computes their common third of the work once; values
/// differ from those by rounding. Maps that are not square are equal in both.
[[nodiscard]] std::array<std::vector<MapSpectrum>, 2> spectra_without_and_with_identity(
    const Trace& trace, const SpectrumOptions& options = {}, const Progress& progress = {});

/// Spectra of all channels of mechanisms with one map per channel (DAFT), in order of channel,
/// layer and head, each with its `channel`; like spectra_of for mechanisms with one map per head.
/// The model runs once per channel, so that only one channel's maps are in memory. Throws
/// Error(usage) for a subject without model or input (a trace holds the maps of one channel, or
/// their mean), and like Model::run and spectra_of.
[[nodiscard]] std::vector<MapSpectrum> spectra_of_channels(const Subject& subject,
                                                           IdentityView view,
                                                           const SpectrumOptions& options = {},
                                                           const Progress& progress = {});

}  // namespace attnscope
