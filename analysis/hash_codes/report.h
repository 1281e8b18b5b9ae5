// One head's hash codes by every way to make them, beside the attention they imitate.
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
  /// b and m; those of the subject's own codes if absent, else 16 and 25 (or as many as tokens).
  std::optional<std::int64_t> bits, supports;
  std::optional<std::int64_t> pairs;  ///< l; 10 if absent, or fewer if there are few keys
};

struct CodesOfKind {
  HashKind kind = HashKind::learned;
  bool own = false;  ///< the subject's own codes; else learned ones are learnt here, at this head
  HashCodes queries, keys;
  CodeStatistics statistics;  ///< of the queries' codes
  PairDistances distances;
  double error = 0;  ///< ‖H_q H_kᵀ − bY‖² / ‖bY‖²
};

struct HashCodesReport {
  std::int64_t layer = 0, head = 0;
  std::int64_t bits = 0, supports = 0, pairs = 0;  ///< bits: of all but plain signs
  bool shared = false;                             ///< queries are the keys
  Matrix attention;                                ///< [N, M], what is imitated
  TokenLayout layout;                              ///< of the N queries
  std::vector<CodesOfKind> kinds;                  ///< in the order asked for
};

/// Runs the subject's model again on its input for the queries and keys, or takes them from a trace
/// that recorded them. Throws Error(usage) for a layer, head, number of bits, supports or pairs out
/// of range; Cancelled.
[[nodiscard]] HashCodesReport hash_codes_report(const Subject& subject,
                                                const HashCodesRequest& request,
                                                const Progress& progress);

}  // namespace attnscope
