// Figures of published tables beside ours, as text.
#pragma once

#include <string>
#include <vector>

#include "analysis/energy/published.h"
#include "app/cli/energy_text.h"

namespace attnscope {

/// Printed figures beside the computed ones, their relative difference, and notes.
[[nodiscard]] std::string reproduced_as_text(const std::vector<ReproducedFigure>& figures,
                                             EnergyFormat format);

}  // namespace attnscope
