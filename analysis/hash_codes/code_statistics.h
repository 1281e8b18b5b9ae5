// Statistics of one head's binary codes: occupancy, balance and correlation of bits; and token
// colours.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/attention/hash_codes.h"

namespace attnscope {

struct CodeStatistics {
  std::int64_t tokens = 0, bits = 0;
  std::int64_t distinct = 0;    ///< number of different codes
  std::int64_t commonest = 0;   ///< number of tokens with the most frequent code
  double entropy = 0;           ///< entropy of the codes in bits
  double greatest_entropy = 0;  ///< upper bound of the entropy: min(b, log2 N)
  std::vector<double> balance;  ///< [b], share of tokens whose bit is set
  /// Pearson correlation [b, b] between bits over tokens; NaN for a bit that is equal in all
  /// tokens.
  MatrixD correlation;
};

[[nodiscard]] CodeStatistics code_statistics(const HashCodes& codes);

/// Rank of each token's code by frequency: 0 for the most frequent; ties by first appearance.
[[nodiscard]] std::vector<std::int64_t> code_ranks(const HashCodes& codes);

/// Token colours: equal codes have equal colours, similar codes similar ones. One colour per token:
/// the three leading principal components of the codes as lightness and two opponent hues, each
/// scaled over its range. Identical codes are all grey.
[[nodiscard]] std::vector<Colour> code_colours(const HashCodes& codes);

}  // namespace attnscope
