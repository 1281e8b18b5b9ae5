// Typed access to the values of settings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// Reads values made by complete_values or checked_parameter. Texts are not parsed.
///
///     const TypedValues read(values);
///     const bool identity = read.flag("identity");
///     const auto bits = read.is("bits", "auto") ? 16 : read.whole("bits");
///     const HashKind kind = read.choice("codes", hash_kind_names);
///
/// Every member throws Error(usage) naming the setting if it is missing or of another kind, which
/// is a bug in the program. Keeps a reference to the values.
class TypedValues {
 public:
  explicit TypedValues(const ParameterValues& values) : values_(values) {}

  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t whole(std::string_view name) const;
  /// Value of a number or a whole number.
  [[nodiscard]] double number(std::string_view name) const;
  /// Value of a text, a choice or a file.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// True if the value is the text `word`, for settings with special words and for choices.
  [[nodiscard]] bool is(std::string_view name, std::string_view word) const;
  /// The listed indices in [0, count), in the given order. Throws Error(usage) for an index
  /// outside.
  [[nodiscard]] std::vector<std::int64_t> indices(std::string_view name, std::int64_t count) const;
  [[nodiscard]] const std::vector<double>& numbers(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names(std::string_view name) const;

  template <class Enum, std::size_t n>
  [[nodiscard]] Enum choice(std::string_view name, const EnumName<Enum> (&table)[n]) const {
    return value_of(table, text(name), name);
  }

 private:
  const ParameterValues& values_;
};

}  // namespace attnscope
