// How time and space of each mechanism grow, in symbols.
#pragma once

#include <string_view>

namespace attnscope {

/// One layer with its projections: N tokens, D channels; b bits, F features, k landmarks, s
/// positions of a window, h rounds of hashing, c tokens a bucket.
struct Complexity {
  std::string_view mechanism;
  std::string_view time, space;
  std::string_view source;  ///< who says so
};

/// Null if nobody says.
[[nodiscard]] const Complexity* find_complexity(std::string_view mechanism);

}  // namespace attnscope
