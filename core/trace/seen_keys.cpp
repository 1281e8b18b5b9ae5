#include "core/trace/seen_keys.h"

#include <algorithm>

namespace attnscope {

bool SeenKeys::sees(std::int64_t query, std::int64_t key) const {
  const auto i = static_cast<std::size_t>(query), j = static_cast<std::size_t>(key);
  if (!ranges.empty() && (key < ranges[i].first || key >= ranges[i].second)) return false;
  return windows.empty() || windows[i] == windows[j];
}

std::vector<std::int64_t> SeenKeys::keys_of(std::int64_t query, std::int64_t keys) const {
  std::int64_t first = 0, end = keys;
  if (!ranges.empty()) {
    const auto& [from, to] = ranges[static_cast<std::size_t>(query)];
    first = std::max(first, from);
    end = std::min(end, to);
  }
  std::vector<std::int64_t> seen;
  for (std::int64_t key = first; key < end; ++key) {
    if (sees(query, key)) seen.push_back(key);
  }
  return seen;
}

bool SeenKeys::hides_any(std::int64_t queries, std::int64_t keys) const {
  if (ranges.empty() && windows.empty()) return false;
  for (std::int64_t query = 0; query < queries; ++query) {
    if (std::ssize(keys_of(query, keys)) < keys) return true;
  }
  return false;
}

SeenKeys up_to_the_query(std::int64_t tokens) {
  SeenKeys seen;
  for (std::int64_t query = 0; query < tokens; ++query) seen.ranges.emplace_back(0, query + 1);
  return seen;
}

SeenKeys within_blocks(const std::vector<std::vector<std::int64_t>>& blocks) {
  std::size_t tokens = 0;
  for (const std::vector<std::int64_t>& block : blocks) tokens += block.size();
  SeenKeys seen;
  seen.windows.resize(tokens);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (const std::int64_t token : blocks[block]) {
      seen.windows[static_cast<std::size_t>(token)] = static_cast<std::int64_t>(block);
    }
  }
  return seen;
}

}  // namespace attnscope
