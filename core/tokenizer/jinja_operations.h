// Values of Jinja templates, and their filters, tests and methods.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope::jinja {

/// A value; that of an unknown variable is undefined().
using Value = nlohmann::ordered_json;

[[nodiscard]] inline Value undefined() { return Value(Value::value_t::discarded); }
[[nodiscard]] inline bool is_undefined(const Value& value) { return value.is_discarded(); }

/// Arguments of a filter, test, method or function.
struct Arguments {
  std::vector<Value> list = {};
  std::map<std::string, Value> named = {};

  /// The argument at `index`, or called `name`; undefined if there is none.
  [[nodiscard]] Value at(std::size_t index, const std::string& name = {}) const;
};

/// The refusal of something that is not understood; the caller adds the line.
[[nodiscard]] Error not_understood(const std::string& what);

[[nodiscard]] bool truth(const Value& value);
/// The text that Jinja prints: "True", "None", nothing for undefined. Throws for lists and
/// mappings.
[[nodiscard]] std::string printed(const Value& value);
/// The text of Python's json.dumps without ensure_ascii; with an indent if `indent` is not
/// negative.
[[nodiscard]] std::string json_of(const Value& value, int indent, int level = 0);
/// The elements that a loop takes: of a list, keys of a mapping, characters of a text.
[[nodiscard]] std::vector<Value> elements(const Value& value);
[[nodiscard]] Value apply_filter(const std::string& name, const Value& value,
                                 const Arguments& arguments);
[[nodiscard]] bool apply_test(const std::string& name, const Value& value,
                              const Arguments& arguments);
[[nodiscard]] Value call_method(const Value& value, const std::string& name,
                                const Arguments& arguments);
[[nodiscard]] Value binary(const std::string& operation, const Value& a, const Value& b);
/// value[index], undefined if there is no such element.
[[nodiscard]] Value element(const Value& value, const Value& index);
/// value[first:end:step] with undefined for a missing bound.
[[nodiscard]] Value slice(const Value& value, const Value& first, const Value& end,
                          const Value& step);

}  // namespace attnscope::jinja
