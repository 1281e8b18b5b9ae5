// Numbers as text: short, exact, the same in every locale.
#pragma once

#include <string>

namespace attnscope {

/// The shortest text that reads back as the same number; "nan", "inf", "-inf".
[[nodiscard]] std::string exact(double value);
[[nodiscard]] std::string exact(float value);

/// At most `digits` significant digits, without trailing zeros: for labels.
[[nodiscard]] std::string rounded_text(double value, int digits = 4);

}  // namespace attnscope
