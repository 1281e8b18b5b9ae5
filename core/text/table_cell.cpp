#include "core/text/table_cell.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr const char* kNoNumber = "–";

std::string blanks(const std::string& text, int width) {
  return std::string(
      static_cast<std::size_t>(std::max(width - static_cast<int>(columns_of(text)), 0)), ' ');
}

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

std::size_t columns_of(const std::string& text) {
  // Every byte of UTF-8 except continuation bytes begins a character.
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string left_cell(const std::string& text, int width) { return text + blanks(text, width); }

std::string right_cell(const std::string& text, int width) { return blanks(text, width) + text; }

std::string number_cell(double value, int width, int decimals) {
  return right_cell(std::isnan(value) ? kNoNumber : fixed_text(value, decimals), width);
}

std::string number_cell(const std::optional<std::int64_t>& value, int width) {
  return right_cell(value ? std::to_string(*value) : kNoNumber, width);
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return digits;
}

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
