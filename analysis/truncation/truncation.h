// Whether the rank matters: maps replaced by their best approximations of a lower rank while the
// model runs, and what becomes of its answers (the causal side of the Adder paper's claim).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/intervention/study.h"
#include "core/parameters/enum_names.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// `map` [N, M] becomes the map of rank `rank` nearest to it (Eckart and Young 1936): its first
/// singular triples. Nothing changes from rank min(N, M) on. rank >= 1; entries finite.
void truncate_to_rank(std::int64_t rank, MatrixMap map);

/// Square `map` becomes 0 above the diagonal. The nearest map of a lower rank has weights there, of
/// tokens that a language model is to predict.
void hide_later_keys(MatrixMap map);

/// Which map is cut off, of an attention with identity mapping (Adder, Eq. 20).
enum class TruncatedMap {
  without_identity,  ///< A: A_r + I is run
  with_identity      ///< A + I: (A + I)_r is run
};

struct TruncationRequest {
  std::vector<std::int64_t> ranks = {};  ///< from 1 on; those of default_ranks if empty
  std::vector<std::int64_t> layers = {}, heads = {};  ///< that are cut off; all if empty
  /// A series for each; of an attention without identity mapping one is enough.
  std::vector<TruncatedMap> cuts = {TruncatedMap::without_identity};
  /// A series for each. Renormalised: rows are scaled to the sums that they had before the cut; one
  /// that sums to nothing is left as it is.
  std::vector<bool> renormalise = {false};
  double threshold = 0.9;  ///< τ of the equivalent rank
  bool baselines = false;  ///< null ranks beside it: of the maps with their rows shuffled
};

/// 1, 2, 4, … below the tokens that one input has: of a model of texts its context, at most 2048.
[[nodiscard]] std::vector<std::int64_t> default_ranks(const Model& model);

/// "A of layers 0, 3, all heads, rows scaled to the sums they had": what a request cuts off.
[[nodiscard]] std::string in_words(const TruncationRequest& request);

/// The series of one subject, whole and with each rank. In a model whose tokens do not see later
/// ones the cut maps are set to 0 above the diagonal again: each block below it has rank r at most,
/// the whole map may have a greater one. The label says so. Throws Error(usage) for ranks below 1,
/// layers or heads that it does not have, and with_identity alone of an attention without identity
/// mapping.
[[nodiscard]] std::vector<SeriesRequest> truncation_series(const Subject& subject,
                                                           const TruncationRequest& request);

}  // namespace attnscope
