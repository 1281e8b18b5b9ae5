// Where the queries and keys of one layer lie, for distances between them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/heads/row_weights.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Tokens that lie somewhere are the last ones; those before them (class, distillation) nowhere.
struct TokenPlaces {
  std::string_view unit;  ///< "pixels", "patches", "tokens"; empty where no distance is known
  std::int64_t query_prefix = 0, key_prefix = 0;
  std::vector<std::pair<double, double>> queries, keys;  ///< (x, y) in that unit
};

/// Whether queries and keys of the layer are the same tokens.
[[nodiscard]] bool attends_to_itself(const Trace& trace, std::int64_t layer);

/// Whether the tokens are a sequence: the same on both sides, on no grid, none apart.
[[nodiscard]] bool is_sequence(const Trace& trace, std::int64_t layer);

/// On a grid the middles of its cells, in pixels of the trace's picture; a reduced grid of keys
/// covers the same picture. Else the indices of a sequence. Nowhere across two sequences.
[[nodiscard]] TokenPlaces token_places(const Trace& trace, std::int64_t layer);

/// Σ_j a_ij |p_i − p_j|, a over the keys that lie somewhere and divided by their sum; mean over the
/// queries that do and attend to any of them. NaN where no distance is known.
[[nodiscard]] double mean_distance(const RowWeights& weights, const TokenPlaces& places);

/// Fewest patches that together hold `mass` of what the class token's row has on patches (Caron et
/// al. 2021). NaN without class token or grid.
[[nodiscard]] double patches_of_mass(const Trace& trace, std::int64_t layer,
                                     const RowWeights& weights, double mass);

}  // namespace attnscope
