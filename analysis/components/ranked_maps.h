// Every map of a trace as the sum of its leading components, for any number of them: what a rank
// keeps of a map, and what it leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

class RankedMaps {
 public:
  /// Takes every recorded map apart, without I: on all cores, about as long as all singular values
  /// with their vectors take. A map with NaN or Inf stays as it is. Throws Cancelled.
  explicit RankedMaps(std::shared_ptr<const Trace> trace, const Progress& progress = {});

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }
  /// min(N, M) of the largest map.
  [[nodiscard]] std::int64_t greatest_rank() const { return greatest_; }

  /// The trace with A_r, the sum of the first `rank` components, in the place of every map A; with
  /// A − A_r if `rest`. No I is part of either. Of the run it keeps where tokens lie, not what
  /// they hold. rank ≥ 0.
  [[nodiscard]] Trace of_rank(std::int64_t rank, bool rest) const;

 private:
  /// U Σ [N, k] and V [M, k] of each head; empty where a map is not finite.
  struct Parts {
    Matrix left, right;
  };
  std::shared_ptr<const Trace> trace_;
  std::vector<std::vector<Parts>> layers_;
  std::int64_t greatest_ = 0;
};

}  // namespace attnscope
