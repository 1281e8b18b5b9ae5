#include "core/nearest_name.h"

#include <algorithm>
#include <vector>

namespace attnscope {

namespace {

std::size_t changes_between(std::string_view a, std::string_view b) {
  // Rows of the optimal string alignment table: the one before the last, the last, the current.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, std::span<const std::string> known) {
  constexpr std::size_t shortest_beginning = 3;
  const std::string* nearest = nullptr;
  if (given.size() >= shortest_beginning) {
    for (const std::string& name : known) {
      if (name.starts_with(given) && (!nearest || name.size() < nearest->size())) nearest = &name;
    }
    if (nearest) return *nearest;
  }
  std::size_t fewest = (given.size() + 2) / 3 + 1;
  for (const std::string& name : known) {
    const std::size_t changes = changes_between(given, name);
    if (changes >= fewest || changes >= name.size()) continue;
    fewest = changes;
    nearest = &name;
  }
  return nearest ? *nearest : std::string();
}

}  // namespace attnscope
