// What the manual says of mechanisms, from their entries.
#pragma once

#include <string>

namespace attnscope {

/// A table in Markdown of all that run.
[[nodiscard]] std::string mechanisms_as_markdown();

/// The settings of each in Markdown, with default, range, unit and equation, and its tensors.
[[nodiscard]] std::string mechanism_settings_as_markdown();

}  // namespace attnscope
