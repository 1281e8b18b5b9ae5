// Names in a row, for errors that list what is known.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace attnscope {

/// "softmax, adder, additive": what `name_of` (a member or a function) says of each of `items`.
template <class Items, class NameOf = std::identity>
[[nodiscard]] std::string name_list(const Items& items, NameOf name_of = {},
                                    std::string_view separator = ", ") {
  std::string list;
  bool first = true;
  for (const auto& item : items) {
    if (!first) list += separator;
    first = false;
    list += std::invoke(name_of, item);
  }
  return list;
}

}  // namespace attnscope
