// Numbers as text and back: the same in every locale. What the C library does (printf, strtod)
// follows LC_NUMERIC and is used nowhere for numbers with a point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// The shortest text that reads back as the same number; "nan", "inf", "-inf".
[[nodiscard]] std::string exact(double value);
[[nodiscard]] std::string exact(float value);

/// At most `digits` significant digits (1 to 17), without trailing zeros: for labels.
[[nodiscard]] std::string rounded_text(double value, int digits = 4);

/// `decimals` digits after the point (0 to 17), as in columns of tables: "0.90".
[[nodiscard]] std::string fixed_text(double value, int decimals);

/// The number that `text` is, all of it: "0.9", "-1e-3", "inf". Null for anything else: other
/// words, a comma for the point, spaces, what is beyond the range of the type.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace attnscope
