#include "analysis/figure/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace attnscope {

namespace {

template <class Number>
std::string shortest(Number value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::string exact(double value) { return shortest(value); }
std::string exact(float value) { return shortest(value); }

std::string rounded_text(double value, int digits) {
  if (!std::isfinite(value)) return shortest(value);
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  return {text.data(), end};
}

}  // namespace attnscope
