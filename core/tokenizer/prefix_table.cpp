#include "core/tokenizer/prefix_table.h"

#include <algorithm>
#include <utility>

#include "core/budget.h"

namespace attnscope {

PrefixTable::PrefixTable(std::vector<std::string> texts) : texts_(std::move(texts)) {
  for (std::size_t place = 0; place < texts_.size(); ++place) {
    if (!texts_[place].empty()) sorted_.push_back(place);
  }
  std::ranges::stable_sort(sorted_, {},
                           [this](std::size_t at) -> const std::string& { return texts_[at]; });
  const auto same = [this](std::size_t a, std::size_t b) { return texts_[a] == texts_[b]; };
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
}

std::optional<PrefixTable::Found> PrefixTable::longest(std::string_view text) const {
  std::optional<Found> found;
  auto first = sorted_.begin(), last = sorted_.end();
  // The range of texts with the same beginning narrows with each byte.
  for (std::size_t depth = 0; depth < text.size() && first != last; ++depth) {
    const auto wanted = static_cast<unsigned char>(text[depth]);
    const auto byte_of = [&](std::size_t place) {
      const std::string& one = texts_[place];
      return depth < one.size() ? static_cast<int>(static_cast<unsigned char>(one[depth])) : -1;
    };
    first = std::partition_point(first, last, [&](auto at) { return byte_of(at) < wanted; });
    last = std::partition_point(first, last, [&](auto at) { return byte_of(at) == wanted; });
    if (first != last && texts_[*first].size() == depth + 1) found = {*first, depth + 1};
    spend_work(1);
  }
  return found;
}

}  // namespace attnscope
