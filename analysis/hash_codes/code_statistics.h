// How one head's binary codes are used: occupancy, balance and correlation of bits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/attention/hash_codes.h"

namespace attnscope {

struct CodeStatistics {
  std::int64_t tokens = 0, bits = 0;
  std::int64_t distinct = 0;    ///< codes that some token has
  std::int64_t commonest = 0;   ///< tokens of the commonest code
  double entropy = 0;           ///< of a token's code, in bits
  double greatest_entropy = 0;  ///< what it can be: the lesser of b and log2 N
  std::vector<double> balance;  ///< [b], share of tokens whose bit is set
  /// [b, b], Pearson's, between bits over tokens; NaN with a bit that all tokens share.
  MatrixD correlation;
};

[[nodiscard]] CodeStatistics code_statistics(const HashCodes& codes);

/// For each token the rank of its code among all, the commonest 0; equals by first appearance.
[[nodiscard]] std::vector<std::int64_t> code_ranks(const HashCodes& codes);

}  // namespace attnscope
