// The token of one trace that lies where a token of another lies: what links cursors.
#pragma once

#include <cstdint>
#include <optional>

#include "core/trace/trace.h"

namespace attnscope {

/// The token of `to` at the place in the input of token `index` of `from`:
///   - a prefix token: the same one ("class" beside "class"), or none;
///   - a patch: the one that holds the middle of the other, on grids of any size;
///   - a token of a text: the one that begins or holds its first character, where both texts are
///     the same up to its end (spaces and case aside, which tokenizers drop); else none;
///   - where one of the two does not say where its tokens lie: the same index if both have equally
///     many tokens, else none.
/// `from_count`, `to_count`: how many tokens there are.
[[nodiscard]] std::optional<std::int64_t> linked_token(const TokenLayout& from, std::int64_t index,
                                                       std::int64_t from_count,
                                                       const TokenLayout& to,
                                                       std::int64_t to_count);

/// The same of a query of layer `from_layer`, in layer `to_layer`; none where it is not recorded.
[[nodiscard]] std::optional<std::int64_t> linked_query(const Trace& from, std::int64_t from_layer,
                                                       std::int64_t query, const Trace& to,
                                                       std::int64_t to_layer);

/// And of a key.
[[nodiscard]] std::optional<std::int64_t> linked_key(const Trace& from, std::int64_t from_layer,
                                                     std::int64_t key, const Trace& to,
                                                     std::int64_t to_layer);

}  // namespace attnscope
