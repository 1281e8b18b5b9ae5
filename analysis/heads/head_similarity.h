// Similarity of the maps of all heads of all layers, and a clustered order of the heads.
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
  std::vector<std::pair<std::int64_t, std::int64_t>> heads;  ///< (layer, head), in this order
  MatrixD similarity;                                        ///< [n, n], 1 on the diagonal
  /// Indices into heads, with similar heads next to each other.
  std::vector<std::int64_t> clustered;
  /// Merge step of average linkage on 1 − similarity, nearest first: two clusters (heads below n,
  /// merge k as n + k), their distance and the number of heads in both. Equals SciPy's linkage with
  /// method "average".
  struct Join {
    std::int64_t first = 0, second = 0;
    double distance = 0;
    std::int64_t size = 0;
  };
  std::vector<Join> joins;
};

/// Compares maps without I. Maps with NaN or Inf are left out; for the divergence, rows are divided
/// by their sums, and maps that are all zero or have negative weights are left out. Keys that no
/// query sees do not count. Throws Error(usage) if a layer's maps have a different shape than the
/// first layer's; Cancelled.
[[nodiscard]] HeadSimilarity head_similarity(const Trace& trace, HeadLikeness likeness,
                                             const Progress& progress = {});

}  // namespace attnscope
