// Mixtures of experts: the experts that each token passes through, layer by layer.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

struct ChosenExpert {
  std::int64_t expert = 0;
  double weight = 0;
};

/// The experts of one layer and their tokens.
struct LayerExperts {
  std::int64_t layer = 0;
  std::vector<std::vector<ChosenExpert>> tokens = {};  ///< [N], k experts each, by falling weight
  std::vector<std::int64_t> loads = {};  ///< [E], number of tokens that pass through each expert

  /// Number of experts of a token, k.
  [[nodiscard]] std::int64_t active() const;
  /// Number of experts that at least one token passes through.
  [[nodiscard]] std::int64_t used() const;
  /// The expert of the most tokens, the first of several.
  [[nodiscard]] std::int64_t busiest() const;
  /// Σ −p ln p / ln E with p the loads divided by their sum: 1 if all experts have as many tokens.
  /// NaN for one expert.
  [[nodiscard]] double balance() const;
};

/// The layers of `asked` that have experts, all of the trace if it is empty. Throws Error(usage) if
/// none of them has recorded any, Error(damaged) for records that do not fit together.
[[nodiscard]] std::vector<LayerExperts> layer_experts(const Trace& trace,
                                                      const std::vector<std::int64_t>& asked = {});

}  // namespace attnscope
