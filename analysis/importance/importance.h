// Importance of each token to additive attention (Fastformer-LM, Eq. 1 to 15): one weight α per
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

/// Attention of a layer that gives the weights.
enum class ImportanceOf {
  query_attention,  ///< Fastformer's first attention, which pools queries
  key_attention,    ///< Fastformer's second attention, which pools keys times the mean query
  map               ///< any other mechanism: the map's row of the last token
};

inline constexpr EnumName<ImportanceOf> importance_names[] = {
    {ImportanceOf::query_attention, "query"},
    {ImportanceOf::key_attention, "key"},
    {ImportanceOf::map, "map"}};
[[nodiscard]] inline std::string_view name_of(ImportanceOf attention) {
  return name_of(importance_names, attention);
}

/// Attentions recorded for the layer: query and key attention, or else its map. Empty if neither
/// was recorded.
[[nodiscard]] std::vector<ImportanceOf> importances_of(const Trace& trace, std::int64_t layer);

struct TokenImportance {
  ImportanceOf attention = ImportanceOf::map;
  bool causal = false;          ///< true if tokens after `end` are not seen
  std::int64_t window = 0;      ///< number of tokens seen, counted back from `end`; 0 for all
  std::int64_t end = 0;         ///< position of the last token of the prefix, from 0
  std::vector<double> weights;  ///< α [N]; NaN for tokens that are not seen
};

/// α of one head, or the mean over heads if `head` is absent, if the text ends with token `end`.
/// Bidirectional attention covers the whole text; only the row of a map then depends on `end`.
/// Throws Error(usage) if the layer, head or token does not exist, or the trace lacks the
/// attention's tensors.
[[nodiscard]] TokenImportance token_importance(const Trace& trace, std::int64_t layer,
                                               std::optional<std::int64_t> head,
                                               ImportanceOf attention, std::int64_t end);

struct RankedToken {
  std::int64_t token = 0;
  double weight = 0;  ///< α
};

/// The `count` tokens of greatest α in descending order; ties by position.
[[nodiscard]] std::vector<RankedToken> top_tokens(const TokenImportance& importance,
                                                  std::int64_t count);

}  // namespace attnscope
