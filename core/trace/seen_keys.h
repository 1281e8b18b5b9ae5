// Which keys the mask of a layer lets its queries see, whatever weights these then get: causal
// masks, windows of a sequence and windows of a grid.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace attnscope {

/// A query sees the keys that lie in its range and in its window of the grid.
struct SeenKeys {
  /// Of each query the first key and the end of those it sees, [N]; empty: all.
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {};
  /// Number of the window of the grid that each token is in, [N]; empty: there are none.
  std::vector<std::int64_t> windows = {};

  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const;
  /// The keys of 0 … `keys` − 1 that a query sees, ascending.
  [[nodiscard]] std::vector<std::int64_t> keys_of(std::int64_t query, std::int64_t keys) const;
  /// Whether one of `queries` queries does not see all of `keys` keys.
  [[nodiscard]] bool hides_any(std::int64_t queries, std::int64_t keys) const;

  bool operator==(const SeenKeys&) const = default;
};

/// Query i sees keys 0 … i of `tokens`.
[[nodiscard]] SeenKeys up_to_the_query(std::int64_t tokens);

/// Tokens see those of their own block alone; each token is in one of `blocks`.
[[nodiscard]] SeenKeys within_blocks(const std::vector<std::vector<std::int64_t>>& blocks);

}  // namespace attnscope
