// Inverse frequencies of rotary positions that a file stores beside its weights, as Llama's did
// before transformers 4.32: they tell θ and how many channels of a head are turned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

struct RotaryFrequencies {
  std::string tensor;      ///< the first layer's
  std::int64_t width = 0;  ///< r, twice as many as there are frequencies
  /// The θ that give these frequencies but for the rounding of their type; with one frequency
  /// any does, and `greatest` is infinite.
  double least = 1, greatest = 1;

  /// The number of the fewest digits between `least` and `greatest`; nothing where any θ does.
  [[nodiscard]] std::optional<double> theta() const;
  [[nodiscard]] bool fit(double theta) const { return least <= theta && theta <= greatest; }
};

/// θ^(−2i/r), i = 0 … r/2 − 1, of one tensor [r/2]. Throws Error(unsupported) naming the tensor
/// where no θ gives them, as with frequencies that were scaled.
[[nodiscard]] RotaryFrequencies rotary_frequencies(const StoredTensor& tensor);

/// Those of all layers, which must be alike; nothing where the file has none, or where they are
/// left out by the user's word or as harmless in the description. Throws as rotary_frequencies.
[[nodiscard]] std::optional<RotaryFrequencies> stored_frequencies(const DeductionInput& input);

}  // namespace attnscope
