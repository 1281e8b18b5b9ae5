// Token layouts of single layers of a trace.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

/// The layout of the queries of layer `layer`: the layer's own, or the trace's if it has none.
[[nodiscard]] const TokenLayout& query_layout(const Trace& trace, std::int64_t layer);

/// The layout of the layer's keys. Empty if the number of keys differs from the number of queries
/// and the layer has no layout of its own for them.
[[nodiscard]] const TokenLayout& key_layout(const Trace& trace, std::int64_t layer);

/// The token of `to` at the location of token `index` of `from`: the same prefix token, or the cell
/// that contains the centre of the token's cell. Without two grids it is the same index. `count` is
/// the number of tokens of `to`, at least 1; the result is clamped to 0 … count − 1.
[[nodiscard]] std::int64_t same_place(const TokenLayout& from, std::int64_t index,
                                      const TokenLayout& to, std::int64_t count);

}  // namespace attnscope
