// One head, one query, step by step: keys, scores, scale, normalisation, I, values, output. Every
// number is the run's own, and what follows from the recorded vectors is held against the map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// What a score is made of.
enum class ScoreOf {
  product,     ///< q_c k_c, summed (softmax)
  distance,    ///< |q_c − k_c|, summed and negated (adder)
  importance,  ///< w · k of the key alone (additive)
  codes,       ///< h_r h'_r of binary codes, summed (hash)
  key_logits,  ///< K of one channel, plus the bias of the pair of positions (DAFT)
  unknown      ///< of other mechanisms: their weights are shown, not how they come about
};

struct HeadSteps {
  ScoreOf score_of = ScoreOf::unknown;
  /// [d], and [M, d]: what is multiplied or compared, channel by channel; empty where nothing is.
  std::vector<float> query;
  Matrix keys;
  std::vector<double> raw;         ///< [M]: sums over the channels
  double factor = 1;               ///< score = raw · factor + offset
  double offset = 0;               ///< 2^c of hashed attention
  std::string factor_words;        ///< "1/√d", "1/√d_a", "the model's own scale"; empty: none
  std::vector<double> scores;      ///< [M]; −∞ of keys that the query does not see
  bool softmax = true;             ///< of the scores; else they are divided by their sum
  std::optional<double> gate;      ///< σ(Q) of DAFT's channel, which multiplies the row
  std::int64_t channel = -1;       ///< DAFT's: of the head's channels
  std::vector<double> weights;     ///< [M]: the map's row without I
  std::vector<double> recomputed;  ///< [M]: what the scores give; empty where they are unknown
  /// Largest |recomputed − weights|; above kAgrees the model adds terms to its scores, the map is
  /// changed, or it is a mean over channels.
  double difference = 0;
  static constexpr double kAgrees = 1e-4;
  bool identity = false;  ///< whether I is added: 1 to the query's own key
  Matrix values;          ///< [M, d_v], of DAFT the one channel's [M, 1]; empty where not recorded
  std::vector<double> output;  ///< [d_v]: Σ_j (a_j + δ_ij) v_j

  [[nodiscard]] bool agrees() const { return !recomputed.empty() && difference <= kAgrees; }
  /// What each channel adds to raw: q_c k_c, −|q_c − k_c|, h_r h'_r. [d]
  [[nodiscard]] std::vector<double> terms(std::int64_t key) const;
};

/// Throws Error(usage): no such layer, head or query, or its map was not recorded.
[[nodiscard]] HeadSteps head_steps(const Trace& trace, std::int64_t layer, std::int64_t head,
                                   std::int64_t query);

/// Tokens in a plane: the query's own and those it attends to most, `most` of them, in the order of
/// the sequence; coordinates along the two directions in which their queries and keys vary most,
/// scaled so that the largest is `extent`. Empty unless queries and keys of as many were recorded.
struct TokensInPlane {
  std::vector<std::int64_t> tokens;
  std::vector<double> query_x, query_y, key_x, key_y;
  double share = 0;  ///< of their squared lengths that the plane holds
};
[[nodiscard]] TokensInPlane tokens_in_plane(const Trace& trace, std::int64_t layer,
                                            std::int64_t head, std::int64_t query, std::size_t most,
                                            double extent);

}  // namespace attnscope
