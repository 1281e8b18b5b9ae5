// Learns one head's hash from the attention that it imitates (EcoFormer, Eq. 12 to 14).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/hash_codes/similar_pairs.h"
#include "core/attention/hash_codes.h"
#include "core/progress.h"

namespace attnscope {

struct HashLearningOptions {
  std::int64_t bits = 16;      ///< b, 1 to 64
  std::int64_t supports = 25;  ///< m, 1 to the number of tokens of the first input
  std::int64_t pairs = 10;     ///< l, number of similar and of dissimilar keys per query
  std::int64_t steps = 100;    ///< steps of Nesterov's descent per bit
  double rate = 5e-4;          ///< learning rate, on the loss per token
  double momentum = 0.9;
  std::uint32_t seed = 1;  ///< seed of the anchors and of the initial weights

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
  double error_before = 0, error_after = 0;  ///< ‖H Hᵀ − bY‖² / ‖bY‖² with random and learned A
  std::vector<double> error_by_bit;  ///< [b], error after each bit
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
