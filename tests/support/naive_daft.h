// DAFT transcribed from the equations with a dense w, with loops in double.
#pragma once

#include "tests/support/naive_attention.h"

namespace attnscope {

/// w of one channel, [N][M] (DAFT, Eq. 6; Eq. 7 with Eq. 9), from the mechanism's parameters and
/// input.parameters: 0 without such parameters, −∞ where a query does not see a key.
[[nodiscard]] NaiveMap naive_daft_bias(const MechanismChoice& choice, const AttentionInput& input,
                                       std::int64_t channel);

/// σ(Q_ic) exp(K_jc + w_ij) / Σ_j' exp(K_j'c + w_ij') of channel c of all D channels (DAFT, Eq. 4);
/// σ(Q_ic) is left out with gate=false (Table 8).
[[nodiscard]] NaiveMap naive_daft_channel_map(const MechanismChoice& choice,
                                              const AttentionInput& input, std::int64_t channel);

/// The map of channel input.channel of the head, or the mean over the head's channels.
[[nodiscard]] NaiveMap naive_daft_map(const MechanismChoice& choice, const AttentionInput& input,
                                      std::int64_t head);

}  // namespace attnscope
