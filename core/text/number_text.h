// Conversion of numbers to text and back, independent of the locale. The C library's functions
// (printf, strtod) follow LC_NUMERIC and are not used for numbers with a decimal point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// The shortest text that reads back as the same number; "nan", "inf", "-inf".
[[nodiscard]] std::string exact(double value);
[[nodiscard]] std::string exact(float value);

/// Text with at most `digits` significant digits (1 to 17), without trailing zeros, for labels.
[[nodiscard]] std::string rounded_text(double value, int digits = 4);

/// Text with `decimals` digits after the point (0 to 17), for columns of tables: "0.90".
[[nodiscard]] std::string fixed_text(double value, int decimals);

/// Parses the whole `text` as a number: "0.9", "-1e-3", "inf". nullopt for anything else: other
/// words, a decimal comma, spaces, values out of range.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace attnscope
