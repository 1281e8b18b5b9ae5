#include "core/text/csv_field.h"

#include <charconv>
#include <system_error>

namespace attnscope {

namespace {

bool is_csv_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stop == end;
}

bool is_formula(std::string_view text) {
  constexpr std::string_view starts = "=+-@\t\r";
  return !text.empty() && starts.find(text.front()) != std::string_view::npos &&
         !is_csv_number(text);
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string field = is_formula(text) ? "'" : "";
  field += text;
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace attnscope
