// The keys that the mask of a layer lets its queries attend to: causal masks, sliding windows of a
// sequence and windows of a grid. Attention weights are not considered.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace attnscope {

/// A query sees the keys that are both in its range and in its window of the grid.
struct SeenKeys {
  /// First key and end of the visible keys of each query, [N]. Empty if all keys are visible.
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {};
  /// Number of the grid window that each token is in, [N]. Empty if there are no windows.
  std::vector<std::int64_t> windows = {};

  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const;
  /// The keys among 0 … `keys` − 1 that a query sees, ascending.
  [[nodiscard]] std::vector<std::int64_t> keys_of(std::int64_t query, std::int64_t keys) const;
  /// True if at least one of `queries` queries does not see all of `keys` keys.
  [[nodiscard]] bool hides_any(std::int64_t queries, std::int64_t keys) const;

  bool operator==(const SeenKeys&) const = default;
};

/// A causal mask: of `tokens` tokens, query i sees keys 0 … i.
[[nodiscard]] SeenKeys up_to_the_query(std::int64_t tokens);

/// A mask in which tokens see only the tokens of their own block. Each token must be in one of
/// `blocks`.
[[nodiscard]] SeenKeys within_blocks(const std::vector<std::vector<std::int64_t>>& blocks);

}  // namespace attnscope
