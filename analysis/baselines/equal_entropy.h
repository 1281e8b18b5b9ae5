// Ranks at the same entropy: equivalent ranks of maps whose temperatures are set so that their rows
// are equally sharp. A difference of ranks that remains does not come from sharpness.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/spectrum.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// True if the rows of the layer's maps are softmaxes of scores (MechanismEntry::tempered), so that
/// the softmax of the scores divided by T follows from the map. False for unknown mechanisms.
[[nodiscard]] bool has_temperature(const Trace& trace, std::int64_t layer);
/// Throws Error(usage) naming the layer and its mechanism unless has_temperature.
void check_temperature(const Trace& trace, std::int64_t layer);
/// Throws Error(usage) unless `target` is above 0 and below 1, and `analysed` is an attention map,
/// centred or not, without added terms.
void check_equal_entropy(double target, const MatrixChoice& analysed);

/// h(A) = mean over i of H_i / ln n_i, 0 to 1: H_i = −Σ_j a_ij ln a_ij of row i divided by its sum,
/// in nats, n_i the number of keys that query i sees (of a causal map i + 1). Queries that see one
/// key, or attend to none, are left out; NaN if none is left. `map` [N, M] is finite and not
/// negative, without I.
[[nodiscard]] double entropy_share(const MatrixD& map, const SeenKeys& seen);

/// Result of temper_to_entropy.
struct TemperedMap {
  double temperature = std::numeric_limits<double>::quiet_NaN();  ///< T; NaN if not reached
  double entropy = std::numeric_limits<double>::quiet_NaN();      ///< h at T, or the closest found
  bool reached = false;
};

/// Replaces the rows of `map` [N, M], finite and not negative, without I, by A_T, whose weights are
/// proportional to a_ij^(1/T) with the row's former sum: softmax(s/T) if A = softmax(s). One T for
/// all rows is found by bisection of ln T in double, so that |h(A_T) − target| ≤ 1e-6; h rises with
/// T. T = 1 is taken if the map itself is as close. 1e-6 ≤ T ≤ 1e6: a target beyond is not reached,
/// as for rows whose greatest weights are equal, or weights of 0 on keys that are seen, which stay
/// 0. `target` in (0, 1). The map is unchanged unless the target is reached.
[[nodiscard]] TemperedMap temper_to_entropy(double target, const SeenKeys& seen, MatrixD& map);

/// The equivalent rank of one map at a given entropy.
struct EntropyRank {
  std::int64_t layer = 0, head = 0;
  TemperedMap tempered;
  double rank = std::numeric_limits<double>::quiet_NaN();  ///< NaN if unknown or not reached
};

/// Equivalent rank (Adder, Section 3.2.2) of one recorded map at the temperature at which
/// h(A_T) = target. The temperature acts on A without I; I is then added if the view has it, and
/// the mean row subtracted if `analysed` is centred. Unknown for maps that are not finite, have
/// negative weights or no spectrum. Throws Error(usage) like check_equal_entropy and
/// check_temperature, and for more than options.dense_limit tokens.
[[nodiscard]] EntropyRank rank_at_entropy(const Trace& trace, const MapIndex& place, double target,
                                          const MatrixChoice& analysed = {},
                                          const SpectrumOptions& options = {});

/// entropy_share of one recorded map without I; NaN for maps that are not finite or have negative
/// weights.
[[nodiscard]] double entropy_share_at(const Trace& trace, const MapIndex& place);

/// rank_at_entropy of every recorded map of options.layers, in order of layer and head, on all
/// cores. Throws like it; Cancelled.
[[nodiscard]] std::vector<EntropyRank> ranks_at_entropy(const Trace& trace, double target,
                                                        const MatrixChoice& analysed = {},
                                                        const SpectrumOptions& options = {},
                                                        const Progress& progress = {});

}  // namespace attnscope
