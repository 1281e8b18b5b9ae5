// Ranks and curves from the singular values σ_1 ≥ σ_2 ≥ … ≥ σ_N ≥ 0 of a map; fast enough to be
// called while a slider moves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/parameters/enum_names.h"

namespace attnscope {

/// The sum of which the leading singular values have a share.
enum class RankShare {
  values,  ///< Σσ (Adder, Eq. 21)
  energy   ///< Σσ² = ‖H‖_F²: "effective rank at 90 %" of most papers since 2021
};
inline constexpr EnumName<RankShare> rank_share_names[] = {{RankShare::values, "values"},
                                                           {RankShare::energy, "energy"}};

/// "Σσ" or "Σσ²".
[[nodiscard]] const char* symbol_of(RankShare share);

/// Threshold of the equivalent rank: the share that the leading singular values must reach.
struct RankThreshold {
  double level = 0.9;  ///< τ in (0, 1]
  RankShare of = RankShare::values;

  constexpr RankThreshold() = default;
  constexpr RankThreshold(double tau, RankShare share = RankShare::values)
      : level(tau), of(share) {}
  bool operator==(const RankThreshold&) const = default;
};

/// "τ = 0.9 of Σσ".
[[nodiscard]] std::string to_string(const RankThreshold& threshold);
/// "smallest r whose σ_1 … σ_r hold 0.9 of Σσ".
[[nodiscard]] std::string rank_in_words(const RankThreshold& threshold);

/// f(r) = Σ_{t≤r} σ_t / Σ_t σ_t for r = 1 … N (Adder, Eq. 21), or the same of σ²; empty if all σ
/// are 0.
[[nodiscard]] std::vector<double> cumulative_share(std::span<const double> singular_values,
                                                   RankShare of = RankShare::values);

/// g(r) = r / N for r = 1 … N (Adder, Eq. 21).
[[nodiscard]] std::vector<double> linear_share(std::int64_t count);

/// Smallest r with share(r) ≥ threshold, for a curve that rises to 1; its length if there is none,
/// 0 if it is empty. threshold in (0, 1].
[[nodiscard]] std::int64_t rank_of_share(std::span<const double> share, double threshold);

/// Smallest r with f(r) ≥ τ (Adder, Section 3.2.2), f of the threshold's share; 0 if all σ are 0.
[[nodiscard]] std::int64_t equivalent_rank(std::span<const double> singular_values,
                                           const RankThreshold& threshold);

/// σ_2 / σ_1, from 0 to 1; NaN if there are not two, or all are 0.
[[nodiscard]] double gap_ratio(std::span<const double> singular_values);

/// exp(−Σ p ln p) with p = σ / Σσ (Roy & Vetterli 2007), from 1 to N; 0 if all σ are 0.
[[nodiscard]] double effective_rank(std::span<const double> singular_values);

/// ‖H‖_F² / σ_1², from 1 to N; 0 if all σ are 0.
[[nodiscard]] double stable_rank(std::span<const double> singular_values);

/// (Σσ²)² / Σσ⁴, the participation ratio of σ², from 1 to N; 0 if all σ are 0.
[[nodiscard]] double participation_rank(std::span<const double> singular_values);

/// exp(−Σ p ln p) with p = σ² / Σσ²: exp of the von Neumann entropy, from 1 to N; 0 if all σ are 0.
[[nodiscard]] double entropy_rank(std::span<const double> singular_values);

/// Number of σ above N · ε · σ_1, with N the larger dimension of the map. The default ε is that of
/// float32, in which maps are stored: equals numpy.linalg.matrix_rank of the float32 map.
[[nodiscard]] std::int64_t numerical_rank(std::span<const double> singular_values,
                                          std::int64_t larger_extent, double epsilon = 0x1p-23);

/// √(Σ_{t≥2} σ_t²) / ‖H‖_F: relative distance to the nearest map of rank one, from 0 to 1.
[[nodiscard]] double rank_one_distance(std::span<const double> singular_values);

}  // namespace attnscope
