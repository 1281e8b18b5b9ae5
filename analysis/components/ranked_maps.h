// Low-rank approximation of every map of a trace, and its remainder, for any number of components.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

class RankedMaps {
 public:
  /// Decomposes every recorded map without I, on all cores; takes about as long as all singular
  /// values with vectors. A map with NaN or Inf stays as it is. Throws Cancelled.
  explicit RankedMaps(std::shared_ptr<const Trace> trace, const Progress& progress = {});

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }
  /// min(N, M) of the largest map.
  [[nodiscard]] std::int64_t greatest_rank() const { return greatest_; }

  /// Trace in which every map A is replaced by A_r, the sum of its first `rank` components, or by A
  /// − A_r if `rest`. I is part of neither. The trace keeps the token layouts, but no token
  /// vectors. rank ≥ 0.
  [[nodiscard]] Trace of_rank(std::int64_t rank, bool rest) const;

 private:
  /// U Σ [N, k] and V [M, k] of one head; empty if the map is not finite.
  struct Parts {
    Matrix left, right;
  };
  std::shared_ptr<const Trace> trace_;
  std::vector<std::vector<Parts>> layers_;
  std::int64_t greatest_ = 0;
};

}  // namespace attnscope
