// Published figures next to computed ones, as text.
#pragma once

#include <string>
#include <vector>

#include "analysis/energy/published.h"
#include "app/cli/energy_text.h"

namespace attnscope {

/// Printed figures next to the computed ones, with relative differences and notes.
[[nodiscard]] std::string reproduced_as_text(const std::vector<ReproducedFigure>& figures,
                                             EnergyFormat format);

}  // namespace attnscope
