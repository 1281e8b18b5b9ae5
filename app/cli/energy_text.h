// Operations and energy as text: tables for reading, CSV and JSON for programs.
#pragma once

#include <string>

#include "analysis/energy/request.h"
#include "core/model/model.h"

namespace attnscope {

enum class EnergyFormat { text, csv, json };

/// Every component (per layer if `by_layer`), the total, memory traffic separately, and parameters.
/// Counts are exact; energies in CSV and JSON are in pJ. `model` is that of the request's weight
/// file, whose status is added except to CSV; null for a named network.
[[nodiscard]] std::string network_as_text(const EnergyRequest& request, const Model* model,
                                          bool by_layer, EnergyFormat format);

}  // namespace attnscope
