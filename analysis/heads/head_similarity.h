// How alike the maps of all heads of all layers are, and heads in an order that brings like ones
// together.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

enum class HeadLikeness {
  cosine,  ///< mean over keys of the cosine of the two maps' columns (Zhou et al. 2021, DeepViT)
  jensen_shannon  ///< 1 − mean over queries of the rows' Jensen–Shannon divergence in bits
};
inline constexpr EnumName<HeadLikeness> head_likeness_names[] = {
    {HeadLikeness::cosine, "cosine"}, {HeadLikeness::jensen_shannon, "jensen-shannon"}};

struct HeadSimilarity {
  std::vector<std::pair<std::int64_t, std::int64_t>> heads;  ///< (layer, head), in their order
  MatrixD similarity;                                        ///< [n, n], 1 on the diagonal
  std::vector<std::int64_t> clustered;  ///< their numbers so that like ones are neighbours
  /// The joins of average linkage on 1 − similarity, nearest first: two clusters (numbers of heads
  /// below n, n + k that of join k), and their distance. As SciPy's linkage, method "average".
  struct Join {
    std::int64_t first = 0, second = 0;
    double distance = 0;
    std::int64_t size = 0;
  };
  std::vector<Join> joins;
};

/// Maps without I; for the divergence rows divided by their sums, heads with negative weights left
/// out. Keys that nobody sees count for nothing. Heads whose maps have other
/// extents than the first layer's are refused, Error(usage); Cancelled.
[[nodiscard]] HeadSimilarity head_similarity(const Trace& trace, HeadLikeness likeness,
                                             const Progress& progress = {});

}  // namespace attnscope
