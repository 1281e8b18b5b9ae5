// Use of the frequencies of rotary positions by each head (Barbero et al. 2025).
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/parts/rotary.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// u_c = mean_i ‖q_c‖ · mean_j ‖k_c‖ for each pair c of channels that is rotated: a bound of what
/// the pair adds to the scores (Barbero et al. 2025, Section 3).
struct RotaryUse {
  std::int64_t layer = 0, head = 0;
  std::vector<RotaryPair> pairs;  ///< in the model's order, by increasing wavelength along an axis
  std::vector<double> use;        ///< u_c of each pair
  std::size_t strongest = 0;      ///< pair of the greatest u_c
  /// Share of Σ_c u_c in pairs that do not turn once within the input's tokens, rows or columns;
  /// NaN if all u_c are 0.
  double slow_share = 0;
};

/// True if the subject has its model, and a layer of it rotary positions.
[[nodiscard]] bool has_rotary_positions(const Subject& subject);

/// Uses of the heads of `layers` (all with rotary positions if empty), ordered by layer and head.
/// Queries and keys are those of the scores, after norms, with the amplitude of YaRN; prefix tokens
/// of a grid, which are not rotated, do not count. Throws Error(usage) if the subject has no model
/// or no recorded queries and keys, for a layer without rotary positions, and if no layer has them;
/// Cancelled.
[[nodiscard]] std::vector<RotaryUse> rotary_uses(const Subject& subject,
                                                 const std::vector<std::int64_t>& layers = {},
                                                 const Progress& progress = {});

}  // namespace attnscope
