// Which pairs of tokens an attention map calls similar, and how well codes keep that.
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
/// By query, then by key.
struct SimilarPairs {
  std::int64_t queries = 0, keys = 0;
  std::vector<TokenPair> similar, dissimilar;
};

/// The `pairs` keys that each query attends to most, and those it attends to least; of equals the
/// earlier. Of a query that sees fewer than 2 · `pairs` keys (a causal map), half of them each.
/// Throws Error(usage) unless 1 ≤ pairs ≤ M / 2.
[[nodiscard]] SimilarPairs similar_pairs(const ConstMatrixMap& attention, std::int64_t pairs);

/// Pairs of two different tokens, by the Hamming distance of their codes.
struct PairDistances {
  std::vector<std::int64_t> similar, dissimilar;  ///< [b + 1], pairs at each distance
  /// The chance that a similar pair is nearer than a dissimilar one, equals counted half: 1 parts
  /// them wholly, ½ is chance. NaN without pairs of both.
  double auc = 0;
};
[[nodiscard]] PairDistances pair_distances(const HashCodes& queries, const HashCodes& keys,
                                           const SimilarPairs& pairs);

/// ‖H_q H_kᵀ − bY‖² / ‖bY‖² (Eq. 12), in O(N b² + pairs · b): 1 if all codes were 0. Plain signs
/// count as ±1, without their scale.
[[nodiscard]] double reconstruction_error(const HashCodes& queries, const HashCodes& keys,
                                          const SimilarPairs& pairs);

/// h_i · h_j, [N, M]; with the scales of plain signs.
[[nodiscard]] Matrix affinities(const HashCodes& queries, const HashCodes& keys);

}  // namespace attnscope
