// Where the tokens of one layer of a trace lie.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

/// Of the queries of layer `layer`: what the layer says, else the whole trace's.
[[nodiscard]] const TokenLayout& query_layout(const Trace& trace, std::int64_t layer);

/// Of its keys; without any place where they are other tokens than the queries and the layer does
/// not say where.
[[nodiscard]] const TokenLayout& key_layout(const Trace& trace, std::int64_t layer);

/// The token of `to` that lies where token `index` of `from` lies: the same prefix token, or the
/// cell that holds the middle of its cell. The same index, if there is one, where a layout has no
/// grid. `count`: tokens of `to`, at least 1; the result is below it.
[[nodiscard]] std::int64_t same_place(const TokenLayout& from, std::int64_t index,
                                      const TokenLayout& to, std::int64_t count);

}  // namespace attnscope
