// The tables of operations and energy, and of published figures next to computed ones.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/energy/accounting.h"
#include "analysis/energy/published.h"
#include "analysis/energy/request.h"
#include "analysis/report/report.h"

namespace attnscope {

/// Operations of one component, in one layer or in all.
struct CountedRow {
  std::string part, group;  ///< "layer 0" or "all"; "attention" or "total"
  OperationCount count;
};

/// A counted network and the numbers shown for it.
struct NetworkReport {
  EnergyRequest request;
  EnergySubject subject;
  bool by_layer = false;         ///< true if the rows are not summed over layers
  std::vector<CountedRow> rows;  ///< components with operations
  OperationCount total, attention, feed_forward;
  std::vector<ParameterCount> parameters;
  std::int64_t all_parameters = 0;
};

/// Counts the network. Throws the errors of resolve and count_operations.
[[nodiscard]] NetworkReport network_report(const EnergyRequest& request, bool by_layer);

/// One row per component, and the total if `with_total`: operations, bytes moved, and the energy of
/// operations and of memory traffic in pJ; text has the energy in mJ. `report` must outlive it.
[[nodiscard]] Report components_energy_report(const NetworkReport& report, bool with_total);
/// The sums of attention, of the FFN and of all, with the same numbers.
[[nodiscard]] Report energy_sums_report(const NetworkReport& report);
/// The number of parameters of each component, and of all.
[[nodiscard]] Report parameter_counts_report(const NetworkReport& report);

/// Lines above components_energy_report (the network and its accounting) and below it (shares,
/// memory traffic, parameters).
[[nodiscard]] std::string network_in_words(const NetworkReport& report);
[[nodiscard]] std::string network_sums_in_words(const NetworkReport& report);

/// Printed figures next to the computed ones, with relative differences and notes.
[[nodiscard]] Report reproduced_report(std::vector<ReproducedFigure> figures);

}  // namespace attnscope
