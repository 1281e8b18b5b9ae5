// Remaining time in words, such as "about 2 min left".
#pragma once

#include <QString>

namespace attnscope {

[[nodiscard]] QString remaining_time(double seconds);

}  // namespace attnscope
