// A network and how to count it, from names and settings: what flags, panels, figures and the rows
// of published tables say in the same words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/energy/accounting.h"

namespace attnscope {

/// What is to be counted.
struct EnergyRequest {
  std::string architecture;              ///< a named one; ignored where `spec` is given
  std::optional<ModelSpec> spec;         ///< a loaded model's
  std::optional<WeightExtents> weights;  ///< what its file says beyond the spec, if known
  std::string label;                     ///< of the loaded model
  /// Without a name: the network's own, with these parameters in place of its own ones.
  MechanismChoice mechanism{.name = "", .parameters = {}};
  CostConvention convention = CostConvention::complete;
  std::string constants = "fp32";  ///< a table's name or the path of one
  std::int64_t tokens = 0;         ///< 0: the network's own
  ParameterValues settings;        ///< of energy_settings; those not given are the network's own
};

/// A loaded model as it is; the mechanism is its own.
[[nodiscard]] EnergyRequest energy_request_of(const Model& model);

/// A request understood: everything known, nothing counted yet.
struct EnergySubject {
  std::string label;  ///< "DeiT-S, hash (bits=16)"
  Network architecture;
  AccountingOptions options;
  EnergyConstants constants;
};

/// What a request may set of the network, beside the mechanism's parameters.
[[nodiscard]] std::span<const ParameterDescription> energy_settings();

/// The request with what "classes=10" or "bits=8" says: one of energy_settings, or a parameter of
/// the mechanism counted; which that is must be known. Throws Error(usage): no such setting
/// (listing the known), no such value.
void set(EnergyRequest& request, std::string_view name, std::string_view text);

/// Throws Error(usage): an unknown architecture, mechanism, convention or setting (listing the
/// known), a value out of range, heads that do not divide the width.
[[nodiscard]] EnergySubject understand(const EnergyRequest& request);

/// "deit-base mechanism=adder arithmetic=adder classes=10": an architecture, then settings; also
/// mechanism, convention, constants and tokens. Throws Error(usage).
[[nodiscard]] EnergyRequest parse_energy_request(std::string_view text);

/// The same as a command line: "attnscope energy deit-base --mechanism adder --set classes=10".
[[nodiscard]] std::string command_line(const EnergyRequest& request);

/// Counted, with energies.
struct EnergyTotals {
  double multiplications = 0, additions = 0;
  double energy_pj = 0;   ///< of the operations
  double traffic_pj = 0;  ///< of memory traffic, apart
};
[[nodiscard]] EnergyTotals totals_of(const OperationCount& count, const EnergyConstants& constants);

}  // namespace attnscope
