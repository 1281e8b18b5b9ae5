#include "core/text/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace attnscope {

namespace {

/// Buffer for the longest fixed number: 309 digits before the point, 17 after it, the sign.
using Room = std::array<char, 352>;

template <class Number, class... Format>
std::string written(Number value, Format... format) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  Room text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format...).ptr;
  return {text.data(), end};
}

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string exact(double value) { return written(value); }
std::string exact(float value) { return written(value); }

std::string rounded_text(double value, int digits) {
  return written(value, std::chars_format::general, digits);
}

std::string fixed_text(double value, int decimals) {
  return written(value, std::chars_format::fixed, decimals);
}

std::optional<double> parse_number(std::string_view text) { return parsed<double>(text); }

std::optional<std::int64_t> parse_whole(std::string_view text) {
  return parsed<std::int64_t>(text);
}

}  // namespace attnscope
