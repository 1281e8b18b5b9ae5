// Operations and energy as text: tables for reading, CSV and JSON for programs.
#pragma once

#include <string>

#include "analysis/energy/request.h"

namespace attnscope {

enum class EnergyFormat { text, csv, json };

/// Every component (and every layer if `by_layer`), the total, memory traffic apart, parameters.
/// Counts are exact; energies in pJ in CSV and JSON.
[[nodiscard]] std::string network_as_text(const EnergyRequest& request, bool by_layer,
                                          EnergyFormat format);

}  // namespace attnscope
