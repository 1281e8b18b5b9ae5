// Fields of comma-separated values.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// A field in the format of RFC 4180, quoted if necessary. Text that a spreadsheet would run as a
/// formula (it begins with =, +, -, @, a tab or a carriage return, and is not a number) is prefixed
/// with an apostrophe, which marks text in spreadsheets.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace attnscope
