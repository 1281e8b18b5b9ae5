// Ticks: those that recipes choose themselves, and those of axes that leave it open.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Round numbers from 0, and `end` itself, about five in all. end > 0.
[[nodiscard]] std::vector<Tick> ticks_up_to(double end);

/// Fifths from 0 to 1.
[[nodiscard]] std::vector<Tick> share_ticks();

/// A tick a layer, numbered from `first` on, at most about eight of them.
[[nodiscard]] std::vector<Tick> layer_ticks(std::int64_t layers, std::int64_t first = 0);

/// "10⁻³".
[[nodiscard]] std::string power_of_ten(int power);

/// Round numbers between two ends, about five; one at least. lower < upper.
[[nodiscard]] std::vector<Tick> round_ticks(double lower, double upper);

/// Powers of ten between two positive ends, at most about eight; round numbers where there is but
/// one.
[[nodiscard]] std::vector<Tick> decade_ticks(double lower, double upper);

/// The axis's own ticks that lie in its range, else round ones or powers of ten.
[[nodiscard]] std::vector<Tick> ticks_of(const Axis& axis, double lower, double upper);

/// Of a colour bar; `value` is a place in it, 0 to 1 (fraction_of).
[[nodiscard]] std::vector<Tick> bar_ticks(const ColourScale& scale);

}  // namespace attnscope
