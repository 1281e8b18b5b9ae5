// Rank truncation: replaces maps by their best low-rank approximations while the model runs, to
// measure the effect on its answers (a causal test of the Adder paper's claim).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/intervention/study.h"
#include "analysis/spectrum/rank.h"
#include "core/parameters/enum_names.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Replaces `map` [N, M] by the nearest map of rank `rank` (Eckart and Young 1936), the sum of its
/// leading singular triples. From rank min(N, M) on nothing changes. rank ≥ 1; entries must be
/// finite.
void truncate_to_rank(std::int64_t rank, MatrixMap map);

/// Sets a square `map` to 0 above the diagonal, where the nearest map of a lower rank has weights
/// of tokens that a language model must predict.
void hide_later_keys(MatrixMap map);

/// Map that is truncated, for attention with an identity mapping (Adder, Eq. 20).
enum class TruncatedMap {
  without_identity,  ///< truncates A; the model runs with A_r + I
  with_identity      ///< truncates A + I; the model runs with (A + I)_r
};

struct TruncationRequest {
  std::vector<std::int64_t> ranks = {};  ///< ranks ≥ 1; default_ranks if empty
  HeadChoice where = {};
  /// One series for each. Attention without an identity mapping needs only one.
  std::vector<TruncatedMap> cuts = {TruncatedMap::without_identity};
  /// One series for each. If true, rows are scaled to their sums before the truncation; rows whose
  /// sum is 0 stay unchanged.
  std::vector<bool> renormalise = {false};
  RankThreshold threshold = {};  ///< threshold of the equivalent rank
  bool baselines = false;        ///< true to add null ranks, of the maps with shuffled rows
};

/// Powers of two below the number of tokens of an input; for a text model below its context, at
/// most 2048.
[[nodiscard]] std::vector<std::int64_t> default_ranks(const Model& model);

/// Description of the truncation: "A of layers 0, 3, all heads, rows scaled to the sums they had".
[[nodiscard]] std::string in_words(const TruncationRequest& request);

/// Series of one subject, unchanged and with each rank. Truncated maps of a causal model are set to
/// 0 above the diagonal again, which the label states: each block below the diagonal then has at
/// most rank r, the whole map may have more. Throws Error(usage) for ranks below 1, layers or heads
/// that do not exist, and only with_identity for attention without an identity mapping.
[[nodiscard]] std::vector<SeriesRequest> truncation_series(const Subject& subject,
                                                           const TruncationRequest& request);

/// Makes `study` a truncation study: adds the series of each subject, and sets kind, description,
/// fingerprint and threshold. Throws like truncation_series.
void add_truncation(const std::vector<Subject>& subjects, const TruncationRequest& request,
                    StudyRequest& study);

}  // namespace attnscope
