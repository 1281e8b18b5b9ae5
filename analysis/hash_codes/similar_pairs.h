// Similar and dissimilar token pairs of an attention map, and measures of how well codes keep them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/attention/hash_codes.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct TokenPair {
  std::int32_t query = 0, key = 0;
};

/// Y of EcoFormer, Eq. 13, as lists: +1 for similar pairs, −1 for dissimilar ones, 0 otherwise.
/// Both lists are in order of query, then key.
struct SimilarPairs {
  std::int64_t queries = 0, keys = 0;
  std::vector<TokenPair> similar, dissimilar;
};

/// Selects the `pairs` keys that each query attends to most and the `pairs` keys it attends to
/// least; ties take the earlier key. A query of a causal map that sees fewer than 2 · `pairs` keys
/// has half of them in each list. Throws Error(usage) unless 1 ≤ pairs ≤ M / 2.
[[nodiscard]] SimilarPairs similar_pairs(const ConstMatrixMap& attention, std::int64_t pairs);

/// Histograms of the Hamming distance of pairs of two different tokens.
struct PairDistances {
  std::vector<std::int64_t> similar, dissimilar;  ///< [b + 1], number of pairs per distance
  /// Probability that a similar pair is nearer than a dissimilar one, with ties counted half: 1
  /// separates them completely, ½ is chance. NaN if either kind is empty.
  double auc = 0;
};
[[nodiscard]] PairDistances pair_distances(const HashCodes& queries, const HashCodes& keys,
                                           const SimilarPairs& pairs);

/// ‖H_q H_kᵀ − bY‖² / ‖bY‖² (Eq. 12), in O(N b² + pairs · b); 1 if all codes are 0. Plain signs
/// count as ±1, without their scale. NaN without pairs.
[[nodiscard]] double reconstruction_error(const HashCodes& queries, const HashCodes& keys,
                                          const SimilarPairs& pairs);

/// h_i · h_j, [N, M], multiplied by the scales of plain signs.
[[nodiscard]] Matrix affinities(const HashCodes& queries, const HashCodes& keys);

}  // namespace attnscope
