#include "app/cli/number_cell.h"

#include <algorithm>
#include <cmath>

#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Three bytes, one column.
std::string dash(int width) {
  return std::string(static_cast<std::size_t>(std::max(width - 1, 0)), ' ') + "–";
}

std::string aligned(const std::string& text, int width) {
  const auto length = static_cast<int>(text.size());
  return std::string(static_cast<std::size_t>(std::max(width - length, 0)), ' ') + text;
}

}  // namespace

std::string number_cell(double value, int width, int digits) {
  return std::isnan(value) ? dash(width) : aligned(fixed_text(value, digits), width);
}

std::string number_cell(const std::optional<std::int64_t>& value, int width) {
  return value ? aligned(std::to_string(*value), width) : dash(width);
}

}  // namespace attnscope
