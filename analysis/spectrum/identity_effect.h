// Effect of adding I to a map: Proposition 1 of the Adder paper compared to exact singular values.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// Exact and predicted spectrum of H + I. The paper proves σ(H + I) = σ(H) + 1 for symmetric H
/// (and, implicitly, positive semi-definite H); real maps are not symmetric.
struct IdentityEffect {
  MapSpectrum without;  ///< spectrum of H; its symmetry error explains the difference
  MapSpectrum with;     ///< exact spectrum of H + I; of H, without `identity`, if H is not square
  std::vector<double> predicted;    ///< σ(H) + 1; empty unless H is square and both are ready
  std::int64_t predicted_rank = 0;  ///< equivalent rank of the prediction
  double prediction_error = 0;      ///< max_r |f_predicted(r) − f(r)| of H + I, 0 to 1

  // Assertions of Proposition 1 on this map; all false without a prediction.
  bool share_is_concave = false;  ///< f rises with second difference ≤ 0: true for any map
  bool closer_to_linear = false;  ///< D(r) of H + I ≤ D(r) of H for every r
  bool rank_not_lower = false;    ///< equivalent rank of H + I ≥ that of H
  double largest_excess = 0;  ///< max_r (D(r) of H + I − D(r) of H); > 0 if closer_to_linear fails
};

/// Both spectra and the assertions for every recorded map. Order, errors and progress are like
/// those of spectra_of.
[[nodiscard]] std::vector<IdentityEffect> identity_effects(const Trace& trace,
                                                           const SpectrumOptions& options = {},
                                                           const Progress& progress = {});

}  // namespace attnscope
