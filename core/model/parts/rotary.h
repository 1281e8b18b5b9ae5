// Rotary positions: queries and keys turned by where they are (Su et al. 2021, Eq. 15), with the
// scalings of texts longer than trained with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/architecture/spec/layer_spec.h"
#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Angles a token, r/2 of them: of token p, p · θ^(−2i/r) and its scalings.
struct RotaryFrequencies {
  std::vector<double> angles;  ///< per token
  double amplitude = 1;        ///< of cosines and sines (YaRN, LongRoPE)
};

/// `channels`: r, of `tokens` tokens. Throws Error(damaged) naming the member for factors of
/// longrope that are not one a pair.
[[nodiscard]] RotaryFrequencies rotary_frequencies(const RotarySpec& rotary, std::int64_t channels,
                                                   std::int64_t tokens);

/// The cosines and sines that turn the tokens of one input.
class RotaryTurns {
 public:
  /// `periods`: of RotaryGrid::patches, [head_width / 4]; θ^(2i/(d/2)) if it is empty.
  RotaryTurns(const RotarySpec& rotary, std::int64_t head_width, std::int64_t tokens,
              const TokenLayout& layout, std::span<const float> periods);

  /// In place: rows [N, heads · d].
  void apply(Tensor& rows, std::int64_t heads) const;
  [[nodiscard]] std::int64_t bytes() const { return (cosines_.size() + sines_.size()) * 4; }

 private:
  bool neighbours_;             // pairs (2i, 2i+1), else (i, i + r/2)
  std::int64_t pairs_, first_;  // r/2; tokens before it are not turned
  Matrix cosines_, sines_;      // [tokens, r/2]
};

}  // namespace attnscope
