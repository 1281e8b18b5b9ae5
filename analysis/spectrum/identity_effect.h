// What adding I does to a map: Proposition 1 of the Adder paper against the exact singular values.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// The paper proves σ(H + I) = σ(H) + 1 for symmetric H (and, silently, positive semi-definite H).
/// Real maps are not: the exact σ(H + I) stands beside the prediction.
struct IdentityEffect {
  MapSpectrum without;              ///< of H; its symmetry error explains the difference
  MapSpectrum with;                 ///< of H + I, exact; of H where it is not square: no `identity`
  std::vector<double> predicted;    ///< σ(H) + 1; empty unless H is square and both are ready
  std::int64_t predicted_rank = 0;  ///< the equivalent rank of the prediction
  double prediction_error = 0;      ///< max_r |f_predicted(r) − f(r)| of H + I, 0 to 1

  // The assertions of Proposition 1 on this map; false unless there is a prediction.
  bool share_is_concave = false;  ///< f rises and its second difference is ≤ 0: true of any map
  bool closer_to_linear = false;  ///< D(r) of H + I ≤ D(r) of H for every r
  bool rank_not_lower = false;    ///< equivalent rank of H + I ≥ that of H
  double largest_excess = 0;      ///< max_r (D(r) of H + I − D(r) of H): > 0 where it fails
};

/// Both spectra of every recorded map, and the assertions. Order, errors and progress as
/// spectra_of.
[[nodiscard]] std::vector<IdentityEffect> identity_effects(const Trace& trace,
                                                           const SpectrumOptions& options = {},
                                                           const Progress& progress = {});

}  // namespace attnscope
