// Learns one head's hash from the attention that it imitates (EcoFormer, Eq. 12 to 14).
#pragma once

#include <cstdint>
#include <vector>

#include "core/attention/hash_codes.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Similar and dissimilar token pairs of an attention map, and measures of how well codes keep them:

struct TokenPair {
  std::int32_t query = 0, key = 0;
};

/// Y of EcoFormer, Eq. 13, as lists: +1 for similar pairs, −1 for dissimilar ones, 0 otherwise.
/// Both lists are in order of query, then key.
struct SimilarPairs {
  std::int64_t queries = 0, keys = 0;
  std::vector<TokenPair> similar, dissimilar;
  bool causal = false;  ///< true if a query sees only the keys up to its own position
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
  /// The same against all keys that the query sees and that are not similar to it. With l keys of
  /// many, `auc` is near 1 for random codes too, since the least similar keys are far away.
  double auc_against_all = 0;
};
[[nodiscard]] PairDistances pair_distances(const HashCodes& queries, const HashCodes& keys,
                                           const SimilarPairs& pairs);

/// ‖H_q H_kᵀ − bY‖² / ‖bY‖² (Eq. 12), in O(N b² + pairs · b): 0 if the codes meet Y exactly,
/// kErrorOfZeros if all codes are 0, error_of_chance on average for independent random bits, more
/// if most tokens have nearly the same code. Plain signs count as ±1, without their scale. NaN
/// without pairs.
[[nodiscard]] double reconstruction_error(const HashCodes& queries, const HashCodes& keys,
                                          const SimilarPairs& pairs);

/// Reconstruction error of codes of zeros. Learned codes above it are farther from bY than no codes
/// are: Y is 0 for all but 2l keys of a query, and b bits can rarely be at distance b / 2 from all
/// the others.
inline constexpr double kErrorOfZeros = 1;

/// Reconstruction error that codes of independent fair bits have on average, about 1 + M / (2 l b).
/// With `shared` the queries have the codes of the keys. NaN without pairs.
[[nodiscard]] double error_of_chance(const SimilarPairs& pairs, std::int64_t bits, bool shared);

/// h_i · h_j, [N, M], multiplied by the scales of plain signs.
[[nodiscard]] Matrix affinities(const HashCodes& queries, const HashCodes& keys);

// Projections and supports learned from the pairs.

struct HashLearningOptions {
  std::int64_t bits = 16;      ///< b, 1 to 64
  std::int64_t supports = 25;  ///< m, 1 to the number of tokens of the first input
  std::int64_t pairs = 10;     ///< l, number of similar and of dissimilar keys per query
  std::int64_t steps = 100;    ///< steps of Nesterov's descent per bit
  double rate = 5e-4;          ///< learning rate, on the loss per token
  double momentum = 0.9;
  std::uint32_t seed = 1;       ///< seed of the anchors and of the initial weights
  bool random_weights = false;  ///< A stays as drawn: KLSH, with anchors and μ of the examples

  bool operator==(const HashLearningOptions&) const = default;
};

/// Throws Error(usage) naming the option and its range.
void check(const HashLearningOptions& options);

/// Tokens of one head on one input, scaled to length 1, and their similar pairs.
struct HashExample {
  MatrixD queries, keys;  ///< [N, d], [M, d]
  bool shared = false;    ///< true if the queries are the keys
  bool causal = false;    ///< true for a language model: the bandwidth is then that of the anchors
  SimilarPairs pairs;
};

struct LearnedHash {
  HashFunction function;                     ///< hash with the bandwidth of the first example
  double error_before = 0, error_after = 0;  ///< reconstruction_error with random and learned A
  double error_of_chance = 0;                ///< error_of_chance over all examples
  std::vector<double> error_by_bit;  ///< [b], error after each bit; empty for random weights
};

/// Learns bit by bit: the residual is Y_r = bY − Σ_{t<r} h_t h_tᵀ, and a_r minimises −h_rᵀ Y_r h_r,
/// or −h_qᵀ Y_r h_k if queries are not the keys. There are two starts, random as upstream and the
/// leading eigenvector of gᵀ Y_r g in the metric of gᵀ g (Liu et al. 2012). Both descend on 2 / (1
/// + exp(−g a)) − 1 in place of the sign. The candidate with the least loss with hard signs is
/// kept; the starts are candidates too. Linear in the number of tokens, deterministic. Throws
/// Error(usage) for more supports than tokens; Cancelled.
[[nodiscard]] LearnedHash learn_hash(const std::vector<HashExample>& examples, std::int64_t head,
                                     const HashLearningOptions& options, const Progress& progress);

}  // namespace attnscope
