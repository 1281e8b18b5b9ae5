// How series are told apart: by colour, dash and marker together, so that grey prints still do.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/figure/figure.h"
#include "core/model/subject.h"

namespace attnscope {

/// The colour of the subject at `index`: Okabe & Ito's, distinguishable with any colour vision;
/// repeats after seven.
[[nodiscard]] Colour subject_colour(std::size_t index);
[[nodiscard]] MarkerShape subject_marker(std::size_t index);

inline constexpr Colour neutral_colour{110, 110, 110, 255};

/// The same colour, more or less see-through. alpha from 0 to 255.
[[nodiscard]] Colour with_alpha(Colour colour, int alpha);

/// What a legend calls maps like this trace's seen so: "adder", "adder + I".
[[nodiscard]] std::string seen_label(const std::string& label, const Trace& trace,
                                     IdentityView view);

}  // namespace attnscope
