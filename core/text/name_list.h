// Lists of names for errors.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace attnscope {

/// Joins the results of `name_of` (a member or a function) for all `items`: "softmax, adder,
/// additive".
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
