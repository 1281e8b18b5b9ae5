// Names in a row, for errors that list what is known.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace attnscope {

/// "softmax, adder, additive": what `name_of` (a member or a function) says of each of `items`.
template <class Items, class NameOf = std::identity>
[[nodiscard]] std::string name_list(const Items& items, NameOf name_of = {}) {
  std::string list;
  for (const auto& item : items) {
    if (!list.empty()) list += ", ";
    list += std::string_view(std::invoke(name_of, item));
  }
  return list;
}

}  // namespace attnscope
