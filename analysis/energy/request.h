// A network and its accounting, from names and settings: the syntax shared by flags, panels,
// figures and rows of published tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/energy/accounting.h"

namespace attnscope {

/// Specifies a network and how it is counted.
struct EnergyRequest {
  std::string architecture;       ///< a named architecture; ignored if `spec` is given
  std::optional<ModelSpec> spec;  ///< spec of a loaded model
  /// Dimensions from the model's file beyond the spec, if known.
  std::optional<WeightExtents> weights;
  std::string label;  ///< label of the loaded model
  /// Empty name: the network's own mechanism, with these parameters in place of its own.
  MechanismChoice mechanism{.name = "", .parameters = {}};
  CostConvention convention = CostConvention::complete;
  std::string constants = "fp32";  ///< name of a table or path of a JSON file
  std::int64_t tokens = 0;         ///< 0: the network's own number
  ParameterValues settings;        ///< values of energy_settings; the network's own by default
};

/// The request for a loaded model with its own mechanism.
[[nodiscard]] EnergyRequest energy_request_of(const Model& model);

/// A resolved request, before counting.
struct EnergySubject {
  std::string label;  ///< "DeiT-S, hash (bits=16)"
  Network architecture;
  AccountingOptions options;
  EnergyConstants constants;
};

/// Settings of the network that a request may contain, besides the mechanism's parameters.
[[nodiscard]] std::span<const ParameterDescription> energy_settings();

/// Sets a value as in "classes=10" or "bits=8": one of energy_settings, or a parameter of the
/// mechanism that is counted, which must be known. Throws Error(usage): unknown setting (listing
/// the known ones), invalid value.
void set(EnergyRequest& request, std::string_view name, std::string_view text);

/// Resolves a request. Throws Error(usage): unknown architecture, mechanism, convention or setting
/// (listing the known ones), a value out of range, heads that do not divide the width.
[[nodiscard]] EnergySubject resolve(const EnergyRequest& request);

/// Parses "deit-base mechanism=adder arithmetic=adder classes=10": an architecture, then settings,
/// which include mechanism, convention, constants and tokens. Throws Error(usage).
[[nodiscard]] EnergyRequest parse_energy_request(std::string_view text);

/// The request as a command line: "attnscope energy deit-base --mechanism adder --set classes=10".
[[nodiscard]] std::string command_line(const EnergyRequest& request);

/// Totals of a count, with energies.
struct EnergyTotals {
  double multiplications = 0, additions = 0;
  double energy_pj = 0;   ///< energy of the operations, without memory traffic
  double traffic_pj = 0;  ///< energy of the memory traffic
};
[[nodiscard]] EnergyTotals totals_of(const OperationCount& count, const EnergyConstants& constants);

}  // namespace attnscope
