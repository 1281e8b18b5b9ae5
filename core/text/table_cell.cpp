#include "core/text/table_cell.h"

#include <algorithm>
#include <cmath>

#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr const char* kNoNumber = "–";

std::string blanks(const std::string& text, int width) {
  return std::string(
      static_cast<std::size_t>(std::max(width - static_cast<int>(columns_of(text)), 0)), ' ');
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

}  // namespace attnscope
