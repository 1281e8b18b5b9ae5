// Rotary positions: queries and keys rotated by their position (Su et al. 2021, Eq. 15), with the
// scalings for texts longer than those trained on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/architecture/layer_spec.h"
#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Rotation angles per token, r/2 of them: p · θ^(−2i/r) for token p, with scaling.
struct RotaryFrequencies {
  std::vector<double> angles;  ///< increment per token position
  double amplitude = 1;        ///< factor of cosines and sines (YaRN, LongRoPE)
};

/// The frequencies of `channels` channels, r, in a text of `tokens` tokens. Throws Error(damaged)
/// naming the member if the factors of longrope do not match the number of channel pairs.
[[nodiscard]] RotaryFrequencies rotary_frequencies(const RotarySpec& rotary, std::int64_t channels,
                                                   std::int64_t tokens);

/// Two channels of a head that are rotated together, and the distance at which they have turned
/// once: in tokens, on a grid in patches. On a grid the first half of the pairs turns from row to
/// row, the other half from column to column.
struct RotaryPair {
  std::int64_t first = 0, second = 0;
  double wavelength = 0;
  enum class Along { tokens, rows, columns } along = Along::tokens;
};

/// The pairs of a head's channels, with the frequencies of RotaryTurns for the same arguments.
[[nodiscard]] std::vector<RotaryPair> rotary_pairs(const RotarySpec& rotary,
                                                   std::int64_t head_width, std::int64_t tokens,
                                                   const TokenLayout& layout,
                                                   std::span<const float> periods);

/// Place of a token in a text with pictures: the tokens of a picture have one time, and beside it a
/// row and a column from there on; those after it go on from its longer side. Elsewhere all three
/// are equal (Wang et al. 2024, Qwen2-VL, section 2.1).
struct PlaceInText {
  std::int64_t time = 0, row = 0, column = 0;
};
[[nodiscard]] PlaceInText rotary_place(std::int64_t token, const std::vector<TokenCells>& pictures);

/// Cosines and sines that rotate the tokens of one input.
class RotaryTurns {
 public:
  /// Turns of the tokens from … to − 1 of a text of `to` tokens; on a grid, `from` must be 0. With
  /// RotarySpec::sections they depend on layout.pictures.
  /// `periods` are those of RotaryGrid::patches, [head_width / 4]; if empty, they are θ^(2i/(d/2)).
  RotaryTurns(const RotarySpec& rotary, std::int64_t head_width, std::int64_t to,
              const TokenLayout& layout, std::span<const float> periods, std::int64_t from = 0);

  /// Rotates the rows [to − from, heads · d] in place.
  void apply(Tensor& rows, std::int64_t heads) const;
  /// The inverse of apply, to rounding.
  void undo(Tensor& rows, std::int64_t heads) const;
  [[nodiscard]] std::int64_t bytes() const { return (cosines_.size() + sines_.size()) * 4; }

 private:
  /// Replaces each pair (x, y) of channels by turn(x, y, cosine, sine).
  template <class Turn>
  void for_pairs(Tensor& rows, std::int64_t heads, const Turn& turn) const;

  bool neighbours_;             // pairs (2i, 2i+1) if true, otherwise (i, i + r/2)
  std::int64_t pairs_, first_;  // r/2, and the first token that is rotated
  Matrix cosines_, sines_;      // [tokens, r/2]
};

}  // namespace attnscope
