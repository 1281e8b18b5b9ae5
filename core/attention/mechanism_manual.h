// Manual text about mechanisms, generated from their entries.
#pragma once

#include <string>

namespace attnscope {

/// Markdown table of all mechanisms that can run.
[[nodiscard]] std::string mechanisms_as_markdown();

/// Settings and tensors of each mechanism in Markdown, with default, range, unit and equation.
[[nodiscard]] std::string mechanism_settings_as_markdown();

}  // namespace attnscope
