// Attention over blocks of queries, whose weights are a softmax of scores or another function of
// them. Each thread holds at most one block of a map, unless the map itself is requested.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Throws Error(usage) for causal layers. Used by mechanisms that look ahead.
void refuse_causal(const AttentionInput& input, std::string_view mechanism);

/// Throws Error(usage) if the input's terms have sinks. Used by mechanisms without one softmax a
/// head.
void refuse_sinks(const AttentionInput& input, std::string_view mechanism);

/// Throws Error(usage) unless queries, keys and values fit each other, the number of heads and, in
/// a causal layer, each other in number.
void check_shapes(const AttentionInput& input);

/// Throws Error(usage) unless AttentionInput::channel is empty or one of the `count` of a head.
void check_channel(const AttentionInput& input, std::int64_t count);

/// The columns of head `head` in a matrix [rows, heads · d].
[[nodiscard]] ConstStridedMatrixMap head_columns(const ConstMatrixMap& all, std::int64_t heads,
                                                 std::int64_t head);

/// The keys, and the values, that query head `head` uses.
[[nodiscard]] ConstStridedMatrixMap key_columns(const AttentionInput& input, std::int64_t head);
[[nodiscard]] ConstStridedMatrixMap value_columns(const AttentionInput& input, std::int64_t head);

/// Adds the input's terms except the sinks to a block [rows, M] of head `head`'s scores, from query
/// `first` on. Sets the keys after each query of a causal layer to −∞.
void add_terms(const AttentionInput& input, std::int64_t head, std::int64_t first,
               StridedMatrixMap block);

/// Softmax of a block of scores, in place. With a sink b_h it runs over the scores and b_h.
void weigh(const AttentionInput& input, std::int64_t head, StridedMatrixMap block);

/// Fills `scores` [rows, M]: head `head`'s logits for the queries from `first_query` on. Called
/// from several threads at once. The input's terms and the causal mask are applied afterwards.
using FillScores =
    std::function<void(std::int64_t head, std::int64_t first_query, StridedMatrixMap scores)>;

/// Scores q·k times AttentionInput::score_scale(). `input` must outlive the result.
[[nodiscard]] FillScores scaled_products(const AttentionInput& input);

/// Turns a block [rows, M] of head `head`'s scores for the queries from `first_query` on into
/// weights, in place. Hidden keys have the score −∞. Called from several threads at once.
using WeighScores =
    std::function<void(std::int64_t head, std::int64_t first_query, StridedMatrixMap scores)>;

/// The scores of a layer, and how they become its map.
struct LayerScores {
  FillScores fill;
  bool identity = false;     ///< adds I to the weights, which needs N = M
  WeighScores weights = {};  ///< replaces the softmax, whose sinks are then not used
};

/// weights(scores) · V per head, [N, H·dv]; (weights(scores) + I) · V with the identity. Throws
/// Error(usage).
[[nodiscard]] Tensor attend_by_blocks(const AttentionInput& input, const LayerScores& scores);

/// Rows of the maps of map_by_blocks, computed on request.
[[nodiscard]] MapRows rows_of_scores(const AttentionInput& input, LayerScores scores);

/// weights(scores), + I with the identity, per head: [H, N, M]. Throws Error(usage).
[[nodiscard]] Tensor map_by_blocks(const AttentionInput& input, const LayerScores& scores);

/// Results of attend_by_blocks and map_by_blocks; each block of scores is filled once.
[[nodiscard]] Attended attend_with_map_by_blocks(const AttentionInput& input,
                                                 const LayerScores& scores);

/// A mechanism whose maps are made of scores. It has MechanismEntry::rows.
class ScoreMechanism : public Mechanism {
 public:
  [[nodiscard]] Tensor forward(const AttentionInput& input) const final {
    return attend_by_blocks(input, scores(input));
  }
  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const final {
    return map_by_blocks(input, scores(input));
  }
  [[nodiscard]] Attended forward_with_map(const AttentionInput& input) const final {
    return attend_with_map_by_blocks(input, scores(input));
  }
  [[nodiscard]] MapRows map_rows(const AttentionInput& input) const override {
    return rows_of_scores(input, scores(input));
  }
  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys)};
  }

 private:
  /// The scores of `input`, which must outlive the result. Throws Error(usage) for what the
  /// mechanism does not support.
  [[nodiscard]] virtual LayerScores scores(const AttentionInput& input) const = 0;
};

}  // namespace attnscope
