// How important each token is to additive attention (Fastformer-LM, Eq. 1 to 15): one number α a
// token, for any end of the text, without running the model again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Which attention of a layer.
enum class ImportanceOf {
  query_attention,  ///< Fastformer's first: pools queries
  key_attention,    ///< its second: pools keys times the mean query
  map               ///< any other mechanism: the row of its map, of the token at the end
};

inline constexpr EnumName<ImportanceOf> importance_names[] = {
    {ImportanceOf::query_attention, "query"},
    {ImportanceOf::key_attention, "key"},
    {ImportanceOf::map, "map"}};
[[nodiscard]] inline std::string_view name_of(ImportanceOf attention) {
  return name_of(importance_names, attention);
}

/// What layer `layer` of the trace has: query- and key-attention, or its map. Empty if nothing of
/// the layer was recorded.
[[nodiscard]] std::vector<ImportanceOf> importances_of(const Trace& trace, std::int64_t layer);

struct TokenImportance {
  ImportanceOf attention = ImportanceOf::map;
  bool causal = false;          ///< tokens after `end` are not seen
  std::int64_t window = 0;      ///< tokens seen, counted back from the end; 0: all
  std::int64_t end = 0;         ///< the last token of the prefix, from 0
  std::vector<double> weights;  ///< α [N], summing to 1; NaN for tokens that are not seen
};

/// α of one head, or the mean over heads if `head` is absent, when the text ends with token `end`
/// (of a bidirectional attention: of the whole text, whatever the end). Throws Error(usage) if
/// there is no such layer, head or token, or the trace lacks what the attention needs.
[[nodiscard]] TokenImportance token_importance(const Trace& trace, std::int64_t layer,
                                               std::optional<std::int64_t> head,
                                               ImportanceOf attention, std::int64_t end);

struct RankedToken {
  std::int64_t token = 0;
  double weight = 0;  ///< α
};

/// The `count` tokens of greatest α, greatest first; of equal ones the first.
[[nodiscard]] std::vector<RankedToken> top_tokens(const TokenImportance& importance,
                                                  std::int64_t count);

}  // namespace attnscope
