// How many vector areas a file may hold before heat maps become pixels.
#pragma once

#include <cstdint>

namespace attnscope {

/// Runs of equal cells in all maps of a figure. Each takes about 10 bytes of a (compressed) PDF and
/// 60 of an SVG; as pixels the same cells take less than 1 and 2.
inline constexpr std::int64_t most_areas = 20'000;

}  // namespace attnscope
