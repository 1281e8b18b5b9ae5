// Operations and energy as text: tables for reading, CSV and JSON for programs.
#pragma once

#include <string>

#include "analysis/energy/request.h"

namespace attnscope {

enum class EnergyFormat { text, csv, json };

/// Every component (per layer if `by_layer`), the total, memory traffic separately, and parameters.
/// Counts are exact; energies in CSV and JSON are in pJ.
[[nodiscard]] std::string network_as_text(const EnergyRequest& request, bool by_layer,
                                          EnergyFormat format);

}  // namespace attnscope
