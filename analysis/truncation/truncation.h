// Whether the rank matters: maps replaced by their best approximations of a lower rank while the
// model runs, and what becomes of its answers (DESIGN: the causal side of the Adder paper's claim).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/subject.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// `map` [N, M] becomes the map of rank `rank` nearest to it (Eckart and Young 1936): its first
/// singular triples. Nothing changes from rank min(N, M) on. rank >= 1; entries finite.
void truncate_to_rank(std::int64_t rank, MatrixMap map);

/// Which map is cut off, of an attention with identity mapping (Adder, Eq. 20).
enum class TruncatedMap {
  without_identity,  ///< A: A_r + I is run
  with_identity      ///< A + I: (A + I)_r is run
};

struct TruncationRequest {
  std::vector<std::int64_t> ranks;          ///< from 1 on
  std::vector<std::int64_t> layers, heads;  ///< that are cut off; all if empty
  TruncatedMap of = TruncatedMap::without_identity;
  /// Rows are divided by what they then sum to; one that sums to nothing is left as it is.
  bool renormalise = false;
  double threshold = 0.9;  ///< τ of the equivalent rank
  ItemChoice choice;       ///< of the data set
};

/// What a model answers with maps of one rank.
struct RankOutcome {
  std::int64_t rank = 0;  ///< 0: the maps as they are
  std::int64_t correct = 0, not_finite = 0;
  double divergence = 0;        ///< mean KL(p ‖ p_r) in bits of the predictions, of finite ones
  double divergence_error = 0;  ///< standard error of that mean; NaN of a single image
};

struct TruncationResult {
  std::int64_t images = 0;
  std::vector<RankOutcome> outcomes;  ///< the whole maps first, then in the order of the ranks
  /// Mean equivalent rank of the maps that are cut off, seen as they are cut off; none where no map
  /// has one.
  std::optional<double> mean_equivalent_rank;
  std::int64_t greatest_rank = 0;  ///< min(N, M) of the largest map

  /// Share of right answers.
  [[nodiscard]] double accuracy(const RankOutcome& outcome) const {
    return images ? static_cast<double>(outcome.correct) / static_cast<double>(images) : 0;
  }
};

/// Runs the chosen items once as they are and once for each rank. Throws Error(usage) for a model
/// without a head of classes, data without labels, ranks below 1, layers or heads that it does not
/// have, and with_identity of an attention without identity mapping; Cancelled.
[[nodiscard]] TruncationResult truncate(const Subject& subject, const DataSet& data_set,
                                        const TruncationRequest& request, const Progress& progress);

}  // namespace attnscope
