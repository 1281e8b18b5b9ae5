// Typed descriptions and values of settings of mechanisms, costs, figures and panels, as given by
// files, flags (--set identity=true), dialogs and sliders.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attnscope {

/// Indices from `first` to `last`, both inclusive.
struct IndexRange {
  std::int64_t first = 0, last = 0;
  bool operator==(const IndexRange&) const = default;
};
using IndexRanges = std::vector<IndexRange>;

/// Value of a setting. A text may also be a special word of another kind ("auto"), a choice, or a
/// file.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string, IndexRanges,
                                    std::vector<double>, std::vector<std::string>>;
using ParameterValues = std::map<std::string, ParameterValue, std::less<>>;

enum class ParameterKind {
  flag,     ///< true or false (also yes, no, on, off, 1, 0)
  whole,    ///< a whole number
  number,   ///< a number; integers are accepted
  choice,   ///< one of `choices`
  text,     ///< any text
  file,     ///< the path of a file or folder
  indices,  ///< indices of layers, heads or channels, from 0: "0,2-3"
  numbers,  ///< a list of numbers: "0.5,0.9"
  names     ///< a list of `choices`, or of any names if there are none: "learned,klsh"
};

/// Range of a number, both ends inclusive.
struct Bounds {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
};

/// Description of a setting, created by the functions of namespace `setting`.
struct ParameterDescription {
  std::string name;  ///< name as in flags: "bits"
  ParameterKind kind = ParameterKind::text;
  ParameterValue default_value;
  Bounds bounds = {};                     ///< range of a whole, a number, or each of the numbers
  std::vector<std::string> choices = {};  ///< values of a choice or of names
  std::vector<std::string> words = {};    ///< special values besides those of the kind: "auto"
  std::string unit = {};                  ///< "mm", "tokens"; empty if dimensionless
  std::string explanation = {};           ///< one sentence, with symbol and equation

  /// The setting with these additional special words.
  [[nodiscard]] ParameterDescription or_word(std::vector<std::string> more) &&;
  /// The setting with one of its words as the default.
  [[nodiscard]] ParameterDescription by_default(std::string word) &&;
  /// The setting with the unit `of`.
  [[nodiscard]] ParameterDescription in(std::string of) &&;
};

/// Functions that create descriptions:
///
///     setting::whole("bits", 16, {1, 64}, "b, bits of a code").or_word({"auto"})
///     setting::choice("codes", names_of(hash_kind_names), "learned", "how codes are made")
namespace setting {

[[nodiscard]] ParameterDescription flag(std::string name, bool otherwise, std::string explanation);
[[nodiscard]] ParameterDescription whole(std::string name, std::int64_t otherwise, Bounds bounds,
                                         std::string explanation);
[[nodiscard]] ParameterDescription number(std::string name, double otherwise, Bounds bounds,
                                          std::string explanation);
[[nodiscard]] ParameterDescription choice(std::string name, std::vector<std::string> choices,
                                          std::string_view otherwise, std::string explanation);
[[nodiscard]] ParameterDescription text(std::string name, std::string otherwise,
                                        std::string explanation);
[[nodiscard]] ParameterDescription file(std::string name, std::string explanation);
/// `otherwise` is the default as text: "0,2-3".
[[nodiscard]] ParameterDescription indices(std::string name, std::string_view otherwise,
                                           std::string explanation);
[[nodiscard]] ParameterDescription numbers(std::string name, std::vector<double> otherwise,
                                           Bounds bounds, std::string explanation);
[[nodiscard]] ParameterDescription names(std::string name, std::vector<std::string> choices,
                                         std::vector<std::string> otherwise,
                                         std::string explanation);

}  // namespace setting

/// The value as text, readable by parse_parameter: "true", "16", "0.9", "auto", "0,2-3", "0.5,0.9".
[[nodiscard]] std::string to_string(const ParameterValue& value);

/// Description of the allowed values: "a whole number from 1 to 64, or auto".
[[nodiscard]] std::string range_of(const ParameterDescription& description);

/// Parses `text` as the description's kind. Throws Error(usage) with the range.
[[nodiscard]] ParameterValue parse_parameter(const ParameterDescription& description,
                                             std::string_view text);

/// `value` if it has the description's kind and is in range. Integers are converted to numbers, and
/// texts of indices to indices. Throws Error(usage) with the range otherwise.
[[nodiscard]] ParameterValue checked_parameter(const ParameterDescription& description,
                                               const ParameterValue& value);

/// The description of `name`; null if missing.
[[nodiscard]] const ParameterDescription* find_description(
    std::span<const ParameterDescription> descriptions, std::string_view name);

/// The description of `name`. Throws Error(usage) "unknown parameter of `owner` …" listing the
/// known ones.
[[nodiscard]] const ParameterDescription& description_of(
    std::string_view owner, std::span<const ParameterDescription> descriptions,
    std::string_view name);

/// Values of all described parameters: the checked values of `given`, else defaults. Throws
/// Error(usage) naming `owner` and the parameter, with its range or the known names.
[[nodiscard]] ParameterValues complete_values(std::string_view owner,
                                              std::span<const ParameterDescription> descriptions,
                                              const ParameterValues& given);

/// A mechanism with its parameters, as given by a flag, a session or a file.
struct MechanismChoice {
  std::string name = "softmax";
  ParameterValues parameters;

  bool operator==(const MechanismChoice&) const = default;
};

/// The choice as text: "adder (identity=true)".
[[nodiscard]] std::string to_string(const MechanismChoice& choice);

}  // namespace attnscope
