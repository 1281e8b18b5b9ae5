// How many vector areas a file may hold before heat maps become pixels.
#pragma once

#include <cstdint>

namespace attnscope {

/// An area takes about 5 bytes in a (compressed) PDF: the limit is near 4 MB, and a reader draws it
/// in a second or two.
inline constexpr std::int64_t most_areas_in_pdf = 800'000;

/// An area takes about 25 bytes in an SVG: the limit is near 8 MB; browsers stay usable.
inline constexpr std::int64_t most_areas_in_svg = 320'000;

}  // namespace attnscope
