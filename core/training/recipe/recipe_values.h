// Splits text values of a recipe and makes errors for bad values.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope {

/// The parts of a text such as "2x24x2,4x48x3"; empty for "".
inline std::vector<std::string> split_at(char separator, const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}
inline std::vector<std::string> split_at_commas(const std::string& text) {
  return split_at(',', text);
}

/// The error for a value that another key does not allow.
inline Error bad_value(const char* key, const std::string& expected, const std::string& found) {
  return Error(ErrorKind::usage, "the recipe's values do not go together")
      .about(key)
      .expected(expected)
      .found(found);
}
inline Error bad_value(const char* key, const std::string& expected, std::int64_t found) {
  return bad_value(key, expected, std::to_string(found));
}

}  // namespace attnscope
