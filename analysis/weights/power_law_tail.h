// A power law fitted to the tail of a spectrum (Clauset et al. 2009, as WeightWatcher fits it:
// Martin, Peng & Mahoney 2021).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace attnscope {

/// Fewest values to which a tail is fitted.
inline constexpr std::size_t least_tail_values = 50;

/// The law p(λ) ∝ λ^(−α) for λ ≥ x_min. All members are NaN or −1 if no law was fitted.
struct PowerLawTail {
  double exponent = std::numeric_limits<double>::quiet_NaN();  ///< α = 1 + n / Σ ln(λ_i / x_min)
  double error = std::numeric_limits<double>::quiet_NaN();     ///< (α − 1) / √n
  /// The Kolmogorov–Smirnov distance from the law to the n values.
  double distance = std::numeric_limits<double>::quiet_NaN();
  double minimum = std::numeric_limits<double>::quiet_NaN();  ///< x_min
  std::int64_t values = -1;                                   ///< n, number of λ_i ≥ x_min
};

/// The law of `eigenvalues`, in any order, whose x_min is the one of them (except for the greatest)
/// with the least distance; the smallest if several have it. Values that are not positive are left
/// out. No law if a value is not finite or fewer than least_tail_values are left.
[[nodiscard]] PowerLawTail power_law_tail(std::vector<double> eigenvalues);

}  // namespace attnscope
