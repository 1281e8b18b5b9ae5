// Parameters of mechanisms, as given by files, flags (--set identity=true) and sliders.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attnscope {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;
using ParameterValues = std::map<std::string, ParameterValue, std::less<>>;

/// One parameter of a mechanism: its default fixes its type.
struct ParameterDescription {
  std::string name;
  ParameterValue default_value;
  double minimum = 0;                     ///< for numbers
  double maximum = 0;                     ///< for numbers; no bounds if maximum <= minimum
  std::vector<std::string> choices = {};  ///< for strings; any if empty
  std::string explanation = {};           ///< one sentence, with its symbol and unit
};

/// Which mechanism, with which parameters: what a flag, a session or a file says.
struct MechanismChoice {
  std::string name = "softmax";
  ParameterValues parameters;

  bool operator==(const MechanismChoice&) const = default;
};

/// "adder (identity=true)"
[[nodiscard]] std::string to_string(const MechanismChoice& choice);
[[nodiscard]] std::string to_string(const ParameterValue& value);

/// Reads `text` as the type of the description's default. Throws Error(usage) with the range.
[[nodiscard]] ParameterValue parse_parameter(const ParameterDescription& description,
                                             std::string_view text);

/// `value` if it is of the default's type (a whole number serves as a number) and in range; throws
/// Error(usage) with the range otherwise.
[[nodiscard]] ParameterValue checked_parameter(const ParameterDescription& description,
                                               const ParameterValue& value);

/// Every described parameter: those of `given`, checked, and defaults. Throws Error(usage) naming
/// `owner` and the parameter, with its range or the known names.
[[nodiscard]] ParameterValues complete_values(std::string_view owner,
                                              std::span<const ParameterDescription> descriptions,
                                              const ParameterValues& given);

}  // namespace attnscope
