// Tables of the names of enumerations in files, flags, figures and dialogs.
//
//     inline constexpr EnumName<HashKind> hash_kind_names[] = {
//         {HashKind::learned, "learned"}, {HashKind::klsh, "klsh"}};
//     name_of(hash_kind_names, HashKind::klsh)              // "klsh"
//     value_of(hash_kind_names, "klsh", "kind of codes")    // HashKind::klsh
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// The name of `value`; empty if the table lacks it.
template <class Enum, std::size_t n>
[[nodiscard]] std::string_view name_of(const EnumName<Enum> (&names)[n], Enum value) {
  for (const EnumName<Enum>& known : names) {
    if (known.value == value) return known.name;
  }
  return {};
}

/// The value of `name`. Throws Error(usage) listing the names: "unknown `kind_of_thing` 'klhs';
/// known: …".
template <class Enum, std::size_t n>
[[nodiscard]] Enum value_of(const EnumName<Enum> (&names)[n], std::string_view name,
                            std::string_view kind_of_thing) {
  for (const EnumName<Enum>& known : names) {
    if (known.name == name) return known.value;
  }
  throw unknown_name(kind_of_thing, name, name_list(names, &EnumName<Enum>::name));
}

template <class Enum, std::size_t n>
[[nodiscard]] std::vector<std::string> names_of(const EnumName<Enum> (&names)[n]) {
  std::vector<std::string> list;
  for (const EnumName<Enum>& known : names) list.emplace_back(known.name);
  return list;
}

}  // namespace attnscope
