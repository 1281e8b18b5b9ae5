// Positions of the queries and keys of one layer, for distances between them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/heads/row_weights.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Positions of the last tokens of each side. The prefix tokens before them (class, distillation)
/// have no position.
struct TokenPlaces {
  std::string_view unit;  ///< "pixels", "patches", "tokens"; empty if there are no distances
  std::int64_t query_prefix = 0, key_prefix = 0;
  std::vector<std::pair<double, double>> queries, keys;  ///< (x, y) in `unit`
};

/// True if queries and keys of the layer are the same tokens.
[[nodiscard]] bool attends_to_itself(const Trace& trace, std::int64_t layer);

/// True for self-attention over a sequence: no grid and no prefix tokens.
[[nodiscard]] bool is_sequence(const Trace& trace, std::int64_t layer);

/// Token indices of a sequence, or centres of the grid's cells in pixels of the trace's image (in
/// patches without an image); a reduced grid of keys covers the same image. Empty for attention
/// between two sequences.
[[nodiscard]] TokenPlaces token_places(const Trace& trace, std::int64_t layer);

/// Mean over queries of Σ_j a_ij |p_i − p_j|, with a restricted to keys with a position and divided
/// by its sum. Queries without position or such keys do not count. NaN if there are no distances.
[[nodiscard]] double mean_distance(const RowWeights& weights, const TokenPlaces& places);

/// Least number of patches that hold the share `mass` of the class token's attention on patches
/// (Caron et al. 2021). NaN without a class token or grid.
[[nodiscard]] double patches_of_mass(const Trace& trace, std::int64_t layer,
                                     const RowWeights& weights, double mass);

}  // namespace attnscope
