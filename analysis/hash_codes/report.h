// One head's hash codes of every kind, with the attention that they imitate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/hash_codes/code_statistics.h"
#include "analysis/hash_codes/learning.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

struct HashCodesRequest {
  std::int64_t layer = 0, head = 0;
  std::vector<HashKind> kinds = hash_kinds();
  /// b and m. If absent, those of the subject's own codes, else 16 and 25 (at most the number of
  /// keys).
  std::optional<std::int64_t> bits, supports;
  std::optional<std::int64_t> pairs;  ///< l; 10 if absent, or less if there are few keys
};

struct CodesOfKind {
  HashKind kind = HashKind::learned;
  /// True for the subject's own codes; else learned ones are learned for this head.
  bool own = false;
  HashCodes queries, keys;
  CodeStatistics statistics;  ///< statistics of the queries' codes
  PairDistances distances;
  double error = 0;  ///< reconstruction_error
};

struct HashCodesReport {
  std::int64_t layer = 0, head = 0;
  std::int64_t bits = 0, supports = 0, pairs = 0;  ///< `bits` does not apply to plain signs
  bool shared = false;                             ///< true if the queries are the keys
  double error_of_chance = 0;                      ///< error_of_chance of `bits`
  Matrix attention;                                ///< [N, M], the imitated attention
  TokenLayout layout;                              ///< layout of the N queries
  std::vector<CodesOfKind> kinds;                  ///< in the order of the request
};

/// Runs the subject's model again on its input to record queries and keys, or takes them from its
/// trace if it has no model or no input. Throws Error(usage) if the subject has neither a model
/// with an input nor a trace, or if the layer, head, or number of bits, supports or pairs is out of
/// range; Cancelled.
[[nodiscard]] HashCodesReport hash_codes_report(const Subject& subject,
                                                const HashCodesRequest& request,
                                                const Progress& progress);

}  // namespace attnscope
