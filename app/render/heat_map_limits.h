// Limit on a file's vector areas, above which heat maps become pixels.
#pragma once

#include <cstdint>

namespace attnscope {

/// Maximum number of runs of equal cells in all maps of a figure. Each run takes about 10 bytes of
/// a (compressed) PDF and 60 of an SVG; as pixels the same cells take less than 1 and 2.
inline constexpr std::int64_t most_areas = 20'000;

}  // namespace attnscope
