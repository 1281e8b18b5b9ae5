// Values of settings, read as what they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// Reads values that complete_values or checked_parameter made: no text is parsed here.
///
///     const TypedValues read(values);
///     const bool identity = read.flag("identity");
///     const auto bits = read.is("bits", "auto") ? 16 : read.whole("bits");
///     const HashKind kind = read.choice("codes", hash_kind_names);
///
/// Every member throws Error(usage) naming the setting if it is not there or of another kind: the
/// program's own mistake. Keeps a reference to the values.
class TypedValues {
 public:
  explicit TypedValues(const ParameterValues& values) : values_(values) {}

  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t whole(std::string_view name) const;
  /// Of a number or a whole number.
  [[nodiscard]] double number(std::string_view name) const;
  /// Of a text, a choice or a file.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Whether the value is that word: of a setting with words, or a choice.
  [[nodiscard]] bool is(std::string_view name, std::string_view word) const;
  /// The indices of a list, in the order given: [0, count). Throws Error(usage) for one beyond.
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
