// Styles that distinguish series by colour, dash and marker together, also in grey.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// The colour of the subject at `index`, from the palette of Okabe & Ito, which is distinguishable
/// with any colour vision; repeats after seven.
[[nodiscard]] Colour subject_colour(std::size_t index);
[[nodiscard]] MarkerShape subject_marker(std::size_t index);

inline constexpr Colour neutral_colour{110, 110, 110, 255};

/// The colour with another opacity; alpha from 0 to 255.
[[nodiscard]] Colour with_alpha(Colour colour, int alpha);

/// Legend label of maps, which contain I if `identity`: "adder", "adder + I".
[[nodiscard]] std::string seen_label(const std::string& label, bool identity);

}  // namespace attnscope
