// One query of one head step by step: keys, scores, scale, normalisation, I, values, output. All
// numbers are the run's own; weights recomputed from the recorded vectors are compared to the map.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// Quantity from which a score is computed.
enum class ScoreOf {
  product,     ///< q_c k_c, summed (softmax)
  distance,    ///< |q_c − k_c|, summed and negated (adder)
  importance,  ///< w · k, independent of the query (additive)
  codes,       ///< h_r h'_r of binary codes, summed (hash)
  key_logits,  ///< K of one channel, plus the bias of the pair of positions (DAFT)
  unknown      ///< other mechanisms: only their weights are shown
};

struct HeadSteps {
  ScoreOf score_of = ScoreOf::unknown;
  /// Query [d] and keys [M, d] that are multiplied or compared per channel; empty if unknown.
  std::vector<float> query;
  Matrix keys;
  std::vector<double> raw;   ///< [M]: scores before factor and offset
  double factor = 1;         ///< score = raw · factor + offset
  double offset = 0;         ///< 2^c for hashed attention
  std::string factor_words;  ///< "1/√d", "1/√d_a", "the model's own scale"; empty if no factor
  std::vector<double> scores;      ///< [M]; −∞ for keys that the query does not see
  bool softmax = true;             ///< true for softmax; else scores are divided by their sum
  std::optional<double> gate;      ///< σ(Q) of DAFT's channel, which multiplies the row
  std::int64_t channel = -1;       ///< DAFT's channel within the head; else −1
  std::vector<double> weights;     ///< [M]: the map's row without I
  std::vector<double> recomputed;  ///< [M]: weights computed from the scores; empty if unknown
  /// Largest |recomputed − weights|. It exceeds kAgrees if the model adds terms to its scores, the
  /// map was changed, or the map is a mean over channels.
  double difference = 0;
  static constexpr double kAgrees = 1e-4;
  bool identity = false;       ///< true if I is added: 1 to the query's own key
  Matrix values;               ///< [M, d_v], [M, 1] for DAFT's channel; empty if not recorded
  std::vector<double> output;  ///< [d_v]: Σ_j (a_j + δ_ij) v_j

  [[nodiscard]] bool agrees() const { return !recomputed.empty() && difference <= kAgrees; }
  /// Contribution of each channel to raw[key], [d]: q_c k_c, −|q_c − k_c| or h_r h'_r.
  [[nodiscard]] std::vector<double> terms(std::int64_t key) const;
};

/// Steps of one query. Throws Error(usage) if the layer, head or query does not exist or its map
/// was not recorded.
[[nodiscard]] HeadSteps head_steps(const Trace& trace, std::int64_t layer, std::int64_t head,
                                   std::int64_t query);

/// Queries and keys of at most `most` tokens in a plane: the query's own token and those it attends
/// to most, in the order of the sequence. Coordinates are along the two leading right singular
/// vectors of their queries and keys, scaled so that the largest is `extent`. Empty unless queries
/// and keys were recorded with equal numbers of tokens and equal widths.
struct TokensInPlane {
  std::vector<std::int64_t> tokens;
  std::vector<double> query_x, query_y, key_x, key_y;
  double share = 0;  ///< share of their squared lengths that lies in the plane
};
[[nodiscard]] TokensInPlane tokens_in_plane(const Trace& trace, std::int64_t layer,
                                            std::int64_t head, std::int64_t query, std::size_t most,
                                            double extent);

/// True if some layer's scores are sums over the channels of a query and a key that the trace
/// holds: HeadSteps::terms is then known.
[[nodiscard]] bool has_score_terms(const Trace& trace);

/// True if some layer compares queries and keys of one width, by a product or a distance, and the
/// trace holds them.
[[nodiscard]] bool has_queries_and_keys(const Trace& trace);

/// All queries and keys of a head in the plane of their greatest variance (PCA of both together).
struct QueryKeyPlane {
  std::vector<double> query_x, query_y, key_x, key_y;
  std::array<double, 2> share{};  ///< share of the variance on each axis
  /// Factor c if queries are c q and keys (k + t) / c, with c² = ‖K − 1k̄ᵀ‖ / ‖Q − 1q̄ᵀ‖ and
  /// t = c² q̄ − k̄: means and spreads then agree, and softmax(q·k) is the same. 0: as recorded.
  double balance = 0;
};
/// `balanced` is only valid for a softmax of q·k (AttentionViz, Yeh et al. 2023, balances
/// likewise). Throws Error(usage) if the layer or head does not exist, for mechanisms that do not
/// compare queries and keys, if these were not recorded, and if `balanced` is not valid.
[[nodiscard]] QueryKeyPlane query_key_plane(const Trace& trace, std::int64_t layer,
                                            std::int64_t head, bool balanced);

}  // namespace attnscope
