// Cells of tables in plain text, and fields of comma-separated values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// Number of terminal columns of `text`: characters, not bytes.
[[nodiscard]] std::size_t columns_of(const std::string& text);

/// `text` padded with blanks to `width` columns; longer texts are unchanged.
[[nodiscard]] std::string left_cell(const std::string& text, int width);
[[nodiscard]] std::string right_cell(const std::string& text, int width);

/// Right-aligned in `width` columns; "–" for an unknown value (NaN or nullopt).
[[nodiscard]] std::string number_cell(double value, int width, int decimals);
[[nodiscard]] std::string number_cell(const std::optional<std::int64_t>& value, int width);

/// The number in groups of three digits: 1234567 as "1 234 567".
[[nodiscard]] std::string grouped(std::int64_t value);

/// A field in the format of RFC 4180, quoted if necessary. Text that a spreadsheet would run as a
/// formula (it begins with =, +, -, @, a tab or a carriage return, and is not a number) is prefixed
/// with an apostrophe, which marks text in spreadsheets.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace attnscope
