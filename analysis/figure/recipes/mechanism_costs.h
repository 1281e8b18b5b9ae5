// The figure of the counted and measured costs of mechanisms.
#pragma once

#include "analysis/energy/accounting.h"
#include "analysis/energy/measurement.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

/// Mechanisms, dimensions and energy constants selected by the settings.
struct MechanismCostsRequest {
  std::vector<MechanismChoice> counted;  ///< mechanisms from counted_mechanisms()
  MeasurementOptions measured;           ///< options for the mechanisms that the program can run
  CostConvention convention = CostConvention::complete;
  EnergyConstants constants;
};

/// Reads the settings, which must be complete. Throws Error(usage).
[[nodiscard]] MechanismCostsRequest mechanism_costs_request(const FigureRequest& request);

/// A table with a row per mechanism: complexity, own parameters, energy at the greatest N, and the
/// results of `measurement`, with dashes for missing ones. Numbers: "seconds/adder" and
/// "peak_bytes/adder" over "tokens", "energy_pj/adder", …
[[nodiscard]] Figure mechanism_costs_figure(const MechanismCostsRequest& request,
                                            const Measurement& measurement, double width_mm);

}  // namespace attnscope
