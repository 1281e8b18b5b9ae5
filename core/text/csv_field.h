// Text in tables of comma-separated values.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// A field as RFC 4180 has it: quoted where it must be. Text that a spreadsheet would run as a
/// formula (it begins with =, +, -, @, a tab or a carriage return, and is no number) gets an
/// apostrophe in front, which spreadsheets take for "this is text".
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace attnscope
