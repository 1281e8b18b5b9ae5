// The figure of mechanisms' costs, counted and measured.
#pragma once

#include "analysis/energy/accounting.h"
#include "analysis/energy/measurement.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

/// What the settings ask for: mechanisms, extents, and whose energy.
struct MechanismCostsRequest {
  std::vector<MechanismChoice> counted;  ///< of counted_mechanisms()
  MeasurementOptions measured;           ///< those of them the program can run
  CostConvention convention = CostConvention::complete;
  EnergyConstants constants;
};

/// Throws Error(usage). `settings` are complete.
[[nodiscard]] MechanismCostsRequest mechanism_costs_request(const FigureRequest& request);

/// A table, a row a mechanism: complexity, own parameters, energy at the greatest N, and what
/// `measurement` says of it; dashes where it says nothing. Numbers: "seconds/adder" and
/// "peak_bytes/adder" over "tokens", "energy_pj/adder", …
[[nodiscard]] Figure mechanism_costs_figure(const MechanismCostsRequest& request,
                                            const Measurement& measurement, double width_mm);

}  // namespace attnscope
