// Learning one head's hash from attention it is to imitate (EcoFormer, Eq. 12 to 14).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/hash_codes/similar_pairs.h"
#include "core/attention/hash_codes.h"
#include "core/progress.h"

namespace attnscope {

struct HashLearningOptions {
  std::int64_t bits = 16;      ///< b, 1 to 64
  std::int64_t supports = 25;  ///< m, 1 to the tokens of an input
  std::int64_t pairs = 10;     ///< l, similar and dissimilar keys of a query each
  std::int64_t steps = 100;    ///< of Nesterov's descent, for each bit
  double rate = 5e-4;          ///< of a step, on the loss of a token
  double momentum = 0.9;
  std::uint32_t seed = 1;  ///< of anchors and first weights

  bool operator==(const HashLearningOptions&) const = default;
};

/// Throws Error(usage) naming the option and its range.
void check(const HashLearningOptions& options);

/// One input's tokens of one head, scaled to length 1, and which of them are similar.
struct HashExample {
  MatrixD queries, keys;  ///< [N, d], [M, d]
  bool shared = false;    ///< queries are the keys
  bool causal = false;    ///< of a language model: the kernel's width is that of the anchors
  SimilarPairs pairs;
};

struct LearnedHash {
  HashFunction function;                     ///< its bandwidth is that of the first example
  double error_before = 0, error_after = 0;  ///< ‖H Hᵀ − bY‖² / ‖bY‖² with random and learned A
  std::vector<double> error_by_bit;  ///< [b], after so many bits
};

/// Bit by bit: what remains is Y_r = bY − Σ_{t<r} h_t h_tᵀ, and a_r is to make −h_rᵀ Y_r h_r least.
/// Two starts, random as upstream and the leading eigenvector of gᵀ Y_r g in the metric of gᵀ g
/// (Liu et al. 2012), each followed by descent on 2 / (1 + exp(−g a)) − 1 in place of the sign; the
/// least loss with hard signs stays, the random start itself among the candidates. Where queries
/// are not the keys, −h_qᵀ Y_r h_k. Linear in the tokens, deterministic. Throws Error(usage) for
/// more supports than tokens, Cancelled.
[[nodiscard]] LearnedHash learn_hash(const std::vector<HashExample>& examples, std::int64_t head,
                                     const HashLearningOptions& options, const Progress& progress);

}  // namespace attnscope
