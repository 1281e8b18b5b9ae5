// Matches tokens of one trace to tokens of another, to link cursors.
#pragma once

#include <cstdint>
#include <optional>

#include "core/trace/trace.h"

namespace attnscope {

/// The token of `to` at the same place in the input as token `index` of `from`:
///   - a prefix token: the one with the same name, such as "class", or none;
///   - a patch: the one that contains the other's centre, on grids of any size;
///   - a token of a text: the one that begins at or contains its first character, if both texts are
///     the same up to the token's end (ignoring white space and case), or none;
///   - if one of the layouts has neither a grid nor texts: the same index if both have the same
///     number of tokens, or none.
/// `from_count` and `to_count` are the numbers of tokens.
[[nodiscard]] std::optional<std::int64_t> linked_token(const TokenLayout& from, std::int64_t index,
                                                       std::int64_t from_count,
                                                       const TokenLayout& to,
                                                       std::int64_t to_count);

/// The query of `to_layer` that matches a query of `from_layer`; empty if `to` has no such layer.
[[nodiscard]] std::optional<std::int64_t> linked_query(const Trace& from, std::int64_t from_layer,
                                                       std::int64_t query, const Trace& to,
                                                       std::int64_t to_layer);

/// The key of `to_layer` that matches a key of `from_layer`; empty if `to` has no such layer.
[[nodiscard]] std::optional<std::int64_t> linked_key(const Trace& from, std::int64_t from_layer,
                                                     std::int64_t key, const Trace& to,
                                                     std::int64_t to_layer);

}  // namespace attnscope
