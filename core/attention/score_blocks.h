// Attention that is a softmax over scores, run over blocks of queries: at no time does more than
// one block of a map per thread exist, unless the map itself is asked for.
#pragma once

#include <cstdint>
#include <functional>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Throws Error(usage) if the layer is a language model's: for mechanisms that look ahead.
void refuse_causal(const AttentionInput& input, std::string_view mechanism);

/// Throws Error(usage) unless queries, keys and values fit each other, the number of heads, and a
/// causal layer.
void check_shapes(const AttentionInput& input);

/// Head `head`'s columns of [rows, heads · d].
[[nodiscard]] ConstStridedMatrixMap head_columns(const ConstMatrixMap& all, std::int64_t heads,
                                                 std::int64_t head);

/// The keys, or values, of query head `head`.
[[nodiscard]] ConstStridedMatrixMap key_columns(const AttentionInput& input, std::int64_t head);
[[nodiscard]] ConstStridedMatrixMap value_columns(const AttentionInput& input, std::int64_t head);

/// Adds the input's terms, but for the sinks, to a block [rows, M] of head `head`'s scores from
/// query `first` on, and hides the keys after each query of a causal layer: as −∞.
void add_terms(const AttentionInput& input, std::int64_t head, std::int64_t first,
               StridedMatrixMap block);

/// The softmax of such a block, in place. With a sink b_h it is one over the scores and b_h.
void weigh(const AttentionInput& input, std::int64_t head, StridedMatrixMap block);

/// Fills `scores` [rows, M]: head `head`'s logits for the queries from `first_query` on.
/// Called from several threads at once. The input's terms are applied afterwards, and keys after a
/// query of a causal layer hidden.
using FillScores =
    std::function<void(std::int64_t head, std::int64_t first_query, StridedMatrixMap scores)>;

/// softmax(scores) · V of every head, [N, H·dv]; (softmax(scores) + I) · V if `identity`, which
/// needs N = M. With a sink b_h the weights are those of softmax over the scores and b_h. Throws
/// Error(usage).
[[nodiscard]] Tensor attend_by_blocks(const AttentionInput& input, const FillScores& fill,
                                      bool identity = false);

/// The rows of map_by_blocks's maps.
[[nodiscard]] MapRows rows_of_scores(const AttentionInput& input, FillScores fill,
                                     bool identity = false);

/// softmax(scores), + I if `identity`, of every head, [H, N, M]. Throws Error(usage).
[[nodiscard]] Tensor map_by_blocks(const AttentionInput& input, const FillScores& fill,
                                   bool identity = false);

/// attend_by_blocks and map_by_blocks, each block of scores filled once.
[[nodiscard]] Attended attend_with_map_by_blocks(const AttentionInput& input,
                                                 const FillScores& fill, bool identity = false);

}  // namespace attnscope
