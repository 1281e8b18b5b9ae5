// Inverse frequencies of rotary positions that a file stores with its weights, as Llama's did
// before transformers 4.32 and as Meta's own do. They give θ and the number of rotated channels of
// a head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

struct StoredFrequencies {
  std::string tensor;      ///< name of the first layer's tensor
  std::int64_t width = 0;  ///< r, twice the number of frequencies
  /// Range of θ that gives these frequencies up to the rounding of their dtype. With one frequency
  /// any θ does, and `greatest` is infinite.
  double least = 1, greatest = 1;

  /// Number with the fewest digits between `least` and `greatest`; empty if any θ fits.
  [[nodiscard]] std::optional<double> theta() const;
  [[nodiscard]] bool fit(double theta) const { return least <= theta && theta <= greatest; }
};

/// Frequencies θ^(−2i/r), i = 0 … r/2 − 1, of one tensor [r/2]. Throws Error(unsupported) naming
/// the tensor if no θ gives them, as for scaled frequencies.
[[nodiscard]] StoredFrequencies rotary_frequencies(const StoredTensor& tensor);

/// Frequencies of all layers, which must be equal; empty if the file has none, or if the user or
/// the description leaves them out. Throws like rotary_frequencies.
[[nodiscard]] std::optional<StoredFrequencies> stored_frequencies(const DeductionInput& input);

}  // namespace attnscope
