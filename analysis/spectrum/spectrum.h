// The singular values of attention maps, and the ranks read from them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// What became of one map. Only `ready` maps have ranks; the others are shown as what they are.
enum class SpectrumState {
  ready,
  not_finite,    ///< the map holds NaN or Inf: no singular values
  zero,          ///< every entry is 0: N singular values 0, no ranks
  not_converged  ///< LAPACK gave up, or the estimate: no singular values
};

/// "ready", "NaN or Inf in the map", "all zero", "did not converge".
[[nodiscard]] std::string_view describe(SpectrumState state);

/// How exactly singular values are wanted. Both are computed in double.
enum class SpectrumAccuracy {
  /// Every f(r) to 1e-5 relative: eigenvalues of HᵀH; where their error bound is not good enough,
  /// as in maps of nearly rank one, every_value.
  cumulative,
  /// Every σ to about N · 1e-16 · σ_1, by bidiagonalisation of H: 1.5 times as long.
  every_value
};

/// How singular values are found.
enum class SpectrumMethod {
  /// factored where factors are known, at most half as wide as the map; else estimated where the
  /// map's smaller extent is above dense_limit; else dense.
  automatic,
  dense,     ///< all values, from the N×M map itself
  factored,  ///< all values from the map's factors, in O(N b²): never from N×M entries
  estimated  ///< the leading values by Lanczos; Σσ and the rest by stochastic quadrature
};

inline constexpr EnumName<SpectrumMethod> spectrum_method_names[] = {
    {SpectrumMethod::automatic, "automatic"},
    {SpectrumMethod::dense, "dense"},
    {SpectrumMethod::factored, "factored"},
    {SpectrumMethod::estimated, "estimated"}};

[[nodiscard]] inline std::string_view name_of(SpectrumMethod method) {
  return name_of(spectrum_method_names, method);
}
/// Throws Error(usage) listing the names.
[[nodiscard]] inline SpectrumMethod spectrum_method(std::string_view name) {
  return value_of(spectrum_method_names, name, "way to find singular values");
}

struct SpectrumEstimate;

struct SpectrumOptions {
  double threshold = 0.9;  ///< τ of the equivalent rank, in (0, 1]
  SpectrumAccuracy accuracy = SpectrumAccuracy::cumulative;
  std::vector<std::int64_t> layers = {};  ///< all that were recorded if empty
  SpectrumMethod method = SpectrumMethod::automatic;
  /// Above so many tokens the values of an unfactored map are estimated: dense grows with the cube
  /// of the tokens, the estimate with their square. Random maps on two cores, how many times as
  /// fast: softmax at N = 1024 0.6; at 4096 6 to 7, with I 9; at 8192 17, with I 30.
  std::int64_t dense_limit = 4095;
};

/// One map and what its singular values say.
struct MapSpectrum {
  std::int64_t layer = 0, head = 0;
  std::optional<std::int64_t> channel = std::nullopt;  ///< whose map; none: their mean, or the only
  bool identity = false;                               ///< whether the analysed map contains I
  SpectrumState state = SpectrumState::ready;
  SpectrumMethod method = SpectrumMethod::dense;  ///< that was taken: never automatic
  /// In exact arithmetic, where something bounds it below the smaller extent; else 0.
  std::int64_t rank_bound = 0;
  std::int64_t tokens = 0;              ///< N: the larger extent of the map
  std::int64_t not_finite_entries = 0;  ///< NaN and Inf
  std::int64_t zero_rows = 0;           ///< queries that attend to nothing
  std::vector<double> singular_values;  ///< σ_1 ≥ … ≥ σ_N; empty if not_finite, not_converged
  double threshold = 0.9;               ///< of the equivalent rank
  std::int64_t equivalent_rank = 0;     ///< smallest r with f(r) ≥ threshold
  double effective_rank = 0;            ///< exp of the entropy of σ / Σσ
  double stable_rank = 0;               ///< ‖H‖_F² / σ_1²; NaN: not known, if estimated
  std::int64_t numerical_rank = 0;  ///< σ above N · 2⁻²³ · σ_1; 0: not known, if estimated
  double rank_one_distance = 0;     ///< √(Σ_{t≥2} σ_t²) / ‖H‖_F; NaN likewise
  double symmetry_error = 0;  ///< ‖H − Hᵀ‖_F / ‖H‖_F of the analysed map, 0 to 2; NaN if
                              ///< the map is not square
  /// Of an estimated spectrum: singular_values are the leading ones, exact, then estimates.
  std::shared_ptr<const SpectrumEstimate> estimate = nullptr;
};

/// The spectrum of one map [N, M]; layer, head and identity are left to the caller.
/// Throws Error(usage) for a threshold out of range or a map without entries.
[[nodiscard]] MapSpectrum spectrum_of(const ConstMatrixMap& map,
                                      const SpectrumOptions& options = {});

/// The spectra of one trace's maps without and with I, each in order of layer and head; `with` of
/// square maps alone.
struct SubjectSpectra {
  std::vector<MapSpectrum> without, with;
};

/// Whether the map was seen without I: what spectra_of gives for one that is not square.
[[nodiscard]] inline bool lacks_identity(const MapSpectrum& map) { return !map.identity; }

/// Called with each map's spectrum as soon as it is known, from several threads, in any order.
using SpectrumArrived = std::function<void(const MapSpectrum&)>;

/// The spectrum of the map left · rightᵀ, from the factors [N, b] and [M, b] of one head alone;
/// with `identity`, of that map + I, which needs N = M. b ≥ 1. Throws Error(usage).
[[nodiscard]] MapSpectrum spectrum_of_factors(const ConstMatrixMap& left,
                                              const ConstMatrixMap& right, bool identity,
                                              const SpectrumOptions& options = {});

/// The spectra of every recorded map, seen through `view`, in order of layer and head; all cores.
/// A layer that recorded neither maps nor factors is passed over. The result does not depend on the
/// thread count. Throws Error(usage) (threshold, layer out of range, no maps recorded), Cancelled.
[[nodiscard]] std::vector<MapSpectrum> spectra_of(const Trace& trace, IdentityView view,
                                                  const SpectrumOptions& options = {},
                                                  const Progress& progress = {},
                                                  const SpectrumArrived& arrived = {});

/// As spectra_of without I, and with it, but a third of the work that these have in common is done
/// once; values differ by rounding from those. What is not square is in the second as in the first.
[[nodiscard]] std::array<std::vector<MapSpectrum>, 2> spectra_without_and_with_identity(
    const Trace& trace, const SpectrumOptions& options = {}, const Progress& progress = {});

}  // namespace attnscope
