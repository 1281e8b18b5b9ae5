// A network and how to count it, from names and settings: what flags, panels, figures and the rows
// of published tables say in the same words.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/energy/accounting.h"

namespace attnscope {

/// What is to be counted. Settings are those of `energy_settings` and the mechanism's parameters.
struct EnergyRequest {
  std::string architecture;              ///< a named one; ignored where `spec` is given
  std::optional<ModelSpec> spec;         ///< a loaded model's
  std::optional<WeightExtents> weights;  ///< what its file says beyond the spec, if known
  std::string label;                     ///< of the loaded model
  std::string mechanism;                 ///< empty: the network's own
  std::string convention = "complete";
  std::string constants = "fp32";  ///< a table's name or the path of one
  std::int64_t tokens = 0;         ///< 0: the network's own
  std::map<std::string, std::string> settings;
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

/// One thing a request may set beside the mechanism's parameters.
struct EnergySetting {
  std::string_view name;
  std::string_view explanation;
};
[[nodiscard]] std::span<const EnergySetting> energy_settings();

/// Throws Error(usage): an unknown architecture, mechanism, convention or setting (listing the
/// known), a value out of range, heads that do not divide the width.
[[nodiscard]] EnergySubject understand(const EnergyRequest& request);

/// "deit-base mechanism=adder arithmetic=adder classes=10": an architecture, then settings; also
/// mechanism, convention, constants and tokens.
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
