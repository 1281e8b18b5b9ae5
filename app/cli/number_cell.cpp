#include "app/cli/number_cell.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace attnscope {

namespace {

/// Three bytes, one column.
std::string dash(int width) {
  return std::string(static_cast<std::size_t>(std::max(width - 1, 0)), ' ') + "–";
}

}  // namespace

std::string number_cell(double value, int width, int digits) {
  if (std::isnan(value)) return dash(width);
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%*.*f", width, digits, value);
  return text.data();
}

std::string number_cell(const std::optional<std::int64_t>& value, int width) {
  if (!value) return dash(width);
  const std::string text = std::to_string(*value);
  return std::string(static_cast<std::size_t>(std::max(width - static_cast<int>(text.size()), 0)),
                     ' ') +
         text;
}

}  // namespace attnscope
